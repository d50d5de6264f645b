#ifndef TENSORD_ENGINE_GRAPH_DIM_H_
#define TENSORD_ENGINE_GRAPH_DIM_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/shape.h"

namespace tensord {

// A symbol of one SymbolTable; the number means nothing elsewhere.
using SymbolId = int32_t;

// One extent of a shape: a number, or a symbol that stands for one.
// Threading and ownership: a plain value.
class Dim {
 public:
  Dim() = default;  // the known extent 0
  static Dim Known(int64_t extent) { return Dim(extent, kNoSymbol); }
  static Dim Symbol(SymbolId symbol) { return Dim(0, symbol); }

  bool is_known() const { return symbol_ == kNoSymbol; }
  int64_t extent() const { return extent_; }   // of a known dim
  SymbolId symbol() const { return symbol_; }  // of an unknown one

  friend bool operator==(Dim a, Dim b) {
    return a.extent_ == b.extent_ && a.symbol_ == b.symbol_;
  }
  friend bool operator!=(Dim a, Dim b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, Dim dim) {
    return H::combine(std::move(h), dim.extent_, dim.symbol_);
  }

 private:
  static constexpr SymbolId kNoSymbol = -1;
  Dim(int64_t extent, SymbolId symbol) : extent_(extent), symbol_(symbol) {}

  int64_t extent_ = 0;
  SymbolId symbol_ = kNoSymbol;
};

// A shape whose rank is known and whose extents may be symbols.
using SymbolicShape = absl::InlinedVector<Dim, 6>;

SymbolicShape ToSymbolic(const Shape& shape);
bool IsKnown(const SymbolicShape& shape);

// The concrete shape; every dim must be known. kInvalidArgument past the
// limits.
absl::StatusOr<Shape> ToConcrete(const SymbolicShape& shape);

// What the symbols of one inference are called, how large they can be, and
// which sums and products of them have been met: equal expressions get equal
// symbols, so that N*2 in one branch matches N*2 in the other.
//
// Threading: one thread at a time. Ownership: owns its names.
class SymbolTable {
 public:
  // No bound is known.
  static constexpr int64_t kUnbounded = -1;

  // The symbol of a name that the client gave ("batch"); the same for the same.
  Dim Named(absl::string_view name);

  // A new symbol that equals no other: an extent that only the data can tell.
  // `upper_bound` is the most that it can be, or kUnbounded.
  Dim DataDependent(int64_t upper_bound);

  // A new symbol that equals no other: an input's extent that the client left
  // open without a name.
  Dim Unnamed();

  // The symbol, which is of an input, is at most this; of several bounds the
  // least holds. Before any expression of it is made.
  void LimitTo(Dim symbol, int64_t upper_bound);

  // Exact where both are known, else the expression's symbol. Known operands
  // must not overflow: extents are at most kMaxElementCount, and results past
  // 2^62 are clamped there, where Shape::Create refuses them.
  Dim Add(Dim a, Dim b);
  Dim Multiply(Dim a, Dim b);
  Dim FloorDivide(Dim a, Dim b);  // b known and at least 1, or a symbol
  Dim Subtract(Dim a, Dim b);     // known results below 0 stay, for the caller

  // "batch"; "(batch*2)" for an expression that is short; "?3" for what has no
  // name; the number for a known dim. Clients' names are escaped.
  std::string ToString(Dim dim) const;
  std::string ToString(absl::Span<const Dim> shape) const;

  int64_t upper_bound(SymbolId symbol) const;
  // The extent of a known dim, the bound of a symbol.
  int64_t UpperBoundOf(Dim dim) const;
  bool is_data_dependent(SymbolId symbol) const;
  // A sum, product, ... of other symbols.
  bool is_expression(SymbolId symbol) const;
  int symbol_count() const { return static_cast<int>(symbols_.size()); }

 private:
  struct SymbolInfo {
    std::string text = {};  // for messages; empty when there is nothing to say
    int64_t upper_bound = kUnbounded;
    bool is_data_dependent = false;
    char operation = 0;  // of an expression: + - * /
    Dim left = {};       // its operands
    Dim right = {};
  };

  SymbolId NewSymbol(SymbolInfo info);
  Dim Expression(char operation, Dim a, Dim b, int64_t upper_bound);

  // The factors of a product, numbers and symbols; false when they are too many
  // to handle.
  bool AppendFactors(Dim dim, std::vector<Dim>& factors) const;
  // The product, in an order that depends on the factors alone.
  Dim ProductOf(std::vector<Dim> factors);
  // Takes the divisor's factors out of the dividend's; false when some is not
  // there, and the lists are then of no use.
  bool CancelFactors(std::vector<Dim>& dividend,
                     std::vector<Dim>& divisor) const;

  int64_t SumOfBounds(Dim a, Dim b) const;
  int64_t ProductOfBounds(Dim a, Dim b) const;

  std::vector<SymbolInfo> symbols_;
  absl::flat_hash_map<std::string, SymbolId> by_name_;
  absl::flat_hash_map<std::tuple<char, Dim, Dim>, SymbolId> by_expression_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_DIM_H_
