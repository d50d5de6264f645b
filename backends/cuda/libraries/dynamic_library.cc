#include "backends/cuda/libraries/dynamic_library.h"

#include <dlfcn.h>

#include <vector>

#include "absl/strings/str_cat.h"

namespace tensord::cuda {

std::string DynamicLibrary::OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&DynamicLibrary::OwnFolder), &info) == 0 ||
      info.dli_fname == nullptr) {
    return "";
  }
  const absl::string_view path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == absl::string_view::npos ? ""
                                          : std::string(path.substr(0, slash));
}

absl::StatusOr<DynamicLibrary> DynamicLibrary::Open(
    absl::Span<const char* const> names) {
  std::vector<std::string> prefixes = {""};
  if (std::string own = OwnFolder(); !own.empty()) {
    prefixes.push_back(absl::StrCat(own, "/"));
  }
  prefixes.push_back("/usr/local/cuda/lib64/");
  std::string last;
  for (const char* name : names) {
    for (const std::string& prefix : prefixes) {
      const std::string path = absl::StrCat(prefix, name);
      // Lazily, and for this backend alone: a process that also has another
      // version of the library keeps both apart.
      if (void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
        return DynamicLibrary(handle, path);
      }
      if (prefix.empty()) last = dlerror();
    }
  }
  return absl::UnavailableError(last);
}

absl::StatusOr<void*> DynamicLibrary::Address(const char* name) const {
  if (void* address = dlsym(handle_, name)) return address;
  return absl::UnavailableError(absl::StrCat(name_, " has no ", name));
}

}  // namespace tensord::cuda
