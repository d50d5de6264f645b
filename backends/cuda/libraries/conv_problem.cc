#include "backends/cuda/libraries/conv_problem.h"

#include <cmath>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/api/window.h"

namespace tensord::cuda {
namespace {

int64_t ProductOf(const ConvProblem::Extents& extents, int rank) {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= extents[i];
  return product;
}

absl::Status ResolveExtents(const NodeSite& site, ConvProblem& problem) {
  const auto& params = std::get<ConvParams>(site.params);
  const Shape& x = site.input(0).shape;
  const Shape& w = site.input(1).shape;
  const Shape& y = site.output(0).shape;
  const int own_rank = x.rank() - 2;
  if (own_rank < 1 || own_rank > ConvProblem::kMaxSpatialRank) {
    return absl::UnimplementedError(
        absl::StrCat("spatial rank ", own_rank, ", not 1 to 3"));
  }
  if (x.element_count() == 0 || w.element_count() == 0 ||
      y.element_count() == 0) {
    return absl::FailedPreconditionError("an operand is empty");
  }
  problem.is_channels_last = params.channels_last;
  problem.images = x[0];
  problem.groups = params.group;
  problem.input_channels = w[1] * params.group;
  problem.output_channels = w[0];
  problem.spatial_rank = std::max(own_rank, 2);
  problem.inputs = problem.outputs = problem.taps = {1, 1, 1};
  problem.strides = problem.dilations = {1, 1, 1};
  const int first = params.channels_last ? 1 : 2;
  for (int i = 0; i < own_rank; ++i) {
    const int to = problem.spatial_rank - own_rank + i;
    const WindowAxis window =
        ResolveWindowAxis(params, i, own_rank, w[2 + i], x[first + i]);
    problem.inputs[to] = x[first + i];
    problem.outputs[to] = y[first + i];
    problem.taps[to] = window.kernel;
    problem.strides[to] = window.stride;
    problem.dilations[to] = window.dilation;
    problem.pads_begin[to] = window.pad_begin;
    problem.pads_end[to] = window.pad_end;
    if (window.pad_begin < 0 || window.pad_end < 0) {
      return absl::UnimplementedError(
          absl::StrCat("pads ", window.pad_begin, " and ", window.pad_end));
    }
  }
  return absl::OkStatus();
}

absl::Status ResolveAddend(const NodeSite& site, int input, ConvSite& result) {
  const Shape& y = site.output(0).shape;
  const int channel = result.problem.is_channels_last ? y.rank() - 1 : 1;
  const Shape& addend = site.input(input).shape;
  const AddendForm form = FormOfAddend(addend, y, channel);
  if (form == AddendForm::kPerChannel && result.bias_input < 0) {
    result.bias_input = input;
    result.problem.has_bias = true;
    return absl::OkStatus();
  }
  if (form == AddendForm::kWhole && result.addend_input < 0) {
    result.addend_input = input;
    result.problem.has_addend = true;
    return absl::OkStatus();
  }
  return absl::UnimplementedError(absl::StrCat("input ", input, " of shape ",
                                               addend.ToString(),
                                               " is added to ", y.ToString()));
}

absl::Status ResolveActivation(const SimpleEpilogue& epilogue,
                               ConvProblem& problem) {
  problem.activation = epilogue.activation;
  problem.high = epilogue.high;
  switch (epilogue.activation) {
    case Activation::kNone:
    case Activation::kRelu:
      return absl::OkStatus();
    case Activation::kClip:
      if (epilogue.low != 0 || !(epilogue.high > 0)) {
        return absl::UnimplementedError(absl::StrCat("a Clip to ", epilogue.low,
                                                     " and ", epilogue.high,
                                                     ", not from 0"));
      }
      if (std::isinf(epilogue.high)) problem.activation = Activation::kRelu;
      return absl::OkStatus();
    default:
      return absl::UnimplementedError("an epilogue with Gelu");
  }
}

}  // namespace

int64_t ConvProblem::InputCount() const {
  return images * input_channels * ProductOf(inputs, spatial_rank);
}
int64_t ConvProblem::OutputCount() const {
  return images * output_channels * ProductOf(outputs, spatial_rank);
}
int64_t ConvProblem::WeightCount() const {
  return output_channels * (input_channels / groups) *
         ProductOf(taps, spatial_rank);
}

bool ConvProblem::IsProduct() const {
  if (!is_channels_last || groups != 1) return false;
  for (int i = 0; i < spatial_rank; ++i) {
    if (taps[i] != 1 || strides[i] != 1 || pads_begin[i] != 0 ||
        pads_end[i] != 0) {
      return false;
    }
  }
  return true;
}

std::string ConvProblem::Key() const {
  const auto list = [](const Extents& extents) {
    return absl::StrJoin(extents, ",");
  };
  return absl::StrCat(DTypeName(dtype), " ", allows_tf32, is_channels_last, " ",
                      images, " ", input_channels, " ", output_channels, " ",
                      groups, " ", spatial_rank, " ", list(inputs), " ",
                      list(outputs), " ", list(taps), " ", list(strides), " ",
                      list(dilations), " ", list(pads_begin), " ",
                      list(pads_end), " ", has_bias, has_addend,
                      static_cast<int>(activation), " ", high, " ", alignment);
}

absl::StatusOr<ConvSite> ResolveConv(const NodeSite& site) {
  ConvSite result;
  ConvProblem& problem = result.problem;
  problem.dtype = site.input_dtype(0);
  problem.allows_tf32 = site.precision != Precision::kStrict;
  const absl::StatusOr<SimpleEpilogue> epilogue =
      MatchSimpleEpilogue(site.params);
  if (!epilogue.ok()) return epilogue.status();
  absl::Status status = ResolveActivation(*epilogue, problem);
  if (!status.ok()) return status;
  if (site.layouts.empty()) return result;

  status = ResolveExtents(site, problem);
  if (!status.ok()) return status;
  if (site.has_input(2)) {
    result.bias_input = 2;
    problem.has_bias = true;
  }
  for (int input : epilogue->addends()) {
    status = ResolveAddend(site, input, result);
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < site.layouts.size(); ++i) {
    if (site.dtypes[i] == DType::kUndefined) continue;
    const auto offset =
        static_cast<int64_t>(ByteSize(site.dtypes[i], site.layouts[i].offset));
    while (offset % problem.alignment != 0) problem.alignment /= 2;
  }
  return result;
}

}  // namespace tensord::cuda
