#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_STATE_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_STATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/kernel.h"
#include "backends/api/packed_weights.h"
#include "backends/api/storage.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/onednn/conv_describer.h"
#include "backends/cpu/onednn/primitive.h"

namespace tensord::onednn {

// The operands of one launch of a convolution: bytes of the site's dtypes.
struct ConvOperands {
  const void* x = nullptr;
  const void* bias = nullptr;  // null without one
  int32_t x_zero = 0;          // where the site leaves it to the run
  void* y = nullptr;
};

// A convolution in parts: its primitives, and weights packed for them. Where
// channels come first, each part turns its piece of x around, and its piece of
// y back; where factors are rounded, it rounds its piece of x. The node's
// epilogue is computed part by part.
//
// Threading: immutable once made; any number of threads may run it.
class ConvState final : public KernelState, public UsesPackedWeights {
 public:
  // OK, or why the library is no use for the convolution. Something is to be
  // computed.
  static absl::Status Accepts(const ConvSite& site);

  static uint64_t WorkspaceBytes(const ConvSite& site);

  // `w` are the node's weights, [M, C / groups, kernel...] of the site's dtype,
  // or float32 that is to be rounded.
  static absl::StatusOr<std::unique_ptr<KernelState>> Create(
      const NodeSite& node, const ConvSite& site, const Unpacked& w,
      Device& device);

  absl::Status Run(const KernelCall& call, const ConvOperands& operands) const;

  uint64_t footprint_bytes() const override;
  void AppendPacked(Packed& to) const override;

 private:
  // The scratch memory of one part, in pieces.
  struct Scratch {
    uint64_t x_bytes = 0;        // a piece of x turned around, or none
    uint64_t rounded_bytes = 0;  // the same rounded to bfloat16, or none
    uint64_t y_bytes = 0;  // a piece of y that is not yet where it belongs
    uint64_t library_bytes = 0;

    uint64_t total() const;
  };
  // How weights of so many output channels are packed.
  struct WeightFormat {
    int64_t channels;
    dnnl_memory_desc_t desc;
  };
  class Launch;

  explicit ConvState(const ConvDescriber& describer)
      : describer_(describer),
        scratch_(ScratchOf(describer)),
        forms_(describer.Forms()) {}

  static Scratch ScratchOf(const ConvDescriber& describer);
  absl::Status MakePrimitives();
  absl::StatusOr<PrimitiveDesc> ChooseWeights(const ConvForm& form);
  absl::Status PackWeights(const Unpacked& w, Device& device);

  const ConvDescriber describer_;
  const Scratch scratch_;
  const std::vector<ConvForm> forms_;
  std::unique_ptr<const EpiloguePlan> epilogue_;        // null without one
  std::vector<std::unique_ptr<Primitive>> primitives_;  // by form
  std::vector<WeightFormat> formats_;
  std::vector<size_t> format_of_form_;
  // By format, then by part of the output channels; null for parts that are not
  // of the format's number of channels.
  // The device counts them.
  std::vector<std::vector<std::shared_ptr<const Storage>>> packed_weights_;
};

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_STATE_H_
