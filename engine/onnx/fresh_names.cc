#include "engine/onnx/fresh_names.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

constexpr size_t kMaxSuffixBytes = 64;
constexpr size_t kMaxPathBytes = 160;

bool ContinuesUtf8(char byte) {
  return (static_cast<uint8_t>(byte) & 0xc0) == 0x80;
}

// The first bytes, without half a character at the end.
absl::string_view Head(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && ContinuesUtf8(text[bytes])) --bytes;
  return text.substr(0, bytes);
}

absl::string_view Tail(absl::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t begin = text.size() - bytes;
  while (begin < text.size() && ContinuesUtf8(text[begin])) ++begin;
  return text.substr(begin);
}

// The numbers k of all names that begin with "fn<k>.".
class TakenPrefixes {
 public:
  explicit TakenPrefixes(const onnx::GraphProto& graph) {
    std::vector<const onnx::GraphProto*> open = {&graph};
    while (!open.empty()) {
      const onnx::GraphProto& next = *open.back();
      open.pop_back();
      for (const auto& input : next.input()) Add(input.name());
      for (const auto& initializer : next.initializer()) {
        Add(initializer.name());
      }
      for (const onnx::NodeProto& node : next.node()) {
        // Not defined anywhere, an input's name would else be by accident.
        for (const std::string& input : node.input()) Add(input);
        for (const std::string& output : node.output()) Add(output);
        for (const onnx::AttributeProto& attribute : node.attribute()) {
          if (attribute.has_g()) open.push_back(&attribute.g());
        }
      }
    }
  }

  bool Has(int64_t number) const { return taken_.contains(number); }

 private:
  void Add(absl::string_view name) {
    if (!absl::ConsumePrefix(&name, "fn")) return;
    const size_t dot = name.find('.');
    int64_t number = 0;
    if (dot != absl::string_view::npos &&
        absl::SimpleAtoi(name.substr(0, dot), &number)) {
      taken_.insert(number);
    }
  }

  absl::flat_hash_set<int64_t> taken_;
};

}  // namespace

std::string FreshNames::Make(absl::string_view from) {
  if (prefix_.empty()) {
    const TakenPrefixes taken(graph_);
    int64_t number = 0;
    while (taken.Has(number)) ++number;
    prefix_ = absl::StrCat("fn", number, ".");
  }
  return absl::StrCat(prefix_, next_++, "/", Head(from, kMaxSuffixBytes));
}

std::string JoinPath(absl::string_view path, absl::string_view name) {
  const bool is_cut = path.size() + 1 + name.size() > kMaxPathBytes;
  // Either may be megabytes.
  path = Tail(path, kMaxPathBytes);
  name = Tail(name, kMaxPathBytes);
  const std::string joined =
      path.empty() ? std::string(name) : absl::StrCat(path, "/", name);
  if (!is_cut) return joined;
  return absl::StrCat("...",
                      Tail({joined.data(), joined.size()}, kMaxPathBytes));
}

}  // namespace tensord
