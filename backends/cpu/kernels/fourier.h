#ifndef TENSORD_BACKENDS_CPU_KERNELS_FOURIER_H_
#define TENSORD_BACKENDS_CPU_KERNELS_FOURIER_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/launch_context.h"
#include "backends/cpu/kernels/is_stopped.h"

// The discrete Fourier transform of one line of complex numbers, for DFT and
// STFT.
//
//   y[k] = sum over n of x[n] * exp(-2 pi i k n / length)
//
// A length that is a product of small primes is transformed by Stockham's
// algorithm, a pass for each factor (the order of the elements comes out right
// by itself). Any other becomes a convolution with a chirp (Bluestein, 1970),
// which is done by transforms of a power of two. Either takes O(n log n), so
// that no length that a client likes takes minutes.
//
// The tables of a length are on the host and count for no run's memory but for
// the compiled graph's that has them; CheckLength() bounds them.
namespace tensord::fourier {

// std::complex multiplies with care for infinities, which costs a call.
template <typename Number>
struct Complex {
  Number re;
  Number im;

  friend Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

// The largest factor of a length that has a pass of its own.
inline constexpr int kMaxRadix = 13;

// The least power of two that holds the convolution of Bluestein's algorithm.
inline int64_t ConvolutionLength(int64_t length) {
  int64_t power = 1;
  while (power < 2 * length - 1) power *= 2;
  return power;
}

// The longest transform that has tables. At this length a convolution's chirp,
// filter and roots, and the scratch to make them, are 224 MiB of float64,
// made in about a second; a length of small factors takes 64 MiB. So lengths
// of small factors are served up to this one, and all others up to its half.
inline constexpr int64_t kMaxTransform = int64_t{1} << 22;

// kResourceExhausted for a length whose tables would be too large; `length` is
// in [1, 2^60].
inline absl::Status CheckLength(int64_t length) {
  int64_t rest = length;
  for (int radix : {2, 3, 5, 7, 11, 13}) {
    while (rest % radix == 0) rest /= radix;
  }
  const int64_t transform = rest == 1 ? length : ConvolutionLength(length);
  if (transform <= kMaxTransform) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the transform's length ", length, " takes tables of ",
                   transform, " elements, above ", kMaxTransform));
}

// exp(-2 pi i k / length); k in [0, length).
template <typename Number>
Complex<Number> Root(int64_t k, int64_t length) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k) /
                       static_cast<double>(length);
  return {static_cast<Number>(std::cos(angle)),
          static_cast<Number>(std::sin(angle))};
}

// Transforms of a length that has no prime factor above kMaxRadix.
template <typename Number>
class SmallFactors {
 public:
  SmallFactors() = default;
  // False, and of no use, for any other length.
  bool Init(int64_t length) {
    int64_t rest = length;
    for (int radix : {4, 2, 3, 5, 7, 11, 13}) {
      for (; rest % radix == 0; rest /= radix) radices_.push_back(radix);
    }
    if (rest != 1) return false;
    length_ = length;
    roots_.reserve(length);
    for (int64_t k = 0; k < length; ++k) {
      roots_.push_back(Root<Number>(k, length));
    }
    return true;
  }

  uint64_t footprint_bytes() const {
    return radices_.capacity() * sizeof(int) +
           roots_.capacity() * sizeof(Complex<Number>);
  }

  // Where the result is: in `data`, which held the input, or in `scratch`.
  Complex<Number>* Run(Complex<Number>* data, Complex<Number>* scratch) const {
    int64_t extent = length_;
    int64_t stride = 1;
    for (int radix : radices_) {
      switch (radix) {
        case 4:
          PassOf4(extent, stride, data, scratch);
          break;
        case 2:
          PassOf2(extent, stride, data, scratch);
          break;
        case 3:
          PassOf<3>(extent, stride, data, scratch);
          break;
        case 5:
          PassOf<5>(extent, stride, data, scratch);
          break;
        case 7:
          PassOf<7>(extent, stride, data, scratch);
          break;
        case 11:
          PassOf<11>(extent, stride, data, scratch);
          break;
        case 13:
          PassOf<13>(extent, stride, data, scratch);
          break;
      }
      extent /= radix;
      stride *= radix;
      std::swap(data, scratch);
    }
    return data;
  }

 private:
  using Value = Complex<Number>;

  // A pass takes `stride` transforms of `extent` elements to `radix` times as
  // many of one radix-th, with `extent` * `stride` = length_:
  //
  //   y[q + stride * (radix * p + k)] = exp(-2 pi i p k / extent) *
  //       sum over j of x[q + stride * (p + part * j)] * exp(-2 pi i j k /
  //       radix)
  //
  // for part = extent / radix, p < part and q < stride.
  void PassOf2(int64_t extent, int64_t stride, const Value* x, Value* y) const {
    const int64_t part = extent / 2;
    for (int64_t p = 0; p < part; ++p) {
      const Value turn = roots_[p * stride];
      const Value* a = x + stride * p;
      Value* out = y + stride * 2 * p;
      for (int64_t q = 0; q < stride; ++q) {
        const Value first = a[q];
        const Value second = a[q + stride * part];
        out[q] = first + second;
        out[q + stride] = (first - second) * turn;
      }
    }
  }

  void PassOf4(int64_t extent, int64_t stride, const Value* x, Value* y) const {
    const int64_t part = extent / 4;
    for (int64_t p = 0; p < part; ++p) {
      const Value turn1 = roots_[p * stride];
      const Value turn2 = roots_[2 * p * stride];
      const Value turn3 = roots_[3 * p * stride];
      const Value* a = x + stride * p;
      Value* out = y + stride * 4 * p;
      for (int64_t q = 0; q < stride; ++q) {
        const Value even = a[q] + a[q + stride * part * 2];
        const Value odd = a[q] - a[q + stride * part * 2];
        const Value right = a[q + stride * part] + a[q + stride * part * 3];
        const Value wrong = a[q + stride * part] - a[q + stride * part * 3];
        const Value turned = {wrong.im, -wrong.re};  // by -i
        out[q] = even + right;
        out[q + stride] = (odd + turned) * turn1;
        out[q + stride * 2] = (even - right) * turn2;
        out[q + stride * 3] = (odd - turned) * turn3;
      }
    }
  }

  template <int kRadix>
  void PassOf(int64_t extent, int64_t stride, const Value* x, Value* y) const {
    const int64_t part = extent / kRadix;
    std::array<Value, kRadix> units;  // exp(-2 pi i j / kRadix)
    for (int j = 0; j < kRadix; ++j) units[j] = roots_[j * length_ / kRadix];
    std::array<Value, kRadix> turns, elements;
    for (int64_t p = 0; p < part; ++p) {
      for (int k = 0; k < kRadix; ++k) turns[k] = roots_[p * k * stride];
      const Value* a = x + stride * p;
      Value* out = y + stride * kRadix * p;
      for (int64_t q = 0; q < stride; ++q) {
        for (int j = 0; j < kRadix; ++j) elements[j] = a[q + stride * part * j];
        for (int k = 0; k < kRadix; ++k) {
          Value sum = elements[0];
          for (int j = 1; j < kRadix; ++j) {
            sum = sum + elements[j] * units[j * k % kRadix];
          }
          out[q + stride * k] = sum * turns[k];
        }
      }
    }
  }

  int64_t length_ = 0;
  std::vector<int> radices_;
  std::vector<Value> roots_;  // exp(-2 pi i k / length_)
};

// What one length needs, made ahead of the runs.
// Threading: immutable once made. Ownership: owns its tables.
template <typename Number>
class Transform {
 public:
  using Value = Complex<Number>;

  // `length` is at least 1, and CheckLength() has passed it.
  explicit Transform(int64_t length) : length_(length) {
    if (direct_.Init(length)) return;
    padded_ = ConvolutionLength(length);
    convolution_.Init(padded_);
    // exp(-pi i n^2 / length). The square is taken modulo the period, so that
    // the angle stays small, and 128 bits hold it.
    chirp_.reserve(length);
    for (int64_t n = 0; n < length; ++n) {
      const auto square = static_cast<__int128>(n) * n % (2 * length);
      chirp_.push_back(Root<Number>(static_cast<int64_t>(square), 2 * length));
    }
    MakeFilter();
  }

  int64_t length() const { return length_; }

  // Host bytes of the tables.
  uint64_t footprint_bytes() const {
    return direct_.footprint_bytes() + convolution_.footprint_bytes() +
           (chirp_.capacity() + filter_.capacity()) * sizeof(Value);
  }

  // How many complex numbers each of Run's two places must hold. Grows with the
  // length, whichever algorithm it takes.
  static int64_t PlaceSize(int64_t length) { return ConvolutionLength(length); }

  // Transforms data[0, length); the result is in one of the two places, and
  // what the other holds is undefined.
  Value* Run(Value* data, Value* scratch) const {
    if (padded_ == 0) return direct_.Run(data, scratch);
    for (int64_t n = 0; n < length_; ++n) data[n] = data[n] * chirp_[n];
    for (int64_t n = length_; n < padded_; ++n) data[n] = {0, 0};
    Value* spectrum = convolution_.Run(data, scratch);
    Value* other = spectrum == data ? scratch : data;
    // Back by the forward transform of the conjugate.
    for (int64_t k = 0; k < padded_; ++k) {
      const Value product = spectrum[k] * filter_[k];
      spectrum[k] = {product.re, -product.im};
    }
    Value* result = convolution_.Run(spectrum, other);
    for (int64_t k = 0; k < length_; ++k) {
      result[k] = Value{result[k].re, -result[k].im} * chirp_[k];
    }
    return result;
  }

 private:
  // The transform of the conjugate chirp, both ways from 0, over its length.
  void MakeFilter() {
    filter_.assign(padded_, Value{0, 0});
    std::vector<Value> scratch(padded_);
    const Number scale = Number{1} / static_cast<Number>(padded_);
    for (int64_t n = 0; n < length_; ++n) {
      const Value value = {chirp_[n].re * scale, -chirp_[n].im * scale};
      filter_[n] = value;
      if (n > 0) filter_[padded_ - n] = value;
    }
    const Value* result = convolution_.Run(filter_.data(), scratch.data());
    if (result == scratch.data()) filter_.swap(scratch);
  }

  int64_t length_;
  SmallFactors<Number> direct_;
  // Of Bluestein's algorithm; 0 and empty without it.
  int64_t padded_ = 0;
  SmallFactors<Number> convolution_;
  std::vector<Value> chirp_;   // [length_]
  std::vector<Value> filter_;  // [padded_]
};

// About what a line takes, for a kernel's cost.
inline double Flops(double length) {
  return 5 * length * std::log2(std::max(length, 2.0));
}

// Lines are transformed by up to this many tasks at once.
inline constexpr int64_t kMaxTasks = 16;

template <typename Number>
uint64_t WorkspaceBytes(int64_t line_count, int64_t length) {
  return static_cast<uint64_t>(std::min(line_count, kMaxTasks)) * 2 *
         Transform<Number>::PlaceSize(length) * sizeof(Complex<Number>);
}

// Calls `body(line, data, scratch)` for every line, with two places of the
// workspace that no other call has at that time.
template <typename Number, typename Body>
void ForEachLine(const LaunchContext& context, int64_t line_count,
                 int64_t length, Body body) {
  if (line_count == 0) return;  // nor is there a workspace
  const int64_t place = Transform<Number>::PlaceSize(length);
  const int64_t tasks = std::min(line_count, kMaxTasks);
  auto* places =
      reinterpret_cast<Complex<Number>*>(context.workspace.address());
  context.workers->ParallelFor(tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      Complex<Number>* data = places + task * 2 * place;
      // Each task's share: the first ones have one line more.
      const int64_t share = line_count / tasks;
      const int64_t rest = line_count % tasks;
      const int64_t first = task * share + std::min(task, rest);
      const int64_t last = first + share + (task < rest ? 1 : 0);
      for (int64_t line = first; line < last && !IsStopped(context); ++line) {
        body(line, data, data + place);
      }
    }
  });
}

}  // namespace tensord::fourier

#endif  // TENSORD_BACKENDS_CPU_KERNELS_FOURIER_H_
