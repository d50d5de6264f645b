#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/backends/cuda/special_values.h"

// Nodes of cast.cu, cast_small.cu, quantize.cu, dynamic_quantize.cu, dropout.cu
// and cumulate.cu.
namespace tensord::cuda {
namespace {

constexpr DType kSmallDTypes[] = {DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ,
                                  DType::kFloat8E5M2,   DType::kFloat8E5M2FNUZ,
                                  DType::kFloat8E8M0,   DType::kFloat4E2M1,
                                  DType::kInt4,         DType::kUInt4,
                                  DType::kInt2,         DType::kUInt2};

std::string Name(OpKind op, DType dtype) {
  return absl::StrCat(absl::AsciiStrToLower(OpKindName(op)), "_",
                      DTypeName(dtype));
}

std::vector<DType> NumberDTypes() {
  std::vector<DType> dtypes =
      DTypesOf(kFloatDTypes, kSignedIntegers, kUnsignedIntegers);
  dtypes.push_back(DType::kBool);
  return dtypes;
}

// Every byte, of as many elements as that is.
TestTensor EveryCode(DType dtype) {
  TestTensor x{dtype, Shape({256 * 8 / BitWidth(dtype)}),
               std::vector<std::byte>(256)};
  for (int i = 0; i < 256; ++i) x.bytes[i] = static_cast<std::byte>(i);
  return x;
}

// Numbers about the roundings and limits of small dtypes.
TestTensor Roundings(DType dtype, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    const double size =
        std::ldexp(1 + (i * 37 % 64) / 64.0, static_cast<int>(i % 23) - 12);
    values.push_back(i % 2 == 0 ? size : -size);
  }
  if (IsFloatDType(dtype)) {
    values[3] = NAN;
    values[7] = INFINITY;
    values[11] = -INFINITY;
    values[13] = -0.0;
  }
  return TensorOf(dtype, {count}, values);
}

NamedNode Cast(TestTensor x, DType to, CastParams params = {},
               absl::string_view suffix = "") {
  params.to = to;
  const Shape shape = x.shape;
  const std::string name =
      absl::StrCat(Name(OpKind::kCast, x.dtype), "_to_", DTypeName(to), suffix);
  return {name,
          {.op = OpKind::kCast,
           .inputs = {std::move(x)},
           .outputs = {{to, shape}},
           .params = params}};
}

void AddCasts(std::vector<NamedNode>& nodes) {
  for (const DType from : NumberDTypes()) {
    for (const DType to : NumberDTypes()) {
      nodes.push_back(Cast(SpecialValues(from, {5, 67}), to));
    }
  }
  // Numbers that the other dtype has to round, or cannot hold.
  nodes.push_back(Cast(Tensor<double>({4}, {1e300, -1e300, 0.1, 16777217}),
                       DType::kFloat32, {}, "_rounded"));
  const std::vector<int64_t> large = {(int64_t{1} << 60) + 1,
                                      -(int64_t{1} << 53) - 1, 65519, 65520};
  for (const DType to : {DType::kFloat32, DType::kFloat16, DType::kBFloat16,
                         DType::kFloat64, DType::kInt8}) {
    nodes.push_back(Cast(Tensor<int64_t>({4}, large), to, {}, "_large"));
  }
  const DType f32 = DType::kFloat32;
  nodes.push_back(
      {"castlike_float32_to_int8",
       {.op = OpKind::kCastLike,
        .inputs = {SpecialValues(f32, {9}), Pattern(DType::kInt8, {2})},
        .outputs = {{DType::kInt8, {9}}},
        .params = CastParams{}}});
}

void AddSmallCasts(std::vector<NamedNode>& nodes) {
  for (const DType small : kSmallDTypes) {
    for (const DType number : NumberDTypes()) {
      nodes.push_back(Cast(EveryCode(small), number));
      nodes.push_back(Cast(Roundings(number, 2047), small));
    }
    nodes.push_back(Cast(Roundings(DType::kFloat32, 2047), small,
                         {.saturates = false}, "_unsaturated"));
    for (const DType other : kSmallDTypes) {
      if (other != small) nodes.push_back(Cast(EveryCode(small), other));
    }
  }
  for (const PowerRounding rounding :
       {PowerRounding::kDown, PowerRounding::kNearest}) {
    nodes.push_back(
        Cast(Roundings(DType::kFloat32, 2047), DType::kFloat8E8M0,
             {.rounding = rounding},
             rounding == PowerRounding::kDown ? "_down" : "_nearest"));
  }
}

struct ScaleCase {
  std::string name;
  Shape x;
  Shape scale;
  QuantizeParams params;
};

std::vector<ScaleCase> ScaleCases() {
  return {{"scalar", {3, 37}, {}, {}},
          {"last_axis", {3, 37}, {37}, {.axis = 1}},
          {"first_axis", {3, 4, 7}, {4}, {.axis = 1}},
          {"blocked", {2, 9, 3}, {2, 3, 3}, {.axis = 1, .block_size = 3}},
          {"last_blocked", {4, 10}, {4, 3}, {.axis = -1, .block_size = 4}}};
}

TestTensor Scales(DType dtype, Shape shape) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(std::ldexp(1 + (i % 3) / 4.0, -5));
  }
  return TensorOf(dtype, std::move(shape), values);
}

// A quantized tensor: small codes, which have no test values, as bytes.
TestTensor Codes(DType dtype, Shape shape, int step) {
  TestTensor tensor{dtype, shape, {}};
  tensor.bytes.resize(ByteSize(dtype, shape.element_count()));
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    tensor.bytes[i] = static_cast<std::byte>(i * step + 1);
  }
  const int64_t bits = shape.element_count() * BitWidth(dtype);
  if (bits % 8 != 0) {
    tensor.bytes.back() &= static_cast<std::byte>((1 << (bits % 8)) - 1);
  }
  return tensor;
}

std::vector<DType> QuantizedDTypes() {
  std::vector<DType> dtypes = {DType::kInt8, DType::kUInt8, DType::kInt16,
                               DType::kUInt16};
  for (const DType small : kSmallDTypes) {
    if (small != DType::kFloat8E8M0) dtypes.push_back(small);
  }
  return dtypes;
}

void AddQuantizations(std::vector<NamedNode>& nodes) {
  const auto add = [&](DType x, DType scale, DType y, ScaleCase of,
                       bool has_zero) {
    TestNode node{.op = OpKind::kQuantizeLinear,
                  .inputs = {Pattern(x, of.x), Scales(scale, of.scale)},
                  .outputs = {{y, of.x}},
                  .params = of.params};
    if (has_zero) node.inputs.push_back(Codes(y, of.scale, 1));
    nodes.push_back({absl::StrCat(Name(OpKind::kQuantizeLinear, x), "_by_",
                                  DTypeName(scale), "_to_", DTypeName(y), "_",
                                  of.name, has_zero ? "_with_zero" : ""),
                     node});
  };
  const DType f32 = DType::kFloat32;
  for (const DType y : QuantizedDTypes()) {
    for (const ScaleCase& of : ScaleCases()) add(f32, f32, y, of, true);
    add(f32, f32, y, ScaleCases()[0], false);
  }
  for (const DType x :
       {f32, DType::kFloat16, DType::kBFloat16, DType::kInt32}) {
    for (const DType scale : {f32, DType::kFloat16, DType::kBFloat16}) {
      if (x == f32 && scale == f32) continue;  // is above
      add(x, scale, DType::kUInt8, ScaleCases()[1], true);
    }
  }
  ScaleCase precise = ScaleCases()[1];
  precise.name = "in_float16";
  precise.params.precision = DType::kFloat16;
  add(f32, f32, DType::kInt16, precise, true);
}

void AddDequantizations(std::vector<NamedNode>& nodes) {
  const auto add = [&](DType x, DType scale, DType y, ScaleCase of,
                       bool has_zero) {
    of.params.output_dtype = y;
    TestNode node{.op = OpKind::kDequantizeLinear,
                  .inputs = {Codes(x, of.x, 7), Scales(scale, of.scale)},
                  .outputs = {{y, of.x}},
                  .params = of.params};
    if (has_zero) node.inputs.push_back(Codes(x, of.scale, 1));
    nodes.push_back({absl::StrCat(Name(OpKind::kDequantizeLinear, x), "_by_",
                                  DTypeName(scale), "_to_", DTypeName(y), "_",
                                  of.name, has_zero ? "_with_zero" : ""),
                     node});
  };
  const DType f32 = DType::kFloat32;
  std::vector<DType> dtypes = QuantizedDTypes();
  dtypes.push_back(DType::kInt32);
  for (const DType x : dtypes) {
    for (const ScaleCase& of : ScaleCases()) add(x, f32, f32, of, true);
    add(x, f32, f32, ScaleCases()[0], false);
  }
  for (const DType scale : {f32, DType::kFloat16, DType::kBFloat16}) {
    for (const DType y : {f32, DType::kFloat16, DType::kBFloat16}) {
      if (scale == f32 && y == f32) continue;  // is above
      add(DType::kInt8, scale, y, ScaleCases()[2], true);
    }
  }
}

void AddDynamicQuantizations(std::vector<NamedNode>& nodes) {
  const auto add = [&](const std::string& name, TestTensor x) {
    const Shape shape = x.shape;
    nodes.push_back({absl::StrCat("dynamicquantizelinear_of_", name),
                     {.op = OpKind::kDynamicQuantizeLinear,
                      .inputs = {std::move(x)},
                      .outputs = {{DType::kUInt8, shape},
                                  {DType::kFloat32, {}},
                                  {DType::kUInt8, {}}}}});
  };
  const DType f32 = DType::kFloat32;
  add("many", Pattern(f32, {9000}));
  add("few", Pattern(f32, {3, 4}));
  add("none", Pattern(f32, {0}));
  add("zeros", TensorOf(f32, {3}, {0, 0, 0}));
  add("positive_ones", TensorOf(f32, {4}, {1, 2, 3, NAN}));
}

void AddDropouts(std::vector<NamedNode>& nodes) {
  for (const DType dtype : kFloatDTypes) {
    nodes.push_back({Name(OpKind::kDropout, dtype),
                     {.op = OpKind::kDropout,
                      .inputs = {Pattern(dtype, {5, 67})},
                      .outputs = {{dtype, {5, 67}}, {DType::kBool, {5, 67}}}}});
  }
}

void AddCumulations(std::vector<NamedNode>& nodes) {
  std::vector<DType> dtypes = DTypesOf(kFloatDTypes);
  for (const DType dtype :
       {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
    dtypes.push_back(dtype);
  }
  for (const OpKind op : {OpKind::kCumSum, OpKind::kCumProd}) {
    for (const DType dtype : dtypes) {
      for (int flags = 0; flags < 4; ++flags) {
        const CumSumParams params{.is_exclusive = (flags & 1) != 0,
                                  .is_reverse = (flags & 2) != 0};
        for (const int64_t axis : {0, -1}) {
          TestTensor x = Pattern(dtype, {45, 3, 70});
          if (op == OpKind::kCumProd) x = Pattern(dtype, {5, 3, 6});
          const Shape shape = x.shape;
          Tolerance tolerance = ToleranceFor(dtype, OpFamily::kReduction, 70);
          tolerance.absolute *= 16;  // of sums that are large on the way
          nodes.push_back(
              {absl::StrCat(Name(op, dtype), "_along_", axis + 1, "_",
                            params.is_exclusive ? "exclusive" : "inclusive",
                            params.is_reverse ? "_reverse" : ""),
               {.op = op,
                .inputs = {std::move(x), Tensor<int64_t>({}, {axis})},
                .outputs = {{dtype, shape}},
                .params = params,
                .is_constant = {false, true}},
               tolerance});
        }
      }
    }
  }
}

}  // namespace

std::vector<NamedNode> CastNodes() {
  std::vector<NamedNode> nodes;
  AddCasts(nodes);
  AddSmallCasts(nodes);
  AddQuantizations(nodes);
  AddDequantizations(nodes);
  AddDynamicQuantizations(nodes);
  AddDropouts(nodes);
  AddCumulations(nodes);
  return nodes;
}

}  // namespace tensord::cuda
