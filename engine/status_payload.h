#ifndef TENSORD_ENGINE_STATUS_PAYLOAD_H_
#define TENSORD_ENGINE_STATUS_PAYLOAD_H_

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace tensord {

// Typed details of an absl::Status inside the process. The engine knows no
// protobuf, so a detail is a plain list of numbers and texts, written and read
// in the same order; the server turns it into the API's own message.
//
// Threading: one thread. Ownership: the reader borrows the writer's text.

class PayloadWriter {
 public:
  void Add(int64_t number);
  void Add(absl::string_view text);

  absl::Cord Take() { return absl::Cord(std::move(bytes_)); }

 private:
  std::string bytes_;
};

// Reading past the end or a text that is longer than what is left gives 0 and
// "" and makes ok() false: nothing here is trusted, nothing aborts.
class PayloadReader {
 public:
  explicit PayloadReader(absl::string_view bytes) : bytes_(bytes) {}

  int64_t Number();
  std::string Text();
  bool ok() const { return ok_; }

 private:
  absl::string_view bytes_;
  bool ok_ = true;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_STATUS_PAYLOAD_H_
