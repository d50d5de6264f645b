#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/backends/cuda/special_values.h"

// Nodes of unary.cu, binary.cu, comparison.cu, classification.cu, clip.cu,
// pow.cu, variadic.cu and where.cu.
namespace tensord::cuda {
namespace {

using ::tensord::DTypeName;

std::string Name(OpKind op, DType dtype) {
  return absl::StrCat(absl::AsciiStrToLower(OpKindName(op)), "_",
                      DTypeName(dtype));
}

// More elements than a block's runs, and not a multiple of any run.
const Shape kOdd = {5, 67};

void AddUnary(OpKind op, absl::Span<const DType> dtypes, OpFamily family,
              std::vector<NamedNode>& nodes, OpParams params = NoParams{},
              absl::string_view suffix = "") {
  for (const DType dtype : dtypes) {
    nodes.push_back({absl::StrCat(Name(op, dtype), suffix),
                     {.op = op,
                      .inputs = {SpecialValues(dtype, kOdd)},
                      .outputs = {{dtype, kOdd}},
                      .params = params},
                     ToleranceFor(dtype, family)});
  }
}

void AddFunctions(std::vector<NamedNode>& nodes) {
  const std::vector<DType> floats = DTypesOf(kFloatDTypes);
  for (const OpKind op :
       {OpKind::kAcos, OpKind::kAcosh, OpKind::kAsin, OpKind::kAsinh,
        OpKind::kAtan, OpKind::kAtanh, OpKind::kCos, OpKind::kCosh,
        OpKind::kErf, OpKind::kExp, OpKind::kLog, OpKind::kMish,
        OpKind::kSigmoid, OpKind::kSin, OpKind::kSinh, OpKind::kSoftplus,
        OpKind::kTan, OpKind::kTanh}) {
    AddUnary(op, floats, OpFamily::kTranscendental, nodes);
  }
  for (const OpKind op :
       {OpKind::kCeil, OpKind::kFloor, OpKind::kHardSwish, OpKind::kReciprocal,
        OpKind::kRound, OpKind::kSoftsign, OpKind::kSqrt}) {
    AddUnary(op, floats, OpFamily::kArithmetic, nodes);
  }
  for (const OpKind op : {OpKind::kCelu, OpKind::kElu, OpKind::kLeakyRelu,
                          OpKind::kSwish, OpKind::kThresholdedRelu}) {
    AddUnary(op, floats, OpFamily::kTranscendental, nodes,
             AlphaParams{.alpha = 0.75f});
  }
  AddUnary(OpKind::kHardSigmoid, floats, OpFamily::kArithmetic, nodes,
           HardSigmoidParams{.alpha = 0.3f, .beta = 0.4f});
  AddUnary(OpKind::kSelu, floats, OpFamily::kTranscendental, nodes,
           SeluParams{.alpha = 1.7f, .gamma = 1.1f});
  AddUnary(OpKind::kGelu, floats, OpFamily::kTranscendental, nodes,
           GeluParams{});
  AddUnary(OpKind::kGelu, floats, OpFamily::kTranscendental, nodes,
           GeluParams{.approximates_by_tanh = true}, "_by_tanh");
}

void AddIntegerFunctions(std::vector<NamedNode>& nodes) {
  const std::vector<DType> all_signed = DTypesOf(kFloatDTypes, kSignedIntegers);
  const std::vector<DType> integers =
      DTypesOf(kSignedIntegers, kUnsignedIntegers);
  const std::vector<DType> numbers =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  AddUnary(OpKind::kAbs, numbers, OpFamily::kMovement, nodes);
  AddUnary(OpKind::kSign, numbers, OpFamily::kMovement, nodes);
  AddUnary(OpKind::kNeg, all_signed, OpFamily::kMovement, nodes);
  AddUnary(OpKind::kRelu, all_signed, OpFamily::kMovement, nodes);
  AddUnary(OpKind::kBitwiseNot, integers, OpFamily::kMovement, nodes);
  const DType boolean[] = {DType::kBool};
  AddUnary(OpKind::kNot, boolean, OpFamily::kMovement, nodes);
}

void AddClassifications(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, OpKind op, TestTensor x,
                       OpParams params) {
    const Shape shape = x.shape;
    nodes.push_back({name,
                     {.op = op,
                      .inputs = {std::move(x)},
                      .outputs = {{DType::kBool, shape}},
                      .params = std::move(params)}});
  };
  for (const DType dtype : kFloatDTypes) {
    const TestTensor x = SpecialValues(dtype, kOdd);
    add(Name(OpKind::kIsNaN, dtype), OpKind::kIsNaN, x, NoParams{});
    add(Name(OpKind::kIsInf, dtype), OpKind::kIsInf, x, IsInfParams{});
    add(Name(OpKind::kIsInf, dtype) + "_negative", OpKind::kIsInf, x,
        IsInfParams{.detects_positive = false});
    add(Name(OpKind::kIsInf, dtype) + "_positive", OpKind::kIsInf, x,
        IsInfParams{.detects_negative = false});
  }
  for (const DType dtype : {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
                            DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ}) {
    TestTensor x{dtype, Shape({256}), std::vector<std::byte>(256)};
    for (int i = 0; i < 256; ++i) x.bytes[i] = static_cast<std::byte>(i);
    add(Name(OpKind::kIsNaN, dtype), OpKind::kIsNaN, x, NoParams{});
    add(Name(OpKind::kIsInf, dtype), OpKind::kIsInf, x,
        IsInfParams{.detects_negative = false});
  }
}

void AddClips(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, DType dtype,
                       std::vector<TestTensor> bounds) {
    TestNode node{.op = OpKind::kClip,
                  .inputs = {SpecialValues(dtype, kOdd)},
                  .outputs = {{dtype, kOdd}}};
    for (TestTensor& bound : bounds) node.inputs.push_back(std::move(bound));
    nodes.push_back({absl::StrCat(Name(OpKind::kClip, dtype), name), node});
  };
  const auto scalar = [](DType dtype, double value) {
    return TensorOf(dtype, {}, {value});
  };
  for (const DType dtype :
       DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers)) {
    add("", dtype, {scalar(dtype, 1), scalar(dtype, 3)});
    add("_from_below", dtype, {scalar(dtype, 1)});
    add("_from_above", dtype, {TestTensor(), scalar(dtype, 1)});
  }
  const DType f16 = DType::kFloat16;
  const DType f32 = DType::kFloat32;
  add("_by_attributes", f16,
      {TestTensor(), TestTensor(), scalar(f32, -0.3), scalar(f32, 0.7)});
  add("_by_nothing", f32, {});
  add("_crossed", f32, {scalar(f32, 1), scalar(f32, -1)});
}

// Elements that are all apart from 0, for divisors.
TestTensor WithoutZeros(DType dtype, Shape shape) {
  const TestTensor pattern = Pattern(dtype, shape, 5);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    const double value = pattern.At(i);
    values.push_back(value == 0 ? 3 : value);
  }
  if (!values.empty() && !IsUnsignedDType(dtype)) values[1] = -1;
  return TensorOf(dtype, std::move(shape), values);
}

struct BinaryShapes {
  Shape a, b, y;
};

void AddBinary(OpKind op, absl::Span<const DType> dtypes, OpFamily family,
               std::vector<NamedNode>& nodes, OpParams params = NoParams{},
               absl::string_view suffix = "",
               DType output = DType::kUndefined) {
  const BinaryShapes shapes[] = {{kOdd, kOdd, kOdd},
                                 {{3, 1, 5}, {7, 1}, {3, 7, 5}}};
  for (const DType dtype : dtypes) {
    for (const auto& [a, b, y] : shapes) {
      const bool divides = op == OpKind::kDiv || op == OpKind::kMod;
      nodes.push_back(
          {absl::StrCat(Name(op, dtype), suffix, NameOf({a, b})),
           {.op = op,
            .inputs = {SpecialValues(dtype, a),
                       divides ? WithoutZeros(dtype, b)
                               : SpecialValues(dtype, b, 2)},
            .outputs = {{output == DType::kUndefined ? dtype : output, y}},
            .params = params},
           ToleranceFor(dtype, family)});
    }
  }
}

void AddArithmetic(std::vector<NamedNode>& nodes) {
  const std::vector<DType> floats = DTypesOf(kFloatDTypes);
  const std::vector<DType> integers =
      DTypesOf(kSignedIntegers, kUnsignedIntegers);
  const std::vector<DType> numbers =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  for (const OpKind op :
       {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kDiv}) {
    AddBinary(op, numbers, OpFamily::kArithmetic, nodes);
  }
  AddBinary(OpKind::kMod, numbers, OpFamily::kMovement, nodes,
            ModParams{.is_fmod = true}, "_fmod");
  AddBinary(OpKind::kMod, integers, OpFamily::kMovement, nodes, ModParams{});
  AddBinary(OpKind::kPRelu, floats, OpFamily::kArithmetic, nodes);
  const DType wide[] = {DType::kInt32, DType::kInt64, DType::kUInt32,
                        DType::kUInt64};
  AddBinary(OpKind::kPRelu, wide, OpFamily::kMovement, nodes);
  AddBinary(OpKind::kPow, floats, OpFamily::kTranscendental, nodes);
}

void AddLogic(std::vector<NamedNode>& nodes) {
  const DType boolean[] = {DType::kBool};
  for (const OpKind op : {OpKind::kAnd, OpKind::kOr, OpKind::kXor}) {
    AddBinary(op, boolean, OpFamily::kMovement, nodes);
  }
  for (const OpKind op :
       {OpKind::kBitwiseAnd, OpKind::kBitwiseOr, OpKind::kBitwiseXor}) {
    AddBinary(op, DTypesOf(kSignedIntegers, kUnsignedIntegers),
              OpFamily::kMovement, nodes);
  }
  AddBinary(OpKind::kBitShift, kUnsignedIntegers, OpFamily::kMovement, nodes,
            BitShiftParams{});
  AddBinary(OpKind::kBitShift, kUnsignedIntegers, OpFamily::kMovement, nodes,
            BitShiftParams{.is_left = false}, "_right");
  for (const OpKind op :
       {OpKind::kEqual, OpKind::kGreater, OpKind::kGreaterOrEqual,
        OpKind::kLess, OpKind::kLessOrEqual}) {
    AddBinary(op, DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers),
              OpFamily::kMovement, nodes, NoParams{}, "", DType::kBool);
  }
  AddBinary(OpKind::kEqual, boolean, OpFamily::kMovement, nodes);
}

// The ways in which operands can lie, each with what it is walked as.
void AddBroadcasts(std::vector<NamedNode>& nodes) {
  const BinaryShapes shapes[] = {
      {{}, {}, {}},
      {{0, 3}, {3}, {0, 3}},
      {{4, 6, 8}, {8}, {4, 6, 8}},     // a bias, in runs
      {{4, 6, 8}, {6, 1}, {4, 6, 8}},  // a run's element repeats
      {{4, 6, 7}, {6, 1}, {4, 6, 7}},  // the same, not in runs
      {{1000}, {}, {1000}},            // a number
      {{1}, {1000}, {1000}},
      {{2, 1, 3, 1, 8}, {5, 1, 4, 8}, {2, 5, 3, 4, 8}},
      {{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2},
       {2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1},
       {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}}};
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kInt8}) {
    for (const auto& [a, b, y] : shapes) {
      nodes.push_back({absl::StrCat("broadcast_", Name(OpKind::kSub, dtype),
                                    NameOf({a, b})),
                       {.op = OpKind::kSub,
                        .inputs = {Pattern(dtype, a, 1), Pattern(dtype, b, 2)},
                        .outputs = {{dtype, y}}}});
    }
  }
}

void AddPowers(std::vector<NamedNode>& nodes) {
  const std::vector<DType> exponents =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  for (const DType base : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                           DType::kBFloat16, DType::kInt32, DType::kInt64}) {
    for (const DType exponent : exponents) {
      nodes.push_back(
          {absl::StrCat(Name(OpKind::kPow, base), "_to_", DTypeName(exponent)),
           {.op = OpKind::kPow,
            .inputs = {SpecialValues(base, {13, 8}),
                       SpecialValues(exponent, {8}, 3)},
            .outputs = {{base, {13, 8}}}},
           ToleranceFor(base, OpFamily::kTranscendental)});
    }
  }
  const DType f32 = DType::kFloat32;
  nodes.push_back(
      {"pow_squares",
       {.op = OpKind::kPow,
        .inputs = {SpecialValues(f32, kOdd), TensorOf(f32, {1}, {2})},
        .outputs = {{f32, kOdd}}},
       ToleranceFor(f32, OpFamily::kArithmetic)});
}

void AddVariadic(std::vector<NamedNode>& nodes) {
  const auto add = [&](OpKind op, DType dtype, std::vector<Shape> shapes,
                       Shape y) {
    TestNode node{.op = op, .outputs = {{dtype, std::move(y)}}};
    for (size_t i = 0; i < shapes.size(); ++i) {
      node.inputs.push_back(SpecialValues(dtype, shapes[i], i + 1));
    }
    nodes.push_back({absl::StrCat(Name(op, dtype), NameOf(shapes)), node,
                     ToleranceFor(dtype, OpFamily::kReduction, 3)});
  };
  const std::vector<DType> numbers =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  for (const OpKind op : {OpKind::kMax, OpKind::kMin}) {
    for (const DType dtype : numbers) {
      add(op, dtype, {kOdd, kOdd}, kOdd);
      add(op, dtype, {{3, 1}, {2, 1, 5}, {1}}, {2, 3, 5});
    }
  }
  for (const OpKind op : {OpKind::kMean, OpKind::kSum}) {
    for (const DType dtype : kFloatDTypes) {
      add(op, dtype, {kOdd, kOdd, kOdd}, kOdd);
      add(op, dtype, {{3, 1}, {2, 1, 5}, {1}}, {2, 3, 5});
      add(op, dtype, {kOdd}, kOdd);
      add(op, dtype, {{6, 8}, {8}, {6, 1}, {}}, {6, 8});
    }
  }
  add(OpKind::kSum, DType::kFloat32, std::vector<Shape>(16, Shape({9})), {9});
}

void AddChoices(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, Shape condition, TestTensor a,
                       TestTensor b, Shape y) {
    const DType dtype = a.dtype;
    nodes.push_back({absl::StrCat(Name(OpKind::kWhere, dtype), name),
                     {.op = OpKind::kWhere,
                      .inputs = {Pattern(DType::kBool, std::move(condition)),
                                 std::move(a), std::move(b)},
                      .outputs = {{dtype, std::move(y)}}}});
  };
  std::vector<DType> dtypes =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  dtypes.push_back(DType::kBool);
  for (const DType dtype : dtypes) {
    add("", kOdd, Pattern(dtype, kOdd, 2), Pattern(dtype, kOdd, 3), kOdd);
    add("_broadcast", {3, 1}, Pattern(dtype, {2, 1, 5}, 2),
        Pattern(dtype, {}, 3), {2, 3, 5});
  }
}

}  // namespace

std::vector<NamedNode> ElementwiseNodes() {
  std::vector<NamedNode> nodes;
  AddFunctions(nodes);
  AddIntegerFunctions(nodes);
  AddClassifications(nodes);
  AddClips(nodes);
  AddArithmetic(nodes);
  AddLogic(nodes);
  AddBroadcasts(nodes);
  AddPowers(nodes);
  AddVariadic(nodes);
  AddChoices(nodes);
  return nodes;
}

}  // namespace tensord::cuda
