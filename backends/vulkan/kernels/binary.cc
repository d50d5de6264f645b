// Operators of two operands, element by element, with broadcasting:
// arithmetic, comparisons, logic and bits, Pow; and Max, Min, Sum and Mean of
// any number.
//
//   y[i] = a[i] op b[i]; y is contiguous and may be the buffer of an operand of
//   its own size

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/vulkan/kernels/broadcast.h"
#include "backends/vulkan/kernels/chain.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kMostDimensions = 8;  // binary.comp's

// binary.comp's operators behind the steps.
constexpr uint32_t kModulo = 110;
uint32_t NumberOf(const NodeSite& site) {
  switch (site.op) {
    case OpKind::kAnd:
    case OpKind::kBitwiseAnd:
      return 100;
    case OpKind::kOr:
    case OpKind::kBitwiseOr:
      return 101;
    case OpKind::kXor:
    case OpKind::kBitwiseXor:
      return 102;
    case OpKind::kBitShift:
      return std::get<BitShiftParams>(site.params).is_left ? 103 : 104;
    case OpKind::kEqual:
      return 105;
    case OpKind::kGreater:
      return 106;
    case OpKind::kGreaterOrEqual:
      return 107;
    case OpKind::kLess:
      return 108;
    case OpKind::kLessOrEqual:
      return 109;
    case OpKind::kMod:
      if (!std::get<ModParams>(site.params).is_fmod &&
          !IsFloat(site.input_dtype(0))) {
        return kModulo;
      }
      return StepNumber(OpKind::kMod).value();
    default:
      return StepNumber(site.op).value();
  }
}

// binary.comp's, behind the addresses.
struct Arguments {
  uint32_t count;
  uint32_t rank;
  struct {
    uint32_t extent, a, b;
  } dimensions[kMostDimensions];
};

struct Side {
  Operand operand;
  const Layout& layout;
  DType dtype;
};

absl::Status AddPair(const NodeSite& site, uint32_t op, const Side& a,
                     const Side& b, Plan& plan) {
  const Shape& y = site.output(0).shape;
  const Layout* const layouts[] = {&a.layout, &b.layout};
  const BroadcastWalk walk = MakeBroadcastWalk(layouts, y);
  if (walk.dimensions.size() > kMostDimensions) {
    return absl::UnimplementedError(
        absl::StrCat("operands broadcast in ", walk.dimensions.size(),
                     " runs of dimensions, above ", kMostDimensions));
  }
  Arguments arguments = {static_cast<uint32_t>(y.element_count()),
                         static_cast<uint32_t>(walk.dimensions.size()),
                         {}};
  for (size_t d = 0; d < walk.dimensions.size(); ++d) {
    const auto& from = walk.dimensions[d];
    arguments.dimensions[d] = {static_cast<uint32_t>(from.extent),
                               static_cast<uint32_t>(from.strides[0]),
                               static_cast<uint32_t>(from.strides[1])};
  }
  plan.Add(shaders::k_binary,
           {256, static_cast<uint32_t>(a.dtype), static_cast<uint32_t>(b.dtype),
            op, walk.is_trivial ? 0u : 1u},
           GroupsFor(y.element_count()), {a.operand, b.operand, plan.Out(0)},
           arguments);
  return absl::OkStatus();
}

absl::Status PlanBinary(const NodeSite& site, Plan& plan) {
  // PRelu's slope broadcasts to x, as all second operands do.
  return AddPair(site, NumberOf(site),
                 {plan.In(0), site.input(0), site.input_dtype(0)},
                 {plan.In(1), site.input(1), site.input_dtype(1)}, plan);
}

// Of floats as a chain, whose sum is rounded once.
absl::Status PlanFloatsOfMany(const NodeSite& site, Plan& plan) {
  Expression expression;
  expression.input_count = site.input_count;
  const bool is_mean = site.op == OpKind::kMean;
  if (is_mean) expression.constants = {1.0 / site.input_count};
  const OpKind op = site.op == OpKind::kSum || is_mean ? OpKind::kAdd : site.op;
  int32_t last = 0;
  for (int32_t k = 1; k < site.input_count; ++k) {
    expression.steps.push_back({op, {last, k}, {}});
    last = expression.ValueCount() - 1;
  }
  if (is_mean) {
    expression.steps.push_back(
        {OpKind::kMul, {last, expression.input_count}, {}});
  } else if (site.input_count == 1) {
    expression.steps.push_back({OpKind::kMax, {0, 0}, {}});
  }
  absl::StatusOr<ChainTable> table = MakeChainTable(site, expression, 0, 0);
  if (!table.ok()) return table.status();
  const int64_t count = site.output(0).shape.element_count();
  const auto arguments = static_cast<uint32_t>(count);
  plan.Add(shaders::k_chain, {256, static_cast<uint32_t>(site.output_dtype(0))},
           GroupsFor(count),
           {plan.Out(0), plan.Table(*table), plan.In(0), plan.In(1), plan.In(2),
            plan.In(3), plan.In(4), plan.In(5), plan.In(6), plan.In(7)},
           arguments);
  return absl::OkStatus();
}

// Of integers pair by pair. What stands in y must not be an input that is read
// later, so nothing is done in place.
absl::Status PlanIntegersOfMany(const NodeSite& site, Plan& plan) {
  const uint32_t op = StepNumber(site.op).value();
  const Side first = {plan.In(0), site.input(0), site.input_dtype(0)};
  if (site.input_count == 1) return AddPair(site, op, first, first, plan);
  Operand so_far = plan.Out(0);
  so_far.access = Operand::Access::kRead;
  for (int k = 1; k < site.input_count; ++k) {
    const Side left =
        k == 1 ? first : Side{so_far, site.output(0), site.output_dtype(0)};
    absl::Status status = AddPair(
        site, op, left, {plan.In(k), site.input(k), site.input_dtype(k)}, plan);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

struct Operator {
  OpKind op;
  const char* name;
};

void AddPowers(const RowTraits& traits, RowList& rows) {
  const auto add = [&](DType base, DType exponent) {
    rows.Add<&PlanBinary>(
        OpKind::kPow, RowList::NameOf(RowList::NameOf("pow", base), exponent),
        Takes({base, exponent}, {base}), traits);
  };
  for (const DType base : kFloats) {
    for (const DType exponent : kFloats) add(base, exponent);
    for (const DType exponent : kSignedIntegers) add(base, exponent);
    for (const DType exponent : kUnsignedIntegers) add(base, exponent);
  }
  for (const DType base : {DType::kInt32, DType::kInt64}) {
    for (const DType exponent : {DType::kInt32, DType::kInt64}) {
      add(base, exponent);
    }
  }
}

void AddComparisons(const RowTraits& traits, RowList& rows) {
  const auto add = [&](const Operator& compare, DType dtype) {
    rows.Add<&PlanBinary>(compare.op, RowList::NameOf(compare.name, dtype),
                          Takes({dtype}, {DType::kBool}), traits);
  };
  for (const Operator& compare :
       {Operator{OpKind::kEqual, "equal"},
        Operator{OpKind::kGreater, "greater"},
        Operator{OpKind::kGreaterOrEqual, "greater_or_equal"},
        Operator{OpKind::kLess, "less"},
        Operator{OpKind::kLessOrEqual, "less_or_equal"}}) {
    for (const DType dtype : kFloats) add(compare, dtype);
    for (const DType dtype : kSignedIntegers) add(compare, dtype);
    for (const DType dtype : kUnsignedIntegers) add(compare, dtype);
  }
  add({OpKind::kEqual, "equal"}, DType::kBool);
}

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/binary.cc",
                            .caps = {.in_place_inputs = 0b11}};
  const auto integers = {absl::MakeConstSpan(kSignedIntegers),
                         absl::MakeConstSpan(kUnsignedIntegers)};
  RowList rows;
  for (const Operator& each :
       {Operator{OpKind::kAdd, "add"}, Operator{OpKind::kDiv, "div"},
        Operator{OpKind::kMod, "mod"}, Operator{OpKind::kMul, "mul"},
        Operator{OpKind::kSub, "sub"}, Operator{OpKind::kPRelu, "prelu"}}) {
    rows.AddAll<&PlanBinary>(each.op, each.name, kFloats, traits);
    if (each.op == OpKind::kPRelu) {
      rows.AddAll<&PlanBinary>(
          each.op, each.name,
          {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64},
          traits);
      continue;
    }
    for (const auto dtypes : integers) {
      rows.AddAll<&PlanBinary>(each.op, each.name, dtypes, traits);
    }
  }
  for (const Operator& each : {Operator{OpKind::kBitwiseAnd, "bitwise_and"},
                               Operator{OpKind::kBitwiseOr, "bitwise_or"},
                               Operator{OpKind::kBitwiseXor, "bitwise_xor"}}) {
    for (const auto dtypes : integers) {
      rows.AddAll<&PlanBinary>(each.op, each.name, dtypes, traits);
    }
  }
  rows.AddAll<&PlanBinary>(OpKind::kBitShift, "bit_shift", kUnsignedIntegers,
                           traits);
  for (const Operator& each :
       {Operator{OpKind::kAnd, "and"}, Operator{OpKind::kOr, "or"},
        Operator{OpKind::kXor, "xor"}}) {
    rows.AddAll<&PlanBinary>(each.op, each.name, {DType::kBool}, traits);
  }
  AddComparisons({.source = traits.source}, rows);
  AddPowers({.source = traits.source, .caps = {.in_place_inputs = 0b1}}, rows);
  for (const Operator& each :
       {Operator{OpKind::kMax, "max"}, Operator{OpKind::kMin, "min"},
        Operator{OpKind::kSum, "sum"}, Operator{OpKind::kMean, "mean"}}) {
    rows.AddAll<&PlanFloatsOfMany>(
        each.op, each.name, kFloats,
        {.source = traits.source, .caps = {.in_place_inputs = 0xff}});
    if (each.op == OpKind::kSum || each.op == OpKind::kMean) continue;
    for (const auto dtypes : integers) {
      rows.AddAll<&PlanIntegersOfMany>(each.op, each.name, dtypes,
                                       {.source = traits.source});
    }
  }
  return rows;
}

}  // namespace

absl::Span<const KernelEntry> BinaryRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
