#version 460
// MaxPool, AveragePool, LpPool over up to three spatial dimensions, an
// invocation an output.
#include "common.glsl"
#include "math.glsl"

layout(constant_id = 1) const uint DTYPE = FLOAT32;
layout(constant_id = 2) const uint KIND = 0;
layout(constant_id = 3) const uint CHANNELS_LAST = 0;
layout(constant_id = 4) const uint COUNTS_PADDING = 0;
layout(constant_id = 5) const uint IS_COLUMN_MAJOR = 0;

const uint MAX = 0, MEAN = 1, NORM = 2;

struct Axis {
  int kernel, stride, dilation, pad_begin, pad_end, extent, outputs;
};
layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer
    Window {
  Axis axes[3];
};

layout(push_constant, scalar) uniform Arguments {
  uint64_t x, y;
  uint64_t indices;  // of the maxima; may be absent
  uint64_t window;
  uint count;
  uint channels;  // of all images where they are not last
  uint p;
};

void main() {
  Window of = Window(window);
  const uint places =
      uint(of.axes[0].outputs * of.axes[1].outputs * of.axes[2].outputs);
  const uint inputs =
      uint(of.axes[0].extent * of.axes[1].extent * of.axes[2].extent);
  for (GRID_STRIDE(i, count)) {
    uint place;
    uint first;
    uint step;
    if (CHANNELS_LAST != 0) {
      place = i / channels % places;
      step = channels;
      first = i / (channels * places) * inputs * channels + i % channels;
    } else {
      place = i % places;
      step = 1;
      first = i / places * inputs;
    }
    int begins[3];
    uint rest = place;
    for (int d = 2; d >= 0; --d) {
      begins[d] = int(rest % uint(of.axes[d].outputs)) * of.axes[d].stride -
                  of.axes[d].pad_begin;
      rest /= uint(of.axes[d].outputs);
    }
    const bool is_float = IsFloat(DTYPE);
    float total = KIND == MAX ? -INFINITY : 0.0;
    int64_t largest = int64_t(IsUnsigned(DTYPE) ? 0 : -128);
    int64_t found = int64_t(-1);
    int seen = 0;
    for (int a = 0; a < of.axes[0].kernel; ++a) {
      const int at_a = begins[0] + a * of.axes[0].dilation;
      if (at_a < 0 || at_a >= of.axes[0].extent) continue;
      for (int b = 0; b < of.axes[1].kernel; ++b) {
        const int at_b = begins[1] + b * of.axes[1].dilation;
        if (at_b < 0 || at_b >= of.axes[1].extent) continue;
        for (int c = 0; c < of.axes[2].kernel; ++c) {
          const int at_c = begins[2] + c * of.axes[2].dilation;
          if (at_c < 0 || at_c >= of.axes[2].extent) continue;
          ++seen;
          const uint at = uint((at_a * of.axes[1].extent + at_b) *
                                   of.axes[2].extent +
                               at_c);
          // The first counts even where it is the least value there is.
          bool is_new = found < 0;
          if (is_float) {
            const float value = LoadFloat(DTYPE, x, first + at * step);
            if (KIND == MAX) {
              if (value > total) {
                total = value;
                is_new = true;
              }
            } else if (KIND == MEAN) {
              total += value;
            } else {
              total += p == 1 ? abs(value)
                       : p == 2 ? value * value
                                : Pow(abs(value), float(p));
            }
          } else {
            const int64_t value = LoadInteger(DTYPE, x, first + at * step);
            if (value > largest) {
              largest = value;
              is_new = true;
            }
          }
          if (is_new) {
            const uint own = IS_COLUMN_MAJOR == 0
                                 ? at
                                 : uint(at_a) + uint(of.axes[0].extent) *
                                       (uint(at_b) + uint(of.axes[1].extent) *
                                                         uint(at_c));
            found = int64_t(first + own);
          }
        }
      }
    }
    if (KIND == MEAN) {
      if (COUNTS_PADDING != 0) {
        seen = 1;
        for (int d = 0; d < 3; ++d) {
          const Axis axis = of.axes[d];
          int inside = 0;
          for (int t = 0; t < axis.kernel; ++t) {
            const int at = begins[d] + t * axis.dilation;
            if (at < axis.extent + axis.pad_end) ++inside;
          }
          seen *= inside;
        }
      }
      total = seen == 0 ? 0.0 : total / float(seen);
    } else if (KIND == NORM) {
      total = p == 1 ? total
              : p == 2 ? sqrt(total)
                       : Pow(total, 1.0 / float(p));
    }
    if (y != 0) {
      if (is_float) {
        StoreFloat(DTYPE, y, i, total);
      } else {
        StoreInteger(DTYPE, y, i, largest);
      }
    }
    if (indices != 0) Int64s(indices).at[i] = found;
  }
}
