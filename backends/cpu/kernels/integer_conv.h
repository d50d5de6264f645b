#ifndef TENSORD_BACKENDS_CPU_KERNELS_INTEGER_CONV_H_
#define TENSORD_BACKENDS_CPU_KERNELS_INTEGER_CONV_H_

#include <algorithm>
#include <cstdint>

#include "backends/api/conv_geometry.h"
#include "backends/api/host_services.h"
#include "backends/cpu/kernels/conv_rows.h"
#include "backends/cpu/kernels/conv_windows.h"
#include "backends/cpu/kernels/integer_gemm.h"
#include "backends/cpu/kernels/quantized_bytes.h"

// Convolutions of 8-bit integers with int32 sums, shared by ConvInteger and
// QLinearConv. Padding is x's zero point, so that it adds nothing.
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

struct IntegerConv {
  conv::Geometry geometry;
  QuantizedBytes x;
  QuantizedBytes w;
  int x_zero = 0;
  // None, one, or one for each output channel.
  QuantizedBytes w_zeros;
  bool has_zero_a_channel = false;

  int w_zero(int64_t channel) const {
    if (!w_zeros.is_present()) return 0;
    return w_zeros.at(has_zero_a_channel ? channel : 0);
  }

  // Calls store(channel, index in y, count, sums) for stretches of y, where
  // sums[i] belongs to y's element index + i.
  template <typename Store>
  void Run(WorkerPool& workers, Store store) const {
    // Below this many output channels a group, packing the windows costs more
    // than the product.
    constexpr int64_t kMinMatrixRows = 4;
    if (geometry.rows < kMinMatrixRows) {
      RunDirect(workers, store);
    } else {
      RunProduct(workers, store);
    }
  }

 private:
  template <typename Store>
  void RunDirect(WorkerPool& workers, Store store) const {
    conv::ForRowStretches(
        workers, geometry, [&](const conv::RowStretch& stretch) {
          // Unsigned, since sums may wrap around.
          uint32_t sums[conv::kRowStretch] = {};
          const int zero = w_zero(stretch.channel);
          conv::AddRow(
              geometry, stretch,
              [this](int64_t i) {
                return static_cast<uint32_t>(x.at(i) - x_zero);
              },
              [&](int64_t i) { return static_cast<uint32_t>(w.at(i) - zero); },
              sums);
          int32_t signed_sums[conv::kRowStretch];
          std::copy_n(sums, stretch.count, signed_sums);
          store(stretch.channel, stretch.output, stretch.count, signed_sums);
        });
  }

  template <typename Store>
  void RunProduct(WorkerPool& workers, Store store) const {
    const integer_gemm::Machine machine = integer_gemm::ThisMachine();
    const int64_t outputs = geometry.outputs();
    const int64_t k = geometry.depth();
    integer_gemm::ForTiles(
        workers, geometry.images * geometry.groups, geometry.rows, outputs,
        [&](int64_t index, int64_t m0, int64_t m1, int64_t n0, int64_t n1) {
          const int64_t first_channel = index % geometry.groups * geometry.rows;
          const int64_t x_group = index * geometry.channels * geometry.inputs();
          integer_gemm::MultiplyTile(
              machine, k, m0, m1, n0, n1,
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  int16_t* panels) {
                PackByteRows(
                    w, k, first_channel + first, count, k0, depth, machine.rows,
                    [this](int64_t m) { return w_zero(m); }, panels);
              },
              [&](int64_t first, int64_t count, int64_t k0, int64_t depth,
                  int16_t* panels) {
                PackWindows(x_group, first, count, k0, depth, machine.columns,
                            panels);
              },
              [&](int64_t m, const int32_t* sums) {
                store(first_channel + m,
                      (index * geometry.rows + m) * outputs + n0, n1 - n0,
                      sums);
              });
        });
  }

  void PackWindows(int64_t x_group, int64_t n0, int64_t count, int64_t k0,
                   int64_t depth, int panel_columns, int16_t* panels) const {
    static_assert(integer_gemm::kMaxColumns <= conv::kMaxPanelColumns);
    const conv::Axis& axis = geometry.axes[2];
    const int64_t stride = axis.window.stride;
    const auto shift = static_cast<int16_t>(x.bias + x_zero);
    const int64_t pairs = (depth + 1) / 2;
    for (int64_t first = 0; first < count; first += panel_columns) {
      std::fill_n(panels, pairs * panel_columns * 2, int16_t{0});
      conv::ForWindowRows(
          geometry, n0 + first, std::min<int64_t>(panel_columns, count - first),
          k0, depth,
          [&](int64_t t, const conv::Run& run, int64_t row, int64_t start) {
            if (row < 0) return;
            const uint8_t* source = x.elements + (x_group + row);
            int16_t* out =
                panels + t / 2 * 2 * panel_columns + t % 2 + 2 * run.column;
            const auto [begin, end] =
                conv::Inside(axis.input, start, stride, run.length);
            for (int64_t i = begin; i < end; ++i) {
              out[2 * i] = static_cast<int16_t>(
                  (source[start + i * stride] ^ x.flip) - shift);
            }
          });
      panels += pairs * panel_columns * 2;
    }
  }
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_INTEGER_CONV_H_
