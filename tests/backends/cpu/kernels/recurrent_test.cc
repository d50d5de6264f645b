#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/matchers.h"
#include "tests/support/run_op.h"

namespace tensord {
namespace {

using Function = std::function<double(double)>;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Tanh(double x) { return std::tanh(x); }

struct LayerCase {
  std::string op;  // "LSTM", "GRU", "RNN"
  int64_t steps = 3;
  int64_t batch = 2;
  int64_t input = 3;
  int64_t hidden = 4;
  std::string direction = "forward";
  bool batch_first = false;
  bool has_bias = true;
  bool has_initial = true;
  bool has_peepholes = false;
  bool linear_before_reset = false;
  bool input_forget = false;
  std::optional<float> clip;
  std::vector<int32_t> lengths = {};
  DType dtype = DType::kFloat32;
  // As attributes, and as what they mean; for one direction.
  std::vector<std::string> activations = {};
  std::vector<float> alphas = {};
  std::vector<float> betas = {};
  std::vector<Function> functions = {};

  int64_t gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

// Patterns are in [-2, 2); a quarter of that keeps sums off the flat ends of
// the functions.
TestTensor Weights(DType dtype, Shape shape, uint64_t seed) {
  TestTensor tensor = Pattern(dtype, shape, seed);
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    values.push_back(tensor.At(i) / 4);
  }
  return TensorOf(dtype, shape, values);
}

OpCase MakeCase(const LayerCase& c) {
  const int64_t width = c.gates() * c.hidden;
  const int64_t d = c.directions();
  const auto batched = [&](int64_t other) {
    return c.batch_first ? Shape({c.batch, other, c.hidden})
                         : Shape({other, c.batch, c.hidden});
  };
  OpCase test{
      .op = c.op,
      .inputs = {Weights(c.dtype,
                         c.batch_first ? Shape({c.batch, c.steps, c.input})
                                       : Shape({c.steps, c.batch, c.input}),
                         1),
                 Weights(c.dtype, {d, width, c.input}, 2),
                 Weights(c.dtype, {d, width, c.hidden}, 3), TestTensor(),
                 TestTensor(), TestTensor()},
      .attributes = {{"direction", c.direction},
                     {"hidden_size", c.hidden},
                     {"layout", int64_t{c.batch_first}}},
      .output_count = c.op == "LSTM" ? 3 : 2};
  if (c.has_bias) test.inputs[3] = Weights(c.dtype, {d, 2 * width}, 4);
  if (!c.lengths.empty()) {
    test.inputs[4] = Tensor<int32_t>({c.batch}, c.lengths);
  }
  if (c.has_initial) test.inputs[5] = Weights(c.dtype, batched(d), 5);
  if (c.op == "LSTM") {
    test.inputs.push_back(c.has_initial ? Weights(c.dtype, batched(d), 6)
                                        : TestTensor());
    test.inputs.push_back(c.has_peepholes
                              ? Weights(c.dtype, {d, 3 * c.hidden}, 7)
                              : TestTensor());
    test.attributes.push_back({"input_forget", int64_t{c.input_forget}});
  }
  if (c.op == "GRU") {
    test.attributes.push_back(
        {"linear_before_reset", int64_t{c.linear_before_reset}});
  }
  if (c.clip.has_value()) test.attributes.push_back({"clip", *c.clip});
  std::vector<std::string> activations;
  std::vector<float> alphas, betas;
  for (int64_t i = 0; i < d; ++i) {
    activations.insert(activations.end(), c.activations.begin(),
                       c.activations.end());
    alphas.insert(alphas.end(), c.alphas.begin(), c.alphas.end());
    betas.insert(betas.end(), c.betas.begin(), c.betas.end());
  }
  if (!activations.empty()) {
    test.attributes.push_back({"activations", activations});
    test.attributes.push_back({"activation_alpha", alphas});
    test.attributes.push_back({"activation_beta", betas});
  }
  return test;
}

// The equations of the standard, one number at a time.
class Reference {
 public:
  Reference(const LayerCase& c, const OpCase& test) : c_(c), test_(test) {
    const size_t count = c.steps * c.directions() * c.batch * c.hidden;
    y.assign(count, 0);
    last_h.assign(c.directions() * c.batch * c.hidden, 0);
    last_c = last_h;
    for (int64_t d = 0; d < c.directions(); ++d) {
      for (int64_t b = 0; b < c.batch; ++b) Sequence(d, b);
    }
  }

  std::vector<double> y, last_h, last_c;

 private:
  double At(int input, int64_t i) const { return test_.inputs[input].At(i); }
  int64_t StateIndex(int64_t d, int64_t b) const {
    return (c_.batch_first ? b * c_.directions() + d : d * c_.batch + b) *
           c_.hidden;
  }
  double Bias(int64_t d, int64_t half, int64_t row) const {
    const int64_t width = c_.gates() * c_.hidden;
    return c_.has_bias ? At(3, (2 * d + half) * width + row) : 0;
  }
  double TimesX(int64_t d, int64_t b, int64_t t, int64_t row) const {
    const int64_t x_row = c_.batch_first ? b * c_.steps + t : t * c_.batch + b;
    double sum = 0;
    for (int64_t k = 0; k < c_.input; ++k) {
      sum += At(0, x_row * c_.input + k) *
             At(1, (d * c_.gates() * c_.hidden + row) * c_.input + k);
    }
    return sum;
  }
  double TimesH(int64_t d, int64_t row, const std::vector<double>& h) const {
    double sum = 0;
    for (int64_t k = 0; k < c_.hidden; ++k) {
      sum += h[k] * At(2, (d * c_.gates() * c_.hidden + row) * c_.hidden + k);
    }
    return sum;
  }
  double Apply(size_t i, double x) const {
    if (c_.clip.has_value()) {
      x = std::min<double>(std::max<double>(x, -*c_.clip), *c_.clip);
    }
    if (i < c_.functions.size()) return c_.functions[i](x);
    return c_.op != "RNN" && i == 0 ? Sigmoid(x) : Tanh(x);
  }

  void Sequence(int64_t d, int64_t b) {
    std::vector<double> h(c_.hidden), cell(c_.hidden);
    for (int64_t j = 0; j < c_.hidden && c_.has_initial; ++j) {
      h[j] = At(5, StateIndex(d, b) + j);
      if (c_.op == "LSTM") cell[j] = At(6, StateIndex(d, b) + j);
    }
    const int64_t length = c_.lengths.empty() ? c_.steps : c_.lengths[b];
    const bool is_reverse = d == 1 || c_.direction == "reverse";
    for (int64_t s = 0; s < length; ++s) {
      const int64_t t = is_reverse ? length - 1 - s : s;
      Step(d, b, t, h, cell);
      const int64_t row = c_.batch_first
                              ? (b * c_.steps + t) * c_.directions() + d
                              : (t * c_.directions() + d) * c_.batch + b;
      for (int64_t j = 0; j < c_.hidden; ++j) y[row * c_.hidden + j] = h[j];
    }
    for (int64_t j = 0; j < c_.hidden; ++j) {
      last_h[StateIndex(d, b) + j] = h[j];
      last_c[StateIndex(d, b) + j] = cell[j];
    }
  }

  void Step(int64_t d, int64_t b, int64_t t, std::vector<double>& h,
            std::vector<double>& cell) const {
    const int64_t n = c_.hidden;
    // x * w^T + h * r^T + both biases.
    const auto gate = [&](int64_t g, int64_t j) {
      const int64_t row = g * n + j;
      return TimesX(d, b, t, row) + TimesH(d, row, h) + Bias(d, 0, row) +
             Bias(d, 1, row);
    };
    std::vector<double> next(n), next_cell(n);
    if (c_.op == "RNN") {
      for (int64_t j = 0; j < n; ++j) next[j] = Apply(0, gate(0, j));
    } else if (c_.op == "LSTM") {
      const auto peephole = [&](int64_t place, int64_t j) {
        return c_.has_peepholes ? At(7, (d * 3 + place) * n + j) : 0;
      };
      for (int64_t j = 0; j < n; ++j) {
        const double i = Apply(0, gate(0, j) + peephole(0, j) * cell[j]);
        const double f = c_.input_forget
                             ? 1 - i
                             : Apply(0, gate(2, j) + peephole(2, j) * cell[j]);
        next_cell[j] = f * cell[j] + i * Apply(1, gate(3, j));
        const double o = Apply(0, gate(1, j) + peephole(1, j) * next_cell[j]);
        next[j] = o * Apply(2, next_cell[j]);
      }
    } else {
      std::vector<double> reset(n);
      for (int64_t j = 0; j < n; ++j) reset[j] = Apply(0, gate(1, j));
      std::vector<double> reset_h(n);
      for (int64_t j = 0; j < n; ++j) reset_h[j] = reset[j] * h[j];
      for (int64_t j = 0; j < n; ++j) {
        const double z = Apply(0, gate(0, j));
        const int64_t row = 2 * n + j;
        const double from_h =
            c_.linear_before_reset
                ? reset[j] * (TimesH(d, row, h) + Bias(d, 1, row))
                : TimesH(d, row, reset_h) + Bias(d, 1, row);
        const double candidate =
            Apply(1, TimesX(d, b, t, row) + Bias(d, 0, row) + from_h);
        next[j] = (1 - z) * candidate + z * h[j];
      }
    }
    h = next;
    cell = next_cell;
  }

  const LayerCase& c_;
  const OpCase& test_;
};

void ExpectMatchesReference(const LayerCase& c) {
  SCOPED_TRACE(absl::StrCat(c.op, " ", c.direction, ", ", c.steps, " steps of ",
                            c.batch, " sequences, ", c.input, " -> ",
                            c.hidden));
  const OpCase test = MakeCase(c);
  const Reference expected(c, test);
  const absl::StatusOr<std::vector<TestTensor>> outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  const Tolerance tolerance = ToleranceFor(c.dtype, OpFamily::kContraction,
                                           (c.input + c.hidden) * c.steps);
  const int64_t d = c.directions();
  EXPECT_THAT(
      (*outputs)[0],
      IsNear(TensorOf(c.dtype,
                      c.batch_first ? Shape({c.batch, c.steps, d, c.hidden})
                                    : Shape({c.steps, d, c.batch, c.hidden}),
                      expected.y),
             tolerance));
  const Shape state = c.batch_first ? Shape({c.batch, d, c.hidden})
                                    : Shape({d, c.batch, c.hidden});
  EXPECT_THAT((*outputs)[1],
              IsNear(TensorOf(c.dtype, state, expected.last_h), tolerance));
  if (c.op == "LSTM") {
    EXPECT_THAT((*outputs)[2],
                IsNear(TensorOf(c.dtype, state, expected.last_c), tolerance));
  }
}

const char* const kOps[] = {"LSTM", "GRU", "RNN"};
const char* const kDirections[] = {"forward", "reverse", "bidirectional"};

TEST(RecurrentTest, MatchesTheEquationsInEveryDirectionAndLayout) {
  for (const char* op : kOps) {
    for (const char* direction : kDirections) {
      for (bool batch_first : {false, true}) {
        ExpectMatchesReference(
            {.op = op, .direction = direction, .batch_first = batch_first});
      }
    }
  }
}

TEST(RecurrentTest, OddSizesOnBothKindsOfProduct) {
  // Above 4 sequences the weights are packed; 64 hidden units are done at once.
  for (const char* op : kOps) {
    for (int64_t batch : {1, 4, 5, 13}) {
      for (int64_t hidden : {1, 17, 65}) {
        ExpectMatchesReference({.op = op,
                                .steps = 2,
                                .batch = batch,
                                .input = 7,
                                .hidden = hidden,
                                .direction = "bidirectional"});
      }
    }
    // Past one block of depth.
    ExpectMatchesReference(
        {.op = op, .steps = 3, .batch = 6, .input = 200, .hidden = 197});
  }
}

TEST(RecurrentTest, SequencesEndWhereTheirLengthsSay) {
  for (const char* op : kOps) {
    for (const char* direction : kDirections) {
      for (bool batch_first : {false, true}) {
        ExpectMatchesReference({.op = op,
                                .steps = 4,
                                .batch = 5,
                                .direction = direction,
                                .batch_first = batch_first,
                                .lengths = {4, 1, 0, 3, 2}});
      }
    }
    ExpectMatchesReference({.op = op, .steps = 3, .lengths = {0, 0}});
    LayerCase wrong = {.op = op, .steps = 3, .lengths = {1, 4}};
    EXPECT_THAT(RunOp(MakeCase(wrong)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::HasSubstr("sequence 1 has length 4")));
    wrong.lengths = {-1, 3};
    EXPECT_THAT(RunOp(MakeCase(wrong)),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::HasSubstr("sequence 0 has length -1")));
  }
}

TEST(RecurrentTest, WithoutBiasAndInitialStatesTheyAreZero) {
  for (const char* op : kOps) {
    ExpectMatchesReference({.op = op, .has_bias = false});
    ExpectMatchesReference({.op = op, .has_initial = false});
    ExpectMatchesReference({.op = op,
                            .direction = "bidirectional",
                            .has_bias = false,
                            .has_initial = false});
  }
}

TEST(RecurrentTest, TheOperatorsOwnAttributes) {
  for (const char* direction : kDirections) {
    ExpectMatchesReference(
        {.op = "LSTM", .direction = direction, .has_peepholes = true});
    ExpectMatchesReference({.op = "LSTM",
                            .direction = direction,
                            .has_peepholes = true,
                            .input_forget = true});
    for (bool has_bias : {false, true}) {
      ExpectMatchesReference({.op = "GRU",
                              .batch = 6,
                              .direction = direction,
                              .has_bias = has_bias,
                              .linear_before_reset = true});
    }
  }
}

TEST(RecurrentTest, ClipBoundsTheInputsOfActivations) {
  for (const char* op : kOps) {
    ExpectMatchesReference({.op = op, .has_peepholes = true, .clip = 0.125f});
  }
}

TEST(RecurrentTest, EveryActivationWithItsFactors) {
  struct Named {
    const char* name;
    std::vector<float> alpha, beta;
    Function function;
  };
  const Named all[] = {
      {"Affine", {2}, {0.5}, [](double x) { return 2 * x + 0.5; }},
      {"Elu", {}, {}, [](double x) { return x >= 0 ? x : std::exp(x) - 1; }},
      {"Elu",
       {3},
       {},
       [](double x) { return x >= 0 ? x : 3 * (std::exp(x) - 1); }},
      {"HardSigmoid",
       {},
       {},
       [](double x) { return std::min(std::max(0.2f * x + 0.5, 0.0), 1.0); }},
      {"HardSigmoid",
       {2},
       {0.25},
       [](double x) { return std::min(std::max(2 * x + 0.25, 0.0), 1.0); }},
      {"LeakyRelu", {}, {}, [](double x) { return x >= 0 ? x : 0.01f * x; }},
      {"LeakyRelu", {0.5}, {}, [](double x) { return x >= 0 ? x : 0.5 * x; }},
      {"Relu", {}, {}, [](double x) { return std::max(x, 0.0); }},
      {"ScaledTanh",
       {2},
       {0.5},
       [](double x) { return 2 * std::tanh(0.5 * x); }},
      {"Sigmoid", {}, {}, &Sigmoid},
      {"Softplus", {}, {}, [](double x) { return std::log(1 + std::exp(x)); }},
      {"Softsign", {}, {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"Tanh", {}, {}, &Tanh},
      {"ThresholdedRelu", {}, {}, [](double x) { return x >= 1 ? x : 0; }},
      {"ThresholdedRelu",
       {0.25},
       {},
       [](double x) { return x >= 0.25 ? x : 0; }},
  };
  for (const Named& named : all) {
    SCOPED_TRACE(named.name);
    ExpectMatchesReference({.op = "RNN",
                            .steps = 2,
                            .direction = "bidirectional",
                            .activations = {named.name},
                            .alphas = named.alpha,
                            .betas = named.beta,
                            .functions = {named.function}});
  }
  // Values go to those functions that take some, in order.
  ExpectMatchesReference(
      {.op = "LSTM",
       .direction = "bidirectional",
       .activations = {"hardsigmoid", "Relu", "LeakyRelu"},
       .alphas = {0.25f, 0.5f},
       .betas = {0.75f},
       .functions = {[](double x) {
                       return std::min(std::max(0.25 * x + 0.75, 0.0), 1.0);
                     },
                     [](double x) { return std::max(x, 0.0); },
                     [](double x) { return x >= 0 ? x : 0.5 * x; }}});
  ExpectMatchesReference(
      {.op = "GRU",
       .activations = {"Softsign", "Softplus"},
       .functions = {[](double x) { return x / (1 + std::abs(x)); },
                     [](double x) { return std::log(1 + std::exp(x)); }}});
}

TEST(RecurrentTest, LargeInputsSaturateInsteadOfOverflowing) {
  const auto run = [](const char* function, float x) {
    return MustRunOp(
        {.op = "RNN",
         .inputs = {Tensor({1, 1, 1}, {x}), Tensor({1, 1, 1}, {1}),
                    Tensor({1, 1, 1}, {0})},
         .attributes = {{"activations", std::vector<std::string>{function}}}});
  };
  EXPECT_THAT(run("Softplus", 1000), Near({1000}, 0));
  EXPECT_THAT(run("Softplus", -1000), Near({0}, 0));
  EXPECT_THAT(run("Sigmoid", -1000), Near({0}, 0));
  EXPECT_THAT(run("Sigmoid", 1000), Near({1}, 0));
  EXPECT_THAT(run("Tanh", 1000), Near({1}, 0));
  for (const char* function :
       {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Softplus",
        "Softsign", "Tanh", "ThresholdedRelu"}) {
    EXPECT_THAT(run(function, NAN), Near({NAN}, 0)) << function;
  }
}

TEST(RecurrentTest, OtherDTypesKeepTheirStateInFull) {
  for (const char* op : kOps) {
    for (DType dtype : {DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
      ExpectMatchesReference({.op = op,
                              .batch = 5,
                              .direction = "bidirectional",
                              .has_peepholes = true,
                              .dtype = dtype});
    }
  }
  // 256 + 1 is no bfloat16, but the state is 257 and then 258, which is one.
  const TestTensor one = TensorOf(DType::kBFloat16, {1, 1, 1}, {1});
  EXPECT_THAT(
      MustRunOp(
          {.op = "RNN",
           .inputs = {TensorOf(DType::kBFloat16, {2, 1, 1}, {1, 1}), one, one,
                      TestTensor(), TestTensor(),
                      TensorOf(DType::kBFloat16, {1, 1, 1}, {256})},
           .attributes = {{"activations", std::vector<std::string>{"Relu"}}}}),
      Near({256, 258}, 0));
}

TEST(RecurrentTest, OutputsThatNobodyAskedForAreLeftOut) {
  const LayerCase c = {.op = "LSTM", .direction = "bidirectional"};
  OpCase test = MakeCase(c);
  const Reference expected(c, test);
  const Tolerance tolerance =
      ToleranceFor(DType::kFloat32, OpFamily::kContraction, 21);
  test.absent_outputs = {0, 1};
  absl::StatusOr<std::vector<TestTensor>> outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(
      (*outputs)[2],
      IsNear(TensorOf(DType::kFloat32, {2, 2, 4}, expected.last_c), tolerance));
  test.absent_outputs = {};
  test.output_count = 1;
  outputs = RunOp(test);
  ASSERT_THAT(outputs, IsOk());
  EXPECT_THAT(
      (*outputs)[0],
      IsNear(TensorOf(DType::kFloat32, {3, 2, 2, 4}, expected.y), tolerance));
}

TEST(RecurrentTest, EmptyExtents) {
  for (const char* op : kOps) {
    ExpectMatchesReference({.op = op, .steps = 0});
    ExpectMatchesReference({.op = op, .batch = 0});
    ExpectMatchesReference({.op = op, .input = 0});
  }
}

}  // namespace
}  // namespace tensord
