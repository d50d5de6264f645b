#include "engine/graph/dim.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/escape.h"

namespace tensord {
namespace {

constexpr int64_t kClamp = int64_t{1} << 62;

// An expression is written out in messages up to this length; "?3" beyond.
constexpr size_t kMaxExpressionText = 40;

// Products of more factors than this are not brought to a common order: a chain
// of squarings would otherwise double the work with each step.
constexpr size_t kMaxFactors = 16;

int64_t Clamp(__int128 value) {
  if (value > kClamp) return kClamp;
  if (value < -kClamp) return -kClamp;
  return static_cast<int64_t>(value);
}

int64_t FloorOfQuotient(int64_t a, int64_t b) {
  if (b <= 0) return 0;  // no rule divides by it; not worth a trap
  const int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// A total order, so that a+b and b+a are one expression. Numbers come last.
bool Before(Dim a, Dim b) {
  if (a.is_known() != b.is_known()) return b.is_known();
  return a.is_known() ? a.extent() < b.extent() : a.symbol() < b.symbol();
}

}  // namespace

SymbolicShape ToSymbolic(const Shape& shape) {
  SymbolicShape symbolic;
  symbolic.reserve(shape.rank());
  for (int64_t extent : shape.extents()) symbolic.push_back(Dim::Known(extent));
  return symbolic;
}

bool IsKnown(const SymbolicShape& shape) {
  return std::all_of(shape.begin(), shape.end(),
                     [](Dim dim) { return dim.is_known(); });
}

absl::StatusOr<Shape> ToConcrete(const SymbolicShape& shape) {
  Dims extents;
  extents.reserve(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is_known()) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", i, " of ", shape.size(), " is not known"));
    }
    extents.push_back(shape[i].extent());
  }
  return Shape::Create(extents);
}

Dim SymbolTable::Named(absl::string_view name) {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) return Dim::Symbol(it->second);
  const SymbolId symbol = NewSymbol(SymbolInfo{.text = Escape(name)});
  by_name_.emplace(std::string(name), symbol);
  return Dim::Symbol(symbol);
}

Dim SymbolTable::DataDependent(int64_t upper_bound) {
  return Dim::Symbol(NewSymbol(
      SymbolInfo{.upper_bound = upper_bound, .is_data_dependent = true}));
}

Dim SymbolTable::Unnamed() { return Dim::Symbol(NewSymbol(SymbolInfo{})); }

void SymbolTable::LimitTo(Dim symbol, int64_t upper_bound) {
  int64_t& bound = symbols_[symbol.symbol()].upper_bound;
  bound = bound == kUnbounded ? upper_bound : std::min(bound, upper_bound);
}

Dim SymbolTable::Add(Dim a, Dim b) {
  if (a.is_known() && b.is_known()) {
    return Dim::Known(Clamp(__int128{a.extent()} + b.extent()));
  }
  if (Before(b, a)) std::swap(a, b);
  if (!b.is_known()) {
    if (a == b) return Multiply(a, Dim::Known(2));
    return Expression('+', a, b, SumOfBounds(a, b));
  }
  if (b.extent() == 0) return a;
  // (x + 2) - 2 is x again: how a padded window of stride 1 keeps its extent.
  const SymbolInfo& info = symbols_[a.symbol()];
  if (info.operation == '+' && info.right.is_known()) {
    return Add(info.left, Add(info.right, b));
  }
  return Expression('+', a, b, SumOfBounds(a, b));
}

Dim SymbolTable::Subtract(Dim a, Dim b) {
  if (a == b) return Dim::Known(0);
  if (b.is_known()) return Add(a, Dim::Known(Clamp(-__int128{b.extent()})));
  // (x + y) - y
  if (!a.is_known()) {
    const SymbolInfo& info = symbols_[a.symbol()];
    if (info.operation == '+' && info.left == b) return info.right;
    if (info.operation == '+' && info.right == b) return info.left;
  }
  return Expression('-', a, b, UpperBoundOf(a));
}

Dim SymbolTable::Multiply(Dim a, Dim b) {
  if (a.is_known() && b.is_known()) {
    return Dim::Known(Clamp(__int128{a.extent()} * b.extent()));
  }
  std::vector<Dim> factors;
  if (!AppendFactors(a, factors) || !AppendFactors(b, factors)) {
    if (Before(b, a)) std::swap(a, b);
    if (b.is_known() && b.extent() == 0) return b;
    if (b.is_known() && b.extent() == 1) return a;
    return Expression('*', a, b, ProductOfBounds(a, b));
  }
  return ProductOf(std::move(factors));
}

Dim SymbolTable::FloorDivide(Dim a, Dim b) {
  if (a.is_known() && b.is_known()) {
    return Dim::Known(FloorOfQuotient(a.extent(), b.extent()));
  }
  if (b.is_known() && b.extent() == 1) return a;
  if (a == b) return Dim::Known(1);
  // Common factors go: N*C*4 / (C*2) is N*2.
  std::vector<Dim> dividend;
  std::vector<Dim> divisor;
  if (AppendFactors(a, dividend) && AppendFactors(b, divisor) &&
      CancelFactors(dividend, divisor)) {
    return ProductOf(std::move(dividend));
  }
  int64_t bound = UpperBoundOf(a);
  if (bound != kUnbounded && b.is_known()) {
    bound = FloorOfQuotient(bound, b.extent());
  }
  return Expression('/', a, b, bound);
}

std::string SymbolTable::ToString(Dim dim) const {
  if (dim.is_known()) return absl::StrCat(dim.extent());
  if (dim.symbol() < 0 || dim.symbol() >= symbol_count()) return "?";
  const std::string& text = symbols_[dim.symbol()].text;
  return text.empty() ? absl::StrCat("?", dim.symbol()) : text;
}

std::string SymbolTable::ToString(absl::Span<const Dim> shape) const {
  return absl::StrCat("[",
                      absl::StrJoin(shape, ", ",
                                    [this](std::string* out, Dim dim) {
                                      absl::StrAppend(out, ToString(dim));
                                    }),
                      "]");
}

int64_t SymbolTable::upper_bound(SymbolId symbol) const {
  return symbols_[symbol].upper_bound;
}

bool SymbolTable::is_data_dependent(SymbolId symbol) const {
  return symbols_[symbol].is_data_dependent;
}

bool SymbolTable::is_expression(SymbolId symbol) const {
  return symbols_[symbol].operation != 0;
}

SymbolId SymbolTable::NewSymbol(SymbolInfo info) {
  symbols_.push_back(std::move(info));
  return static_cast<SymbolId>(symbols_.size()) - 1;
}

Dim SymbolTable::Expression(char operation, Dim a, Dim b, int64_t upper_bound) {
  const auto key = std::make_tuple(operation, a, b);
  const auto it = by_expression_.find(key);
  if (it != by_expression_.end()) return Dim::Symbol(it->second);

  const auto depends_on_data = [this](Dim dim) {
    return !dim.is_known() && symbols_[dim.symbol()].is_data_dependent;
  };
  SymbolInfo info{.upper_bound = upper_bound,
                  .is_data_dependent = depends_on_data(a) || depends_on_data(b),
                  .operation = operation,
                  .left = a,
                  .right = b};
  std::string text = absl::StrCat("(", ToString(a), std::string(1, operation),
                                  ToString(b), ")");
  if (text.size() <= kMaxExpressionText) info.text = std::move(text);
  const SymbolId symbol = NewSymbol(std::move(info));
  by_expression_.emplace(key, symbol);
  return Dim::Symbol(symbol);
}

bool SymbolTable::AppendFactors(Dim dim, std::vector<Dim>& factors) const {
  std::vector<Dim> open = {dim};
  while (!open.empty()) {
    const Dim next = open.back();
    open.pop_back();
    if (!next.is_known() && symbols_[next.symbol()].operation == '*') {
      open.push_back(symbols_[next.symbol()].left);
      open.push_back(symbols_[next.symbol()].right);
    } else {
      factors.push_back(next);
    }
    if (factors.size() + open.size() > kMaxFactors) return false;
  }
  return true;
}

Dim SymbolTable::ProductOf(std::vector<Dim> factors) {
  Dim coefficient = Dim::Known(1);
  std::vector<Dim> symbols;
  for (Dim factor : factors) {
    if (factor.is_known()) {
      coefficient =
          Dim::Known(Clamp(__int128{coefficient.extent()} * factor.extent()));
    } else {
      symbols.push_back(factor);
    }
  }
  if (symbols.empty() || coefficient.extent() == 0) return coefficient;
  std::sort(symbols.begin(), symbols.end(), Before);
  Dim product = symbols[0];
  for (size_t i = 1; i < symbols.size(); ++i) {
    product = Expression('*', product, symbols[i],
                         ProductOfBounds(product, symbols[i]));
  }
  if (coefficient.extent() == 1) return product;
  return Expression('*', product, coefficient,
                    ProductOfBounds(product, coefficient));
}

bool SymbolTable::CancelFactors(std::vector<Dim>& dividend,
                                std::vector<Dim>& divisor) const {
  int64_t dividend_coefficient = 1;
  int64_t divisor_coefficient = 1;
  const auto take_numbers = [](std::vector<Dim>& factors, int64_t& number) {
    const auto end =
        std::remove_if(factors.begin(), factors.end(), [&](Dim factor) {
          if (!factor.is_known()) return false;
          number = Clamp(__int128{number} * factor.extent());
          return true;
        });
    factors.erase(end, factors.end());
  };
  take_numbers(dividend, dividend_coefficient);
  take_numbers(divisor, divisor_coefficient);
  for (Dim factor : divisor) {
    const auto it = std::find(dividend.begin(), dividend.end(), factor);
    if (it == dividend.end()) return false;
    dividend.erase(it);
  }
  if (divisor_coefficient <= 0 ||
      dividend_coefficient % divisor_coefficient != 0) {
    return false;
  }
  dividend.push_back(Dim::Known(dividend_coefficient / divisor_coefficient));
  return true;
}

int64_t SymbolTable::UpperBoundOf(Dim dim) const {
  if (!dim.is_known()) return symbols_[dim.symbol()].upper_bound;
  return std::max<int64_t>(dim.extent(), 0);
}

int64_t SymbolTable::SumOfBounds(Dim a, Dim b) const {
  const int64_t bound_a = UpperBoundOf(a);
  if (bound_a == kUnbounded) return kUnbounded;
  // A known summand may be negative: it is a difference's right side.
  const int64_t bound_b = b.is_known() ? b.extent() : UpperBoundOf(b);
  if (!b.is_known() && bound_b == kUnbounded) return kUnbounded;
  return std::max<int64_t>(Clamp(__int128{bound_a} + bound_b), 0);
}

int64_t SymbolTable::ProductOfBounds(Dim a, Dim b) const {
  const int64_t bound_a = UpperBoundOf(a);
  const int64_t bound_b = UpperBoundOf(b);
  if (bound_a == kUnbounded || bound_b == kUnbounded) return kUnbounded;
  return Clamp(__int128{bound_a} * bound_b);
}

}  // namespace tensord
