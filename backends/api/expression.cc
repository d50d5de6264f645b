#include "backends/api/expression.h"

namespace tensord {

ExpressionPlaces AssignPlaces(const Expression& expression) {
  const int32_t first = expression.FirstStepValue();
  const auto step_count = static_cast<int32_t>(expression.steps.size());
  std::vector<int32_t> last_reader(step_count, -1);
  for (int32_t i = 0; i < step_count; ++i) {
    for (const int32_t operand : expression.steps[i].operands) {
      if (operand >= first) last_reader[operand - first] = i;
    }
  }

  ExpressionPlaces result;
  result.place.resize(step_count);
  std::vector<int32_t> free_places;
  for (int32_t i = 0; i < step_count; ++i) {
    for (const int32_t operand : expression.steps[i].operands) {
      if (operand < first) continue;
      int32_t& reader = last_reader[operand - first];
      if (reader != i) continue;
      free_places.push_back(result.place[operand - first]);
      reader = -1;  // an operand that is read twice is freed once
    }
    if (free_places.empty()) free_places.push_back(result.count++);
    result.place[i] = free_places.back();
    free_places.pop_back();
  }
  return result;
}

}  // namespace tensord
