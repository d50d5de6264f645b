#include "tests/engine/passes/random_writer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tensord {
namespace {

Shape ShapeOf(const std::vector<int64_t>& extents) {
  return *Shape::Create(extents);
}

}  // namespace

TestTensor RandomWriter::Random(const Extents& extents, double scale,
                                double shift) {
  const Value sized{"", extents};
  std::vector<double> elements(sized.count());
  for (double& element : elements) {
    element = (2 * Uniform() - 1) * scale + shift;
  }
  return TensorOf(DType::kFloat32, ShapeOf(extents), elements);
}

std::string RandomWriter::Fresh(const char* prefix) {
  return absl::StrCat(prefix, name_count_++);
}

RandomValue RandomWriter::Constant(const Extents& extents, double scale,
                                   double shift) {
  Value constant{Fresh("c"), extents};
  result_.graph.Constant(constant.name, Random(extents, scale, shift));
  return constant;
}

RandomValue RandomWriter::Scalar(double element) {
  const Extents extents = Draw(2) == 0 ? Extents{} : Extents{1};
  Value constant{Fresh("c"), extents};
  result_.graph.Constant(
      constant.name, TensorOf(DType::kFloat32, ShapeOf(extents), {element}));
  return constant;
}

std::string RandomWriter::Integers(const Extents& integers) {
  const std::string name = Fresh("i");
  result_.graph.Constant(
      name, Tensor<int64_t>({static_cast<int64_t>(integers.size())}, integers));
  return name;
}

void RandomWriter::Add(const std::string& op,
                       const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs,
                       Attributes attributes) {
  absl::StrAppend(&result_.text, op, "(", absl::StrJoin(inputs, ", "), ") -> ",
                  absl::StrJoin(outputs, ", "), "\n");
  result_.graph.Node(op, inputs, outputs, std::move(attributes));
}

RandomValue RandomWriter::Node(const std::string& op,
                               const std::vector<std::string>& inputs,
                               Extents extents, Attributes attributes) {
  Value value{Fresh("v"), std::move(extents)};
  Add(op, inputs, {value.name}, std::move(attributes));
  absl::StrAppend(&result_.text, "    [", absl::StrJoin(value.extents, ", "),
                  "]\n");
  made_.push_back(value);
  return value;
}

RandomValue RandomWriter::Unary(const std::string& op, const Value& x,
                                Attributes attributes) {
  return Node(op, {x.name}, x.extents, std::move(attributes));
}

RandomValue RandomWriter::Binary(const std::string& op, const Value& a,
                                 const Value& b, const Extents& extents,
                                 bool may_turn) {
  if (may_turn && Draw(2) == 0) return Node(op, {b.name, a.name}, extents);
  return Node(op, {a.name, b.name}, extents);
}

}  // namespace tensord
