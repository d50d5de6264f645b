#include "bench/models/bench_case.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_tensor.h"
#include "onnx/onnx.pb.h"

namespace tensord::bench {
namespace {

absl::StatusOr<NamedTensor> ReadTensor(const std::string& path) {
  TENSORD_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes) || proto.name().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " is no TensorProto with a name"));
  }
  std::string name = proto.name();
  absl::StatusOr<HostTensor> tensor = ReadOnnxTensor(proto);
  if (!tensor.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", tensor.status().message()));
  }
  return NamedTensor{std::move(name), *std::move(tensor)};
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return absl::NotFoundError(absl::StrCat("no file ", path));
  std::string bytes(static_cast<size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return bytes;
}

absl::StatusOr<std::vector<DataSet>> ReadDataSets(
    absl::Span<const std::string> folders) {
  std::vector<DataSet> sets;
  for (const std::string& folder : folders) {
    DataSet& set = sets.emplace_back();
    for (int i = 0;; ++i) {
      absl::StatusOr<NamedTensor> input =
          ReadTensor(absl::StrCat(folder, "/input_", i, ".pb"));
      if (absl::IsNotFound(input.status()) && i > 0) break;
      if (!input.ok()) return input.status();
      set.push_back(*std::move(input));
    }
  }
  return sets;
}

absl::StatusOr<HostTensor> FindInput(const DataSet& set,
                                     const std::string& name) {
  for (const NamedTensor& input : set) {
    if (input.name == name) return input.tensor;
  }
  return absl::NotFoundError(
      absl::StrCat("the data set has no input '", name, "'"));
}

}  // namespace tensord::bench
