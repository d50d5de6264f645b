#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_DYNAMIC_LIBRARY_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_DYNAMIC_LIBRARY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord::cuda {

// A vendor's library opened at its first use, so that the backend starts
// without it. It is never closed: its own threads and exit handlers would
// outlive the code.
//
// Threading: immutable. Ownership: a plain handle.
class DynamicLibrary {
 public:
  // The first of `names` that opens, each tried as the loader finds it, then
  // beside this backend's own library, then in the toolkit's usual folder.
  // kUnavailable with the loader's last word when none does.
  static absl::StatusOr<DynamicLibrary> Open(
      absl::Span<const char* const> names);

  // kUnavailable where the library lacks the function: it is too old.
  template <typename Function>
  absl::Status Find(const char* name, Function*& function) const {
    absl::StatusOr<void*> address = Address(name);
    if (!address.ok()) return address.status();
    function = reinterpret_cast<Function*>(*address);
    return absl::OkStatus();
  }

  // The folder that holds this backend's own code; empty if it is not known.
  static std::string OwnFolder();

 private:
  DynamicLibrary(void* handle, std::string name)
      : handle_(handle), name_(std::move(name)) {}

  absl::StatusOr<void*> Address(const char* name) const;

  void* handle_;
  std::string name_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_DYNAMIC_LIBRARY_H_
