#include "server/rpc/execute_answer.h"

#include <grpc/slice.h>

#include <cstddef>
#include <string>
#include <utility>

#include "server/rpc/owned_slice.h"
#include "server/rpc/tensor_messages.h"

namespace tensord {

void AddKeptOutputs(absl::Span<const KeptOutput> outputs,
                    ExecuteEncoder& encoder) {
  for (const KeptOutput& output : outputs) {
    if (output.tensor != nullptr) {
      v1::TensorInfo info;
      FillTensorInfo(*output.tensor, info);
      encoder.AddHandle(output.name, info.SerializeAsString());
    } else {
      encoder.AddOutput(output.name, {output.dtype, output.shape,
                                      PooledBuffer::ShareOf(output.bytes)});
    }
  }
}

void TakeSlices(ExecuteEncoder& encoder, ActiveCalls& calls,
                std::vector<grpc::Slice>& slices) {
  const std::string& text = encoder.text();
  const grpc_slice headers =
      grpc_slice_from_copied_buffer(text.data(), text.size());
  size_t begin = 0;
  for (ExecuteEncoder::Part& part : encoder.parts()) {
    const size_t end = begin + part.header_bytes;
    slices.emplace_back(grpc_slice_sub(headers, begin, end),
                        grpc::Slice::STEAL_REF);
    begin = end;
    if (part.data.size() == 0) continue;
    const std::byte* data = part.data.data();
    const size_t size = part.data.size();
    slices.push_back(OwnedSlice(data, size, std::move(part.data), calls));
  }
  grpc_slice_unref(headers);
  encoder.parts().clear();
}

}  // namespace tensord
