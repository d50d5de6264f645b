#ifndef TENSORD_TESTS_TOOLS_CONFORMANCE_CASE_MAKER_H_
#define TENSORD_TESTS_TOOLS_CONFORMANCE_CASE_MAKER_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "clients/cpp/tensors.h"
#include "onnx/onnx.pb.h"
#include "tests/tools/tensordctl/temp_folder.h"
#include "tools/tensordctl/onnx_tensor.h"

namespace tensord::conformance {

inline onnx::ValueInfoProto TensorInfo(const std::string& name,
                                       v1::DType dtype) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(dtype);
  return info;
}

// A model x -> y of one Identity node.
inline onnx::ModelProto IdentityModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::NodeProto& node = *model.mutable_graph()->add_node();
  node.set_op_type("Identity");
  node.add_input("x");
  node.add_output("y");
  *model.mutable_graph()->add_input() = TensorInfo("x", v1::DTYPE_FLOAT32);
  *model.mutable_graph()->add_output() = TensorInfo("y", v1::DTYPE_FLOAT32);
  return model;
}

// Makes the case folder/name: an identity of `values`, which should give
// `expected`.
inline void AddCase(const ctl::TempFolder& root, const std::string& id,
                    const std::vector<float>& values,
                    const std::vector<float>& expected) {
  const auto write = [&](const std::string& name,
                         const std::vector<float>& of) {
    const v1::Tensor tensor =
        MakeTensor<float>({static_cast<int64_t>(of.size())}, of);
    root.Add(absl::StrCat(id, "/test_data_set_0/", name),
             ctl::WriteOnnxTensor(tensor, ""));
  };
  root.Add(id + "/model.onnx", IdentityModel().SerializeAsString());
  write("input_0.pb", values);
  write("output_0.pb", expected);
}

}  // namespace tensord::conformance

#endif  // TENSORD_TESTS_TOOLS_CONFORMANCE_CASE_MAKER_H_
