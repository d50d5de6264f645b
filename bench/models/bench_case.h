#ifndef TENSORD_BENCH_MODELS_BENCH_CASE_H_
#define TENSORD_BENCH_MODELS_BENCH_CASE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/graph/host_tensor.h"

namespace tensord::bench {

// One input of a data set, under its name in the model.
struct NamedTensor {
  std::string name;
  HostTensor tensor;
};

// Inputs for one run. In the order of their files.
using DataSet = std::vector<NamedTensor>;

// The bytes of a file. kNotFound with the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// The files input_0.pb, input_1.pb, ... of each folder: serialized TensorProtos
// that carry the names of the model's inputs, as the data sets of ONNX's
// backend tests do.
//
// Errors, with the path: kNotFound for a folder without inputs;
//   kInvalidArgument for a file that is no named tensor.
absl::StatusOr<std::vector<DataSet>> ReadDataSets(
    absl::Span<const std::string> folders);

// The tensor of that name; kNotFound when the set has none.
absl::StatusOr<HostTensor> FindInput(const DataSet& set,
                                     const std::string& name);

}  // namespace tensord::bench

#endif  // TENSORD_BENCH_MODELS_BENCH_CASE_H_
