#include "engine/ops/window_rules.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

absl::StatusOr<AutoPad> ReadAutoPad(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string text,
                           node.String("auto_pad", "NOTSET"));
  if (text == "NOTSET" || text.empty()) return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  return absl::InvalidArgumentError(
      "attribute 'auto_pad' is not NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

}  // namespace

absl::StatusOr<Dims> ReadWindowNumbers(NodeReader& node, absl::string_view name,
                                       int64_t low) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> values, node.Ints(name));
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < low || values[i] > kMaxWindowNumber) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name, "': element ", i, " is ", values[i],
                       ", outside [", low, ", ", kMaxWindowNumber, "]"));
    }
  }
  return Dims(values.begin(), values.end());
}

absl::Status CheckWindowList(absl::string_view name, const Dims& values,
                             size_t expected, int spatial_rank) {
  if (values.empty() || values.size() == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute '", name, "' has ", values.size(), " elements, not ", expected,
      " for ", spatial_rank, " spatial dimensions"));
}

absl::StatusOr<WindowAttributes> ReadWindowAttributes(NodeReader& node,
                                                      bool has_dilations) {
  WindowAttributes window;
  TENSORD_ASSIGN_OR_RETURN(window.kernel_shape,
                           ReadWindowNumbers(node, "kernel_shape", 1));
  TENSORD_ASSIGN_OR_RETURN(window.strides,
                           ReadWindowNumbers(node, "strides", 1));
  if (has_dilations) {
    TENSORD_ASSIGN_OR_RETURN(window.dilations,
                             ReadWindowNumbers(node, "dilations", 1));
  }
  TENSORD_ASSIGN_OR_RETURN(window.pads, ReadWindowNumbers(node, "pads", 0));
  TENSORD_ASSIGN_OR_RETURN(window.auto_pad, ReadAutoPad(node));
  if (window.auto_pad != AutoPad::kNotSet) {
    // Exporters write zeros beside auto_pad; other numbers contradict it.
    for (int64_t pad : window.pads) {
      if (pad != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("attribute 'pads' has a ", pad, " beside 'auto_pad'"));
      }
    }
    window.pads.clear();
  }
  return window;
}

absl::Status CheckWindowRank(const Dims& kernel_shape, const Dims& strides,
                             const Dims& dilations, const Dims& pads,
                             int spatial_rank) {
  const size_t rank = spatial_rank;
  TENSORD_RETURN_IF_ERROR(
      CheckWindowList("kernel_shape", kernel_shape, rank, spatial_rank));
  TENSORD_RETURN_IF_ERROR(
      CheckWindowList("strides", strides, rank, spatial_rank));
  TENSORD_RETURN_IF_ERROR(
      CheckWindowList("dilations", dilations, rank, spatial_rank));
  return CheckWindowList("pads", pads, 2 * rank, spatial_rank);
}

absl::StatusOr<Dim> InferWindowDim(InferContext& context, int axis,
                                   const WindowAxis& window, AutoPad auto_pad,
                                   bool ceil_mode, Dim input_extent) {
  SymbolTable& symbols = context.symbols();
  const bool is_same =
      auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower;
  if (is_same) {
    return symbols.FloorDivide(
        symbols.Add(input_extent, Dim::Known(window.stride - 1)),
        Dim::Known(window.stride));
  }
  if (input_extent.is_known()) {
    const int64_t outputs =
        window.OutputExtent(input_extent.extent(), ceil_mode);
    if (outputs < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "spatial dimension ", axis, ": a window over ", window.span(),
          " elements does not fit extent ", input_extent.extent(),
          " padded by ", window.pad_begin, " and ", window.pad_end));
    }
    return Dim::Known(outputs);
  }
  // Whether the last, overhanging window starts in the end padding cannot be
  // written with the table's arithmetic unless it never does.
  const int64_t overhang = ceil_mode ? window.stride - 1 : 0;
  if (ceil_mode && window.pad_end + overhang >= window.span()) {
    return context.UnknownDim();
  }
  const int64_t added =
      window.pad_begin + window.pad_end - window.span() + overhang;
  return symbols.Add(
      symbols.FloorDivide(symbols.Add(input_extent, Dim::Known(added)),
                          Dim::Known(window.stride)),
      Dim::Known(1));
}

}  // namespace tensord
