#include "server/rpc/request_fingerprint.h"

#include <cstdint>

#include "server/sessions/sha256.h"
#include "server/tensors/tensor_upload.h"

namespace tensord {
namespace {

// Numbers and texts one after the other, each text behind its length.
class Fields {
 public:
  void Add(int64_t number) {
    sha_.Add({reinterpret_cast<const char*>(&number), sizeof(number)});
  }
  void Add(absl::string_view text) {
    Add(static_cast<int64_t>(text.size()));
    sha_.Add(text);
  }
  void Add(const HostValue& value) {
    AddTensorHead(value.dtype, value.shape, sha_);
    Add({reinterpret_cast<const char*>(value.bytes.data()),
         value.bytes.size()});
  }
  std::string Finish() { return std::string(BytesOf(sha_.Finish())); }

 private:
  Sha256 sha_;
};

}  // namespace

std::string FingerprintOf(absl::string_view graph_id, const RunPlan& plan,
                          const Execution& execution) {
  Fields fields;
  fields.Add(graph_id);
  fields.Add(plan.comparable_options);
  fields.Add(static_cast<int64_t>(plan.outputs.size()));
  for (const OutputWish& output : plan.outputs) {
    fields.Add(static_cast<int64_t>(output.index));
    fields.Add(int64_t{output.stays});
    fields.Add(output.time_to_live.has_value()
                   ? absl::ToInt64Nanoseconds(*output.time_to_live)
                   : -1);
    fields.Add(output.reuse_input.has_value()
                   ? static_cast<int64_t>(*output.reuse_input)
                   : -1);
  }
  fields.Add(static_cast<int64_t>(plan.handles.size()));
  for (const RunPlan::Handle& handle : plan.handles) {
    fields.Add(static_cast<int64_t>(handle.input));
    fields.Add(handle.tensor_id);
    fields.Add(int64_t{handle.donate});
  }
  for (const HostValue& input : execution.inputs) fields.Add(input);
  return fields.Finish();
}

}  // namespace tensord
