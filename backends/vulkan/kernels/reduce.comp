#version 460
// Each output is made of the elements along some dimensions of a contiguous x:
// ReduceSum and its siblings, ArgMax and ArgMin. A work group an output, or an
// invocation where there are few elements for each.
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint KIND = 0;
layout(constant_id = 3) const uint IS_SINGLE = 0;     // an invocation an output
layout(constant_id = 4) const uint SELECTS_LAST = 0;  // of equal extremes

const uint SUM = 0, MEAN = 1, MAX = 2, MIN = 3, PROD = 4, L1 = 5, L2 = 6,
           SUM_SQUARE = 7, LOG_SUM = 8, LOG_SUM_EXP = 9, ARG_MAX = 10,
           ARG_MIN = 11;

const uint MOST_DIGITS = 4;
struct Digit {  // the innermost first
  uint extent;
  uint stride;
};
layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint outputs;
  uint count;  // elements of each
  uint kept_rank;
  uint reduced_rank;
  Digit kept[MOST_DIGITS];
  Digit reduced[MOST_DIGITS];
};

uint Offset(Digit digits[MOST_DIGITS], uint rank, uint i) {
  uint offset = 0;
  for (uint d = 0; d + 1 < rank; ++d) {
    offset += i % digits[d].extent * digits[d].stride;
    i /= digits[d].extent;
  }
  return rank == 0 ? 0u : offset + i * digits[rank - 1].stride;
}

// So far: a float's or an integer's total, and where an extreme was.
struct Total {
  float number;
  float rest;  // what `number` leaves out of a sum
  int64_t integer;
  uint index;
};
const uint NOWHERE = 0xffffffffu;

bool Selects() { return KIND == ARG_MAX || KIND == ARG_MIN; }
bool IsLess(int64_t a, int64_t b) {
  return IsUnsigned(DTYPE) ? uint64_t(a) < uint64_t(b) : a < b;
}

// Neumaier's sum, so that long ones keep their digits.
void AddNumber(inout Total total, float value) {
  precise const float sum = total.number + value;
  precise const float lost = abs(total.number) >= abs(value)
                                 ? (total.number - sum) + value
                                 : (value - sum) + total.number;
  total.rest += IsNan(lost) ? 0.0 : lost;
  total.number = sum;
}

Total First() {
  Total total = Total(0.0, 0.0, int64_t(0), NOWHERE);
  if (KIND == PROD) {
    total.number = 1.0;
    total.integer = int64_t(1);
  } else if (KIND == MAX || KIND == LOG_SUM_EXP) {
    total.number = -INFINITY;
  } else if (KIND == MIN) {
    total.number = INFINITY;
  }
  return total;
}

bool BeatsAsNumber(float a, float b) {
  if (IsNan(a) || IsNan(b)) return IsNan(a) && !IsNan(b);
  return KIND == ARG_MAX ? a > b : a < b;
}

void Merge(inout Total total, Total other) {
  const bool is_float = IsFloat(DTYPE);
  switch (KIND) {
    case MAX:
    case MIN:
      if (is_float) {
        if (IsNan(other.number) ||
            (KIND == MAX ? other.number > total.number
                         : other.number < total.number)) {
          total.number = IsNan(total.number) ? total.number : other.number;
        }
      } else if (other.index != NOWHERE &&
                 (total.index == NOWHERE ||
                  (KIND == MAX ? IsLess(total.integer, other.integer)
                               : IsLess(other.integer, total.integer)))) {
        total.integer = other.integer;
        total.index = other.index;
      }
      return;
    case ARG_MAX:
    case ARG_MIN: {
      if (other.index == NOWHERE) return;
      if (total.index == NOWHERE) {
        total = other;
        return;
      }
      bool wins;
      bool loses;
      if (is_float) {
        wins = BeatsAsNumber(other.number, total.number);
        loses = BeatsAsNumber(total.number, other.number);
      } else {
        wins = KIND == ARG_MAX ? IsLess(total.integer, other.integer)
                               : IsLess(other.integer, total.integer);
        loses = KIND == ARG_MAX ? IsLess(other.integer, total.integer)
                                : IsLess(total.integer, other.integer);
      }
      if (!wins && !loses) {
        wins = SELECTS_LAST != 0 ? other.index > total.index
                                 : other.index < total.index;
      }
      if (wins) total = other;
      return;
    }
    case PROD:
      total.number *= other.number;
      total.integer *= other.integer;
      return;
    default:
      AddNumber(total, other.number);
      total.rest += other.rest;
      total.integer += other.integer;
  }
}

// One element as a total of its own; `largest` is LogSumExp's.
Total Of(uint at, uint index, float largest) {
  Total one = First();
  one.index = index;
  if (IsFloat(DTYPE)) {
    const float value = LoadFloat(DTYPE, x, at);
    one.number = KIND == L1                            ? abs(value)
                 : KIND == L2 || KIND == SUM_SQUARE    ? value * value
                 : KIND == LOG_SUM_EXP                 ? Exp(value - largest)
                                                       : value;
  } else {
    const int64_t value = LoadInteger(DTYPE, x, at);
    one.integer = KIND == L1 && !IsUnsigned(DTYPE) && value < 0 ? -value
                  : KIND == SUM_SQUARE ? value * value
                                       : value;
  }
  return one;
}

shared Total totals[256];

Total OfGroup(Total mine) {
  if (IS_SINGLE != 0) return mine;
  const uint me = gl_LocalInvocationID.x;
  barrier();
  totals[me] = mine;
  for (uint step = WIDTH / 2; step > 0; step /= 2) {
    barrier();
    if (me < step) {
      Total total = totals[me];
      Merge(total, totals[me + step]);
      totals[me] = total;
    }
  }
  barrier();
  return totals[0];
}

void Store(uint output_index, Total total, float largest) {
  if (Selects()) {
    Int64s(y).at[output_index] =
        total.index == NOWHERE ? int64_t(0) : int64_t(total.index);
    return;
  }
  if (!IsFloat(DTYPE)) {
    int64_t result = total.integer;
    if (KIND == MAX && count == 0) result = LeastOf(DTYPE);
    if (KIND == MIN && count == 0) result = MostOf(DTYPE);
    if (KIND == MEAN) {
      result = count == 0 ? int64_t(0)
               : IsUnsigned(DTYPE)
                   ? int64_t(uint64_t(result) / uint64_t(count))
                   : result / int64_t(count);
    }
    StoreInteger(DTYPE, y, output_index, result);
    return;
  }
  const bool sums = KIND != MAX && KIND != MIN && KIND != PROD;
  float result = sums ? total.number + total.rest : total.number;
  switch (KIND) {
    case MEAN:
      result /= float(count);
      break;
    case L2:
      result = sqrt(result);
      break;
    case LOG_SUM:
      result = Log(result);
      break;
    case LOG_SUM_EXP:
      result = IsInf(largest) ? largest : Log(result) + largest;
      break;
  }
  StoreFloat(DTYPE, y, output_index, result);
}

void Reduce(uint output_index, uint begin, uint step) {
  const uint first = Offset(kept, kept_rank, output_index);
  float largest = -INFINITY;
  if (KIND == LOG_SUM_EXP) {
    Total mine = First();
    for (uint e = begin; e < count; e += step) {
      const float value =
          LoadFloat(DTYPE, x, first + Offset(reduced, reduced_rank, e));
      mine.number = value > mine.number || IsNan(value) ? value : mine.number;
    }
    if (IS_SINGLE == 0) {
      const uint me = gl_LocalInvocationID.x;
      barrier();
      totals[me].number = mine.number;
      for (uint half_way = WIDTH / 2; half_way > 0; half_way /= 2) {
        barrier();
        if (me < half_way) {
          const float a = totals[me].number;
          const float b = totals[me + half_way].number;
          totals[me].number = a < b || IsNan(b) ? b : a;
        }
      }
      barrier();
      mine.number = totals[0].number;
      barrier();
    }
    largest = mine.number;
  }
  Total mine = First();
  if (KIND == LOG_SUM_EXP) mine.number = 0.0;
  for (uint e = begin; e < count; e += step) {
    Merge(mine, Of(first + Offset(reduced, reduced_rank, e), e, largest));
  }
  mine = OfGroup(mine);
  if (IS_SINGLE != 0 || gl_LocalInvocationID.x == 0) {
    Store(output_index, mine, largest);
  }
}

void main() {
  if (IS_SINGLE != 0) {
    for (GRID_STRIDE(i, outputs)) Reduce(i, 0, 1);
  } else {
    for (uint i = gl_WorkGroupID.x; i < outputs; i += gl_NumWorkGroups.x) {
      Reduce(i, gl_LocalInvocationID.x, WIDTH);
    }
  }
}
