#include "tools/tensordctl/top_classes.h"

#include <algorithm>
#include <cmath>

#include "tools/tensordctl/elements.h"

namespace tensord::ctl {
namespace {

bool IsBefore(const ScoredClass& a, const ScoredClass& b) {
  if (std::isnan(a.score) != std::isnan(b.score)) return std::isnan(b.score);
  if (a.score > b.score || a.score < b.score) return a.score > b.score;
  return a.index < b.index;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<ScoredClass>>> TopClasses(
    const v1::Tensor& tensor, int64_t count) {
  const auto values = AsDoubles(tensor);
  if (!values.ok()) return values.status();
  const int64_t classes =
      tensor.dims().empty() ? 1 : tensor.dims(tensor.dims_size() - 1);
  std::vector<std::vector<ScoredClass>> rows;
  if (classes <= 0) return rows;
  const int64_t row_count = static_cast<int64_t>(values->size()) / classes;
  for (int64_t row = 0; row < row_count; ++row) {
    std::vector<ScoredClass> scored(static_cast<size_t>(classes));
    for (int64_t i = 0; i < classes; ++i) {
      scored[static_cast<size_t>(i)] = {
          i, (*values)[static_cast<size_t>(row * classes + i)]};
    }
    const int64_t kept = std::min(count, classes);
    std::partial_sort(scored.begin(), scored.begin() + kept, scored.end(),
                      IsBefore);
    scored.resize(static_cast<size_t>(kept));
    rows.push_back(std::move(scored));
  }
  return rows;
}

}  // namespace tensord::ctl
