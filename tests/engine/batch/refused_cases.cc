// Graphs in which one request's data reaches another's answer, or may.

#include "tests/engine/batch/row_cases.h"

namespace tensord {
namespace {

using Ints = std::vector<int64_t>;

RowCase Single(const char* op, std::vector<int64_t> extents,
               std::vector<std::pair<std::string, Attribute>> attributes = {}) {
  return RowCase(op)
      .Floats("x", std::move(extents))
      .Node(op, {"x"}, {"y"}, std::move(attributes))
      .Out();
}

void AddAlongBatch(std::vector<RefusedCase>& cases) {
  const std::string along = "dimension 0, which is the batch";
  for (const char* op :
       {"Softmax", "LogSoftmax", "Hardmax", "ArgMax", "LpNormalization"}) {
    cases.push_back({Single(op, {3}, {{"axis", int64_t{0}}}), along});
    cases.push_back({Single(op, {3}, {{"axis", int64_t{-2}}}), along});
  }
  cases.push_back({Single("Transpose", {3}, {{"perm", Ints{1, 0}}}), along});
  cases.push_back({Single("Transpose", {3}), along});
  cases.push_back({Single("MeanVarianceNormalization", {3, 4, 4}), along});
  cases.push_back(
      {Single("Softmax", {3}, {{"axis", int64_t{0}}}).Opset(11), along});
  const auto reduce = [&](Ints axes) {
    return RowCase("ReduceMean")
        .Opset(18)
        .Floats("x", {3})
        .Ints("axes", axes)
        .Node("ReduceMean", {"x", "axes"})
        .Out();
  };
  cases.push_back({reduce({0}), along});
  cases.push_back({reduce({1, -2}), along});
  cases.push_back({reduce({}), "all dimensions"});
  cases.push_back({Single("ReduceSum", {3}), "all dimensions"});
  const auto over_axis_0 = [](const char* op) {
    return RowCase(op)
        .Floats("x", {3})
        .Ints("axis", {0})
        .Node(op, {"x", "axis"});
  };
  cases.push_back({over_axis_0("CumSum").Out(), along});
  cases.push_back(
      {RowCase("TopK")
           .Floats("x", {3})
           .Ints("k", {1})
           .Node("TopK", {"x", "k"}, {"y", "i"}, {{"axis", int64_t{0}}})
           .Out(),
       along});
  cases.push_back(
      {RowCase("Concat")
           .Floats("x", {3})
           .Floats("z", {3})
           .Node("Concat", {"x", "z"}, {"y"}, {{"axis", int64_t{0}}})
           .Out(),
       along});
  cases.push_back({RowCase("Pad")
                       .Floats("x", {3})
                       .Ints("pads", {1, 0, 0, 0})
                       .Node("Pad", {"x", "pads"})
                       .Out(),
                   "pads dimension 0"});
  cases.push_back({RowCase("Gather")
                       .Floats("x", {3})
                       .Ints("i", {0})
                       .Node("Gather", {"x", "i"})
                       .Out(),
                   along});
  cases.push_back({RowCase("Slice")
                       .Floats("x", {3})
                       .Ints("starts", {0})
                       .Ints("ends", {1})
                       .Node("Slice", {"x", "starts", "ends"})
                       .Out(),
                   "are not dimension 0 of its output"});
  cases.push_back({RowCase("Slice backwards")
                       .Floats("x", {3})
                       .Ints("starts", {-1})
                       .Ints("ends", {-(1 << 20)})
                       .Ints("axes", {0})
                       .Ints("steps", {-1})
                       .Node("Slice", {"x", "starts", "ends", "axes", "steps"})
                       .Out(),
                   "in another order"});
  cases.push_back({RowCase("Resize")
                       .Floats("x", {2, 3, 4})
                       .Constant("s", Tensor({4}, {1.05f, 1, 2, 2}))
                       .Node("Resize", {"x", "", "s"})
                       .Out(),
                   "resizes dimension 0"});
}

void AddSums(std::vector<RefusedCase>& cases) {
  cases.push_back(
      {RowCase("x' x")
           .Floats("x", {3})
           .Floats("z", {3})
           .Node("Gemm", {"x", "z"}, {"y"}, {{"transA", int64_t{1}}})
           .Out(),
       "transA sums over dimension 0"});
  cases.push_back(
      {RowCase("rows summed over")
           .Floats("x", {3})
           .Node("Gemm", {"x", "x"}, {"y"}, {{"transB", int64_t{1}}})
           .Out(),
       "input 1 is not the same for every row"});
  cases.push_back(
      {RowCase("every row with every other")
           .Floats("x", {3})
           .Node("Einsum", {"x", "x"}, {"y"}, {{"equation", "bk,ck->bc"}})
           .Out(),
       "input 1"});
  cases.push_back({RowCase("a sum of all rows")
                       .Floats("x", {3})
                       .Node("Einsum", {"x"}, {"y"}, {{"equation", "bk->k"}})
                       .Out(),
                   "input 0"});
  // As many rows as one batch has by chance.
  cases.push_back({RowCase("a constant with rows of its own")
                       .Floats("x", {3})
                       .Constant("c", Pattern(DType::kFloat32, {2, 3}))
                       .Node("Add", {"x", "c"})
                       .Out(),
                   ""});
  // [batch, 3] against [batch] aligns the batch with the columns.
  cases.push_back({RowCase("ranks that differ")
                       .Floats("x", {1})
                       .In("z", {DType::kFloat32, {}})
                       .Node("Add", {"x", "z"})
                       .Out(),
                   "rank 1"});
}

void AddOthers(std::vector<RefusedCase>& cases) {
  cases.push_back({RowCase("the size of the batch in the answer")
                       .Floats("x", {3})
                       .Node("Shape", {"x"}, {"s"})
                       .Node("Cast", {"s"}, {"f"}, {{"to", int64_t{1}}})
                       .Ints("first", {0})
                       .Node("Gather", {"f", "first"}, {"n"})
                       .Node("Div", {"x", "n"})
                       .Out(),
                   "input 1 is not the same for every row"});
  cases.push_back({RowCase("a shape as an output")
                       .Floats("x", {3})
                       .Node("Shape", {"x"}, {"y"})
                       .Out(),
                   "output 'y' follows from the batch's size"});
  cases.push_back({RowCase("rows that become columns")
                       .Floats("x", {4})
                       .Ints("to", {2, -1})
                       .Node("Reshape", {"x", "to"})
                       .Out(),
                   "not as many rows for each request"});
  cases.push_back({RowCase("one row of all")
                       .Floats("x", {4})
                       .Node("Flatten", {"x"}, {"y"}, {{"axis", int64_t{0}}})
                       .Out(),
                   "not as many rows for each request"});
  cases.push_back({RowCase("a number of rows that the client fixed")
                       .Floats("x", {4})
                       .Ints("to", {2, 4})
                       .Node("Reshape", {"x", "to"})
                       .Out(),
                   ""});
  cases.push_back({Single("RandomNormalLike", {3}), "random numbers"});
  cases.push_back({Single("NonZero", {3}), "follow from the data"});
  cases.push_back({RowCase("a scale for all")
                       .Floats("x", {3})
                       .Node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"})
                       .Out(),
                   "no rule says"});
  cases.push_back(
      {RowCase("places in the whole batch")
           .Floats("x", {2, 4, 4})
           .Node("MaxPool", {"x"}, {"y", "i"}, {{"kernel_shape", Ints{2, 2}}})
           .Out()
           .Out("i"),
       "count through the whole batch"});
  cases.push_back(
      {RowCase("time in front")
           .Floats("x", {2, 3})
           .Constant("w", Pattern(DType::kFloat32, {1, 2, 3}))
           .Constant("r", Pattern(DType::kFloat32, {1, 2, 2}))
           .Node("RNN", {"x", "w", "r"}, {"y"}, {{"hidden_size", int64_t{2}}})
           .Out(),
       "layout 0"});
}

}  // namespace

std::vector<RefusedCase> RefusedCases() {
  std::vector<RefusedCase> cases;
  AddAlongBatch(cases);
  AddSums(cases);
  AddOthers(cases);
  return cases;
}

}  // namespace tensord
