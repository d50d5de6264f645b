#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/backends/cuda/named_node.h"

// Nodes of recurrent.cu.
namespace tensord::cuda {
namespace {

// What a layer has besides x, w and r.
struct Options {
  std::string name;
  RnnDirection direction = RnnDirection::kForward;
  bool has_bias = false;
  bool has_lengths = false;
  bool has_initial = false;
  bool has_peepholes = false;
  bool batch_first = false;
  bool is_coupled = false;
  bool resets_after_product = false;
  bool lacks_y = false;
  float clip = 0;
  RnnFunction function = RnnFunction::kTanh;
  int64_t steps = 4;
  int64_t batch = 3;
  int64_t hidden = 5;
};

int64_t GatesOf(OpKind op) {
  return op == OpKind::kLSTM ? 4 : op == OpKind::kGRU ? 3 : 1;
}

RnnParams ParamsOf(OpKind op, const Options& options) {
  RnnParams params;
  params.direction = options.direction;
  const int directions =
      options.direction == RnnDirection::kBidirectional ? 2 : 1;
  for (int d = 0; d < directions; ++d) {
    if (op != OpKind::kRNN) {
      params.activations.push_back({RnnFunction::kSigmoid, 0, 0});
    }
    params.activations.push_back({options.function, 0.5f, 0.25f});
    if (op == OpKind::kLSTM) {
      params.activations.push_back({RnnFunction::kTanh, 0, 0});
    }
  }
  if (options.clip != 0) params.clip = options.clip;
  params.hidden_size = options.hidden;
  params.has_batch_first = options.batch_first;
  params.couples_input_and_forget = options.is_coupled;
  params.applies_reset_after_product = options.resets_after_product;
  return params;
}

NamedNode NodeOf(OpKind op, DType dtype, const Options& options) {
  constexpr int64_t kInput = 6;
  const int64_t directions =
      options.direction == RnnDirection::kBidirectional ? 2 : 1;
  const int64_t width = GatesOf(op) * options.hidden;
  const auto state = [&] {
    return options.batch_first
               ? Shape({options.batch, directions, options.hidden})
               : Shape({directions, options.batch, options.hidden});
  };
  const auto optional = [&](bool is_there, const Shape& shape, uint64_t seed) {
    return is_there ? Pattern(dtype, shape, seed) : TestTensor();
  };
  TestNode node{
      .op = op,
      .inputs = {Pattern(dtype,
                         options.batch_first
                             ? Shape({options.batch, options.steps, kInput})
                             : Shape({options.steps, options.batch, kInput}),
                         1),
                 Pattern(dtype, Shape({directions, width, kInput}), 2),
                 Pattern(dtype, Shape({directions, width, options.hidden}), 3),
                 optional(options.has_bias, Shape({directions, 2 * width}), 4),
                 TestTensor(), optional(options.has_initial, state(), 5)},
      .params = ParamsOf(op, options)};
  if (options.has_lengths) {
    std::vector<double> lengths;
    for (int64_t b = 0; b < options.batch; ++b) {
      lengths.push_back(static_cast<double>(b % (options.steps + 1)));
    }
    node.inputs[4] = TensorOf(DType::kInt32, Shape({options.batch}), lengths);
  }
  if (op == OpKind::kLSTM) {
    node.inputs.push_back(optional(options.has_initial, state(), 6));
    node.inputs.push_back(optional(options.has_peepholes,
                                   Shape({directions, 3 * options.hidden}), 7));
  }
  const Shape y =
      options.batch_first
          ? Shape({options.batch, options.steps, directions, options.hidden})
          : Shape({options.steps, directions, options.batch, options.hidden});
  node.outputs = {{options.lacks_y ? DType::kUndefined : dtype, y},
                  {dtype, state()}};
  if (op == OpKind::kLSTM) node.outputs.push_back({dtype, state()});
  return {
      absl::StrCat(OpKindName(op), "_", options.name, "_", DTypeName(dtype)),
      node,
      ToleranceFor(dtype, OpFamily::kContraction,
                   options.steps * (kInput + options.hidden))};
}

std::vector<Options> OptionsOf(OpKind op) {
  std::vector<Options> all = {
      {.name = "plain"},
      {.name = "bias_and_states", .has_bias = true, .has_initial = true},
      {.name = "reverse",
       .direction = RnnDirection::kReverse,
       .has_bias = true,
       .has_lengths = true},
      {.name = "both_ways",
       .direction = RnnDirection::kBidirectional,
       .has_bias = true,
       .has_lengths = true,
       .has_initial = true},
      {.name = "batch_first",
       .direction = RnnDirection::kBidirectional,
       .has_lengths = true,
       .has_initial = true,
       .batch_first = true},
      {.name = "clipped", .has_bias = true, .clip = 0.5f},
      {.name = "last_states_alone", .has_initial = true, .lacks_y = true},
      // Past the tiles of the products, and what a warp takes at a time.
      {.name = "larger", .has_bias = true, .batch = 9, .hidden = 41},
      // Rows of whole packs, more and fewer than a warp takes at once.
      {.name = "packs", .has_bias = true, .batch = 5, .hidden = 16},
      {.name = "many_packs", .steps = 2, .batch = 1, .hidden = 136},
      {.name = "no_steps", .has_initial = true, .steps = 0},
      {.name = "no_batch", .batch = 0}};
  const std::pair<RnnFunction, const char*> functions[] = {
      {RnnFunction::kAffine, "affine"},
      {RnnFunction::kElu, "elu"},
      {RnnFunction::kHardSigmoid, "hard_sigmoid"},
      {RnnFunction::kLeakyRelu, "leaky_relu"},
      {RnnFunction::kRelu, "relu"},
      {RnnFunction::kScaledTanh, "scaled_tanh"},
      {RnnFunction::kSoftplus, "softplus"},
      {RnnFunction::kSoftsign, "softsign"},
      {RnnFunction::kThresholdedRelu, "thresholded_relu"}};
  if (op == OpKind::kRNN) {
    // A bound, so that what grows without one stays small.
    for (const auto& [function, name] : functions) {
      all.push_back({.name = name, .clip = 2, .function = function});
    }
  }
  if (op == OpKind::kLSTM) {
    all.push_back({.name = "peepholes",
                   .direction = RnnDirection::kBidirectional,
                   .has_initial = true,
                   .has_peepholes = true});
    all.push_back({.name = "coupled", .has_bias = true, .is_coupled = true});
  }
  if (op == OpKind::kGRU) {
    all.push_back({.name = "reset_after_product",
                   .direction = RnnDirection::kBidirectional,
                   .has_bias = true,
                   .has_lengths = true,
                   .resets_after_product = true});
    all.push_back({.name = "reset_after_product_without_bias",
                   .resets_after_product = true});
  }
  return all;
}

}  // namespace

std::vector<NamedNode> RecurrentNodes() {
  std::vector<NamedNode> nodes;
  for (OpKind op : {OpKind::kLSTM, OpKind::kGRU, OpKind::kRNN}) {
    for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                        DType::kBFloat16}) {
      for (const Options& options : OptionsOf(op)) {
        nodes.push_back(NodeOf(op, dtype, options));
      }
    }
  }
  return nodes;
}

}  // namespace tensord::cuda
