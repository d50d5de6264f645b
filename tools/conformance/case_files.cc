#include "tools/conformance/case_files.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "onnx/onnx.pb.h"
#include "onnx/onnx_data.pb.h"
#include "tools/tensordctl/onnx_tensor.h"

namespace tensord::conformance {
namespace {

// What ExecuteInput and ExecuteOutput have in common.
struct Value {
  bool is_absent = false;
  bool is_sequence = false;
  v1::TensorSequence sequence;
  v1::Tensor tensor;
};

absl::Status NotCarried(absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("the API carries no ", what, " over its border"));
}

absl::StatusOr<Value> TensorValue(absl::string_view bytes) {
  auto tensor = ctl::ReadOnnxTensor(bytes);
  if (!tensor.ok()) return tensor.status();
  Value value;
  value.tensor = *std::move(tensor);
  return value;
}

// `dtype` is that of the graph's type: an empty sequence tells none itself.
absl::StatusOr<Value> SequenceValue(const onnx::SequenceProto& proto,
                                    int dtype) {
  if (proto.tensor_values_size() == 0 &&
      (proto.sequence_values_size() > 0 || proto.optional_values_size() > 0)) {
    return NotCarried("sequence of what is no tensor");
  }
  Value value;
  value.is_sequence = true;
  value.sequence.set_dtype(static_cast<v1::DType>(dtype));
  for (const onnx::TensorProto& element : proto.tensor_values()) {
    auto tensor = ctl::ReadOnnxTensor(element.SerializeAsString());
    if (!tensor.ok()) return tensor.status();
    *value.sequence.add_tensors() = *std::move(tensor);
  }
  return value;
}

absl::StatusOr<Value> OptionalValue(const onnx::OptionalProto& proto,
                                    int dtype) {
  if (proto.has_tensor_value()) {
    return TensorValue(proto.tensor_value().SerializeAsString());
  }
  if (proto.has_sequence_value()) {
    return SequenceValue(proto.sequence_value(), dtype);
  }
  if (proto.elem_type() != onnx::OptionalProto::UNDEFINED) {
    return NotCarried("optional value of what is no tensor or sequence");
  }
  Value value;
  value.is_absent = true;
  return value;
}

// The dtype of the tensors in a type; 0 where there are none.
int ElementDType(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return type.tensor_type().elem_type();
    case onnx::TypeProto::kSequenceType:
      return ElementDType(type.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return ElementDType(type.optional_type().elem_type());
    default:
      return 0;
  }
}

absl::StatusOr<Value> Decode(const std::string& bytes,
                             const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return TensorValue(bytes);
    case onnx::TypeProto::kSequenceType: {
      onnx::SequenceProto proto;
      if (proto.ParseFromString(bytes)) {
        return SequenceValue(proto, ElementDType(type));
      }
      return absl::InvalidArgumentError("it is no onnx.SequenceProto");
    }
    case onnx::TypeProto::kOptionalType: {
      onnx::OptionalProto proto;
      if (proto.ParseFromString(bytes)) {
        return OptionalValue(proto, ElementDType(type));
      }
      return absl::InvalidArgumentError("it is no onnx.OptionalProto");
    }
    case onnx::TypeProto::kMapType:
      return NotCarried("map");
    case onnx::TypeProto::kSparseTensorType:
      return NotCarried("sparse tensor");
    default:
      return absl::InvalidArgumentError("the graph gives it no type");
  }
}

// ExecuteInput and ExecuteOutput have these fields under the same names.
template <typename Message>
Message MessageOf(const std::string& name, Value value) {
  Message message;
  message.set_name(name);
  if (value.is_absent) {
    message.set_is_absent(true);
  } else if (value.is_sequence) {
    *message.mutable_sequence() = std::move(value.sequence);
  } else {
    *message.mutable_tensor() = std::move(value.tensor);
  }
  return message;
}

using Values = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

// Reads the files of one case.
class Reader {
 public:
  Reader(const CaseStore& store, const Case& of) : store_(store), case_(of) {}

  absl::StatusOr<CaseFiles> Read();

 private:
  // The values of input_0.pb, input_1.pb, ..., or output_0.pb, ...
  template <typename Message>
  absl::StatusOr<std::vector<Message>> ReadValues(const Values& infos,
                                                  const std::string& stem) {
    std::vector<Message> messages;
    for (int i = 0; i < infos.size(); ++i) {
      auto value = ReadValue(absl::StrCat(stem, i, ".pb"), infos[i].type());
      if (!value.ok()) return value.status();
      messages.push_back(
          MessageOf<Message>(infos[i].name(), *std::move(value)));
    }
    // A file more would be an output that nobody compares.
    const std::string beyond = absl::StrCat(stem, infos.size(), ".pb");
    if (store_.ReadFile(case_, beyond).ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(beyond, ": the graph has ", infos.size()));
    }
    return messages;
  }

  absl::StatusOr<Value> ReadValue(const std::string& path,
                                  const onnx::TypeProto& type) {
    const auto bytes = store_.ReadFile(case_, path);
    if (!bytes.ok()) {
      return absl::InvalidArgumentError(bytes.status().message());
    }
    auto value = Decode(*bytes, type);
    if (value.ok()) return value;
    return absl::Status(value.status().code(),
                        absl::StrCat(path, ": ", value.status().message()));
  }

  const CaseStore& store_;
  const Case& case_;
};

// Models of IR versions 1 to 3 list their weights as inputs too.
Values InputsToGive(const onnx::GraphProto& graph) {
  absl::flat_hash_set<std::string> initializers;
  for (const onnx::TensorProto& initializer : graph.initializer()) {
    initializers.insert(initializer.name());
  }
  for (const auto& initializer : graph.sparse_initializer()) {
    initializers.insert(initializer.values().name());
  }
  Values inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!initializers.contains(input.name())) *inputs.Add() = input;
  }
  return inputs;
}

absl::StatusOr<CaseFiles> Reader::Read() {
  CaseFiles files;
  auto model_bytes = store_.ReadFile(case_, "model.onnx");
  if (!model_bytes.ok()) {
    return absl::InvalidArgumentError(model_bytes.status().message());
  }
  files.model = *std::move(model_bytes);
  onnx::ModelProto model;
  if (!model.ParseFromString(files.model)) {
    return absl::InvalidArgumentError("model.onnx is no onnx.ModelProto");
  }
  const Values inputs = InputsToGive(model.graph());
  for (int i = 0;; ++i) {
    DataSet set{.name = absl::StrCat("test_data_set_", i)};
    // Every graph has an output, so a set without this file is none.
    if (i > 0 && !store_.ReadFile(case_, set.name + "/output_0.pb").ok()) break;
    auto given = ReadValues<v1::ExecuteInput>(inputs, set.name + "/input_");
    if (!given.ok()) return given.status();
    auto expected = ReadValues<v1::ExecuteOutput>(model.graph().output(),
                                                  set.name + "/output_");
    if (!expected.ok()) return expected.status();
    set.inputs = *std::move(given);
    set.outputs = *std::move(expected);
    files.sets.push_back(std::move(set));
  }
  return files;
}

}  // namespace

absl::StatusOr<CaseFiles> ReadCaseFiles(const CaseStore& store,
                                        const Case& of) {
  return Reader(store, of).Read();
}

}  // namespace tensord::conformance
