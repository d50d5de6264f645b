#include "tools/tensordctl/run_inputs.h"

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/json_tensor.h"
#include "tools/tensordctl/npy.h"
#include "tools/tensordctl/onnx_tensor.h"
#include "tools/tensordctl/random_tensor.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

constexpr char kRandom[] = "random";

std::string InputList(const v1::GraphInfo& graph) {
  return absl::StrJoin(
      graph.inputs(), ", ", [](std::string* out, const v1::ValueInfo& input) {
        absl::StrAppend(out, input.name(), " ", TypeText(input));
      });
}

// Splits at the '=' after an input's name. Names may have '=' too, so the
// graph's inputs decide where the name ends.
bool SplitInput(const std::string& text, const v1::GraphInfo& graph,
                std::string& name, std::string& source) {
  for (const v1::ValueInfo& input : graph.inputs()) {
    absl::string_view rest = text;
    if (absl::ConsumePrefix(&rest, input.name()) &&
        absl::ConsumePrefix(&rest, "=") && !rest.empty()) {
      name = input.name();
      source = std::string(rest);
      return true;
    }
  }
  return false;
}

// A tensor on a device, by its handle. False for other sources.
bool TakeHandle(absl::string_view source, v1::ExecuteInput& input) {
  const bool is_donated = absl::ConsumePrefix(&source, "donate:");
  if (!is_donated && !absl::ConsumePrefix(&source, "tensor:")) return false;
  input.set_tensor_id(std::string(source));
  input.set_donate(is_donated);
  return true;
}

absl::StatusOr<v1::Tensor> MakeTensorFrom(const std::string& source,
                                          const v1::ValueInfo& input,
                                          const InputSources& sources,
                                          uint64_t seed) {
  absl::string_view rest = source;
  if (!absl::ConsumePrefix(&rest, kRandom) ||
      (!rest.empty() && !absl::StartsWith(rest, ":"))) {
    return ReadTensorFile(source, input.dtype());
  }
  const auto dims = rest.empty() ? ResolveDims(input, sources.symbols)
                                 : ParseDims(rest.substr(1));
  if (!dims.ok()) return dims.status();
  auto tensor = RandomTensor(input.dtype(), *dims, seed);
  if (!tensor.ok()) {
    return LocalError(absl::StrCat("input ", input.name()), tensor.status());
  }
  return tensor;
}

}  // namespace

absl::StatusOr<v1::Tensor> ReadTensorFile(const std::string& path,
                                          v1::DType dtype) {
  const bool is_npy = absl::EndsWith(path, ".npy");
  const bool is_proto = absl::EndsWith(path, ".pb");
  const bool is_json = absl::EndsWith(path, ".json");
  if (!is_npy && !is_proto && !is_json) {
    return LocalError(absl::StrCat(
        path, ": not a .npy, .pb or .json file, and not ", kRandom));
  }
  const auto bytes = ReadFile(path);
  if (!bytes.ok()) return LocalError(bytes.status().message());
  auto tensor = is_npy     ? ReadNpy(*bytes)
                : is_proto ? ReadOnnxTensor(*bytes)
                           : ReadJsonTensor(*bytes, dtype);
  if (!tensor.ok()) return LocalError(path, tensor.status());
  return tensor;
}

absl::StatusOr<std::vector<v1::ExecuteInput>> MakeInputs(
    const InputSources& sources, const v1::GraphInfo& graph) {
  std::map<std::string, std::string> source_of;
  bool fill_random = false;
  for (const std::string& text : sources.inputs) {
    std::string name, source;
    if (text == kRandom) {
      fill_random = true;
    } else if (!SplitInput(text, graph, name, source)) {
      return LocalError(absl::StrCat("--input ", text,
                                     ": not NAME=SOURCE for an input of the "
                                     "graph, which takes ",
                                     InputList(graph)));
    } else if (!source_of.emplace(name, source).second) {
      return LocalError(
          absl::StrCat("--input ", text, ": ", name, " is given twice"));
    }
  }
  std::vector<v1::ExecuteInput> inputs;
  for (const v1::ValueInfo& info : graph.inputs()) {
    const auto found = source_of.find(info.name());
    if (found == source_of.end() && !fill_random) {
      return LocalError(absl::StrCat(
          "input ", info.name(), " ", TypeText(info), " is not given: --input ",
          info.name(), "=FILE, or --input ", info.name(), "=random"));
    }
    const std::string source =
        found == source_of.end() ? kRandom : found->second;
    // Each input has a seed of its own, so that two of one shape differ.
    const uint64_t seed = sources.seed + inputs.size();
    v1::ExecuteInput& input = inputs.emplace_back();
    input.set_name(info.name());
    if (TakeHandle(source, input)) continue;
    auto tensor = MakeTensorFrom(source, info, sources, seed);
    if (!tensor.ok()) return tensor.status();
    *input.mutable_tensor() = *std::move(tensor);
  }
  return inputs;
}

}  // namespace tensord::ctl
