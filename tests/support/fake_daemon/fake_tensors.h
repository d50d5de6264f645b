#ifndef TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_TENSORS_H_
#define TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_TENSORS_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tensord/v1/tensor_service.grpc.pb.h"
#include "tests/support/fake_daemon/fake_sessions.h"

namespace tensord::testing {

// Tensors in this process' memory, over streams that break where a test says.
// Threading: thread-safe, but for the members that say where.
class FakeTensors : public v1::TensorService::Service {
 public:
  FakeTensors(FakeBegin begin, int page_size)
      : begin_(std::move(begin)), page_size_(page_size) {}

  // Each stream breaks off with UNAVAILABLE once it had so many bytes. 0: none
  // does.
  int64_t break_after_bytes = 0;
  // How many streams break.
  int break_count = 1;
  // An upload is complete, but its answer gets lost.
  bool loses_answers = false;
  // Downloads have a wrong byte.
  bool corrupts = false;

  grpc::Status UploadTensor(grpc::ServerContext* context,
                            grpc::ServerReader<v1::UploadTensorRequest>* reader,
                            v1::TensorInfo* response) override;
  grpc::Status GetTensorUpload(grpc::ServerContext* context,
                               const v1::GetTensorUploadRequest* request,
                               v1::TensorUpload* response) override;
  grpc::Status DownloadTensor(
      grpc::ServerContext* context, const v1::DownloadTensorRequest* request,
      grpc::ServerWriter<v1::DownloadTensorResponse>* writer) override;
  grpc::Status GetTensor(grpc::ServerContext* context,
                         const v1::GetTensorRequest* request,
                         v1::TensorInfo* response) override;
  grpc::Status ListTensors(grpc::ServerContext* context,
                           const v1::ListTensorsRequest* request,
                           v1::ListTensorsResponse* response) override;
  grpc::Status DeleteTensor(grpc::ServerContext* context,
                            const v1::DeleteTensorRequest* request,
                            v1::DeleteTensorResponse* response) override;

  // What came and went.
  std::vector<v1::UploadTensorHeader> headers() const;
  std::vector<v1::DownloadTensorRequest> downloads() const;
  std::string DataOf(const std::string& tensor_id) const;
  size_t count() const;

 private:
  struct Upload {
    v1::UploadTensorHeader header;
    std::string data;
    std::string tensor_id;
  };

  // Whether this stream breaks now.
  bool Breaks(int64_t stream_bytes);
  grpc::Status Complete(Upload& upload, v1::TensorInfo& info)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const FakeBegin begin_;
  const int page_size_;
  mutable absl::Mutex mu_;
  std::map<std::string, Upload> uploads_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::pair<v1::TensorInfo, std::string>> tensors_
      ABSL_GUARDED_BY(mu_);
  std::vector<v1::UploadTensorHeader> headers_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::DownloadTensorRequest> downloads_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord::testing

#endif  // TENSORD_TESTS_SUPPORT_FAKE_DAEMON_FAKE_TENSORS_H_
