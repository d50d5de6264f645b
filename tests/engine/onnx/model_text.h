#ifndef TENSORD_TESTS_ENGINE_ONNX_MODEL_TEXT_H_
#define TENSORD_TESTS_ENGINE_ONNX_MODEL_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/graph/graph.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/host_tensor.h"
#include "engine/graph/limits.h"
#include "onnx/onnx.pb.h"
#include "tests/support/tensor.h"

namespace tensord {

// ONNX models of a test, as protobuf text. Threading: one thread.

// A model of IR version 10 that imports operator set 17, and what the text says
// besides. A mistake in the text fails the test.
onnx::ModelProto ModelFromText(const std::string& text);

absl::StatusOr<GraphDef> ReadText(const std::string& text,
                                  const GraphLimits& limits = GraphLimits());
absl::StatusOr<GraphDef> ReadModel(const onnx::ModelProto& model,
                                   const GraphLimits& limits = GraphLimits());

// The message of what ReadModel() and BuildGraph() refuse; "" for a graph.
std::string RefusalOf(const onnx::ModelProto& model,
                      const GraphLimits& limits = GraphLimits());
std::string RefusalOf(const std::string& text,
                      const GraphLimits& limits = GraphLimits());

// What the model computes: the first output of one without inputs, whose
// constants inference folds.
HostTensor ValueOf(const onnx::ModelProto& model);
HostTensor ValueOf(const std::string& text);

// The outputs of the model on the CPU, for these inputs.
absl::StatusOr<std::vector<TestTensor>> RunText(
    const std::string& text, const std::vector<TestTensor>& inputs);

// "Add(x, w) -> y; Relu(y) -> z": the nodes of a definition.
std::string NodesOf(const GraphDef& def);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_ONNX_MODEL_TEXT_H_
