#include "tests/fuzz/function_seed.h"

#include <cstdlib>

#include "google/protobuf/text_format.h"
#include "onnx/onnx.pb.h"

namespace tensord {

std::string OnnxWithFunctions() {
  constexpr char kText[] = R"pb(
    ir_version: 10
    opset_import { version: 17 }
    opset_import { domain: "my" version: 1 }
    graph {
      name: "g"
      input {
        name: "x"
        type {
          tensor_type {
            elem_type: 1
            shape {
              dim { dim_param: "n" }
              dim { dim_value: 3 }
            }
          }
        }
      }
      input {
        name: "c"
        type {
          tensor_type {
            elem_type: 9
            shape {}
          }
        }
      }
      node {
        op_type: "F"
        domain: "my"
        input: [ "x", "c" ]
        output: [ "u", "" ]
        attribute { name: "slope" type: FLOAT f: 0.5 }
      }
      node { op_type: "G" domain: "my" overload: "o" input: "u" output: "y" }
      output { name: "y" }
    }
    functions {
      name: "F"
      domain: "my"
      opset_import { version: 17 }
      opset_import { domain: "my" version: 1 }
      input: [ "a", "c", "absent" ]
      output: [ "r", "a" ]
      attribute: "slope"
      attribute_proto { name: "axis" type: INT i: 1 }
      node {
        op_type: "LeakyRelu"
        input: "a"
        output: "t"
        attribute { name: "alpha" type: FLOAT ref_attr_name: "slope" }
      }
      node {
        op_type: "If"
        input: "c"
        output: "r"
        attribute {
          name: "then_branch"
          type: GRAPH
          g {
            name: "then"
            node {
              op_type: "Softmax"
              input: "t"
              output: "s"
              attribute { name: "axis" type: INT ref_attr_name: "axis" }
            }
            output { name: "s" }
          }
        }
        attribute {
          name: "else_branch"
          type: GRAPH
          g {
            name: "else"
            node {
              op_type: "G"
              domain: "my"
              overload: "o"
              input: "t"
              output: "s"
            }
            output { name: "s" }
          }
        }
      }
    }
    functions {
      name: "G"
      domain: "my"
      overload: "o"
      opset_import { version: 12 }
      input: "a"
      output: "b"
      node {
        op_type: "Constant"
        output: "w"
        attribute {
          name: "value"
          type: TENSOR
          t {
            data_type: 1
            dims: 3
            float_data: [ 1, 2, 3 ]
          }
        }
      }
      node {
        op_type: "Mul"
        input: [ "a", "w" ]
        output: "b"
      }
    }
  )pb";
  onnx::ModelProto model;
  if (!google::protobuf::TextFormat::ParseFromString(kText, &model)) {
    std::abort();
  }
  return model.SerializeAsString();
}

}  // namespace tensord
