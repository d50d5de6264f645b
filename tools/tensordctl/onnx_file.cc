#include "tools/tensordctl/onnx_file.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"

namespace tensord::ctl {
namespace {

namespace fs = std::filesystem;

// Puts external tensors of one model in. Each file is read once.
class Inliner {
 public:
  explicit Inliner(fs::path folder) : folder_(std::move(folder)) {}

  absl::Status Inline(onnx::GraphProto& graph) {
    for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
      const absl::Status status = Inline(tensor);
      if (!status.ok()) return status;
    }
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        const absl::Status status = Inline(attribute);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  int64_t inlined_count() const { return inlined_count_; }

 private:
  absl::Status Inline(onnx::AttributeProto& attribute) {
    absl::Status status;
    if (attribute.has_t()) status.Update(Inline(*attribute.mutable_t()));
    for (onnx::TensorProto& tensor : *attribute.mutable_tensors()) {
      status.Update(Inline(tensor));
    }
    if (attribute.has_g()) status.Update(Inline(*attribute.mutable_g()));
    for (onnx::GraphProto& graph : *attribute.mutable_graphs()) {
      status.Update(Inline(graph));
    }
    return status;
  }

  absl::Status Inline(onnx::TensorProto& tensor) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) {
      return absl::OkStatus();
    }
    std::string location;
    uint64_t offset = 0;
    absl::string_view length_text;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == "location") location = entry.value();
      if (entry.key() == "length") length_text = entry.value();
      if (entry.key() == "offset" &&
          !absl::SimpleAtoi(entry.value(), &offset)) {
        return Wrong(tensor, absl::StrCat("offset ", entry.value()));
      }
    }
    const auto file = Load(location);
    if (!file.ok()) return Wrong(tensor, file.status().message());
    const absl::string_view bytes = **file;
    uint64_t length = bytes.size() - std::min<uint64_t>(offset, bytes.size());
    if (!length_text.empty() && !absl::SimpleAtoi(length_text, &length)) {
      return Wrong(tensor, absl::StrCat("length ", length_text));
    }
    if (offset > bytes.size() || length > bytes.size() - offset) {
      return Wrong(tensor,
                   absl::StrCat(length, " bytes at ", offset, " of ", location,
                                ", which has ", bytes.size()));
    }
    tensor.set_raw_data(bytes.data() + offset, length);
    tensor.clear_external_data();
    tensor.clear_data_location();
    ++inlined_count_;
    return absl::OkStatus();
  }

  absl::StatusOr<const std::string*> Load(const std::string& location) {
    const auto known = files_.find(location);
    if (known != files_.end()) return known->second.get();
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    if (error) return absl::InvalidArgumentError(error.message());
    // Resolves symbolic links too: they must not lead out either.
    const fs::path file = fs::weakly_canonical(folder / location, error);
    const fs::path relative = file.lexically_relative(folder);
    if (error || relative.empty() || *relative.begin() == "..") {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", location, "\" is not below the model's folder"));
    }
    auto bytes = ReadFile(file.string());
    if (!bytes.ok()) return bytes.status();
    auto& kept = files_[location];
    kept = std::make_unique<std::string>(*std::move(bytes));
    return kept.get();
  }

  static absl::Status Wrong(const onnx::TensorProto& tensor,
                            absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "external data of tensor \"", tensor.name(), "\": ", what));
  }

  fs::path folder_;
  int64_t inlined_count_ = 0;
  absl::flat_hash_map<std::string, std::unique_ptr<std::string>> files_;
};

}  // namespace

absl::StatusOr<std::string> ReadOnnxFile(const std::string& path) {
  auto bytes = ReadFile(path);
  if (!bytes.ok()) return LocalError(bytes.status().message());
  // Every external tensor spells this key. Without it, the bytes need no
  // parsing and go as they are.
  if (!absl::StrContains(*bytes, "location")) return bytes;
  onnx::ModelProto model;
  if (!model.ParseFromString(*bytes)) return bytes;
  Inliner inliner(fs::path(path).parent_path().empty()
                      ? fs::path(".")
                      : fs::path(path).parent_path());
  const absl::Status status = inliner.Inline(*model.mutable_graph());
  if (!status.ok()) return LocalError(path, status);
  // A graph's id is a hash of its bytes: leave them alone if nothing was put
  // in.
  if (inliner.inlined_count() == 0) return bytes;
  std::string inlined;
  if (!model.SerializeToString(&inlined)) {
    return LocalError(absl::StrCat(path,
                                   ": with its external data it is above "
                                   "the 2 GiB of one protobuf message"));
  }
  return inlined;
}

}  // namespace tensord::ctl
