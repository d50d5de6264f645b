#include "clients/cpp/tensor_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "clients/cpp/client.h"
#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"

namespace tensord {
namespace {

using ::testing::ElementsAre;
using testing::FakeDaemon;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

v1::Tensor Bytes(size_t count) {
  std::vector<uint8_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint8_t>(i * 7);
  return MakeTensor<uint8_t>({static_cast<int64_t>(count)}, values);
}

ClientOptions Quick() {
  return {.retry = {.max_attempts = 3, .first_pause = absl::Milliseconds(1)}};
}

class TensorTransfer : public ::testing::Test {
 protected:
  FakeDaemon daemon;
  Client client = *Client::Connect(daemon.address(), Quick());
};

// Sizes around a chunk's.
class TensorSizes : public TensorTransfer,
                    public ::testing::WithParamInterface<size_t> {};

TEST_P(TensorSizes, GoThereAndBack) {
  const v1::Tensor tensor = Bytes(GetParam());
  const auto info =
      client.UploadTensor(tensor, {.device = "cpu:1", .chunk_bytes = 100});
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->device(), "cpu:1");
  EXPECT_EQ(daemon.tensors.DataOf(info->tensor_id()), tensor.data());
  EXPECT_THAT(daemon.tensors.headers()[0].data_sha256(), SizeIs(32));
  EXPECT_THAT(daemon.tensors.headers()[0].upload_id(), IsEmpty());
  const auto back =
      client.DownloadTensor(info->tensor_id(), {.chunk_bytes = 100});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->SerializeAsString(), tensor.SerializeAsString());
}
INSTANTIATE_TEST_SUITE_P(Sizes, TensorSizes,
                         ::testing::Values(0, 1, 99, 100, 101, 1000));

TEST_F(TensorTransfer, TellsItsProgress) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  const auto note = [&](int64_t done, int64_t size) {
    steps.emplace_back(done, size);
  };
  const auto info =
      client.UploadTensor(Bytes(25), {.chunk_bytes = 10, .progress = note});
  EXPECT_THAT(steps, ElementsAre(Pair(10, 25), Pair(20, 25), Pair(25, 25)));
  steps.clear();
  ASSERT_TRUE(client
                  .DownloadTensor(info->tensor_id(),
                                  {.chunk_bytes = 10, .progress = note})
                  .ok());
  EXPECT_THAT(steps, ElementsAre(Pair(10, 25), Pair(20, 25), Pair(25, 25)));
}

TEST_F(TensorTransfer, GoesOnWithAnUploadOfASession) {
  daemon.tensors.break_after_bytes = 300;
  daemon.tensors.break_count = 5;  // more often than one call is made again
  const v1::Tensor tensor = Bytes(2000);
  const auto info =
      client.UploadTensor(tensor, {.session_id = "s", .chunk_bytes = 100});
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(daemon.tensors.DataOf(info->tensor_id()), tensor.data());
  const auto headers = daemon.tensors.headers();
  ASSERT_THAT(headers, SizeIs(6));
  for (size_t i = 0; i < headers.size(); ++i) {
    EXPECT_EQ(headers[i].offset_bytes(), static_cast<int64_t>(300 * i));
    EXPECT_EQ(headers[i].upload_id(), headers[0].upload_id());
  }
}

TEST_F(TensorTransfer, BeginsAnUploadOfAConnectionAnew) {
  daemon.tensors.break_after_bytes = 300;
  const v1::Tensor tensor = Bytes(1000);
  const auto info = client.UploadTensor(tensor, {.chunk_bytes = 100});
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(daemon.tensors.DataOf(info->tensor_id()), tensor.data());
  ASSERT_THAT(daemon.tensors.headers(), SizeIs(2));
  EXPECT_EQ(daemon.tensors.headers()[1].offset_bytes(), 0);
}

TEST_F(TensorTransfer, FindsATensorWhoseAnswerWasLost) {
  daemon.tensors.loses_answers = true;
  const v1::Tensor tensor = Bytes(1000);
  const auto info = client.UploadTensor(tensor, {.session_id = "s"});
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(daemon.tensors.DataOf(info->tensor_id()), tensor.data());
  EXPECT_EQ(daemon.tensors.count(), 1u);
}

TEST_F(TensorTransfer, GivesUpAnUploadThatGetsNowhere) {
  daemon.tensors.break_after_bytes = 1;
  daemon.tensors.break_count = 1000;
  EXPECT_EQ(client.UploadTensor(Bytes(10)).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_THAT(daemon.tensors.headers(), SizeIs(3));
}

TEST_F(TensorTransfer, GoesOnWithADownload) {
  const v1::Tensor tensor = Bytes(2000);
  const auto info = client.UploadTensor(tensor);
  daemon.tensors.break_after_bytes = 300;
  daemon.tensors.break_count = 5;
  const auto back =
      client.DownloadTensor(info->tensor_id(), {.chunk_bytes = 100});
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->data(), tensor.data());
  const auto downloads = daemon.tensors.downloads();
  ASSERT_THAT(downloads, SizeIs(6));
  // What was on its way when the stream broke may have arrived or not.
  for (size_t i = 1; i < downloads.size(); ++i) {
    EXPECT_GE(downloads[i].offset_bytes(), downloads[i - 1].offset_bytes());
  }
  EXPECT_GT(downloads[5].offset_bytes(), 0);
}

TEST_F(TensorTransfer, SeesAByteThatChanged) {
  const auto info = client.UploadTensor(Bytes(100));
  daemon.tensors.corrupts = true;
  const auto back = client.DownloadTensor(info->tensor_id());
  EXPECT_EQ(back.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(back.status().message(), HasSubstr("hash"));
  EXPECT_TRUE(
      client.DownloadTensor(info->tensor_id(), {.is_checked = false}).ok());
}

TEST_F(TensorTransfer, SaysWhatIsNotThere) {
  EXPECT_EQ(client.DownloadTensor("x.none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client.GetTensor("x.none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(client.DeleteTensor("x.none").code(), absl::StatusCode::kNotFound);
}

TEST_F(TensorTransfer, ListsAndDeletes) {
  FakeDaemon paged({.page_size = 2});
  auto other = *Client::Connect(paged.address());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        other.UploadTensor(Bytes(4), {.session_id = i < 3 ? "a" : "b"}).ok());
  }
  EXPECT_THAT(*other.ListTensors(), SizeIs(5));
  v1::ListTensorsRequest of_a;
  of_a.set_session_id("a");
  EXPECT_THAT(*other.ListTensors(of_a), SizeIs(3));
  EXPECT_TRUE(other.DeleteTensor("fake.tensor1").ok());
  EXPECT_THAT(*other.ListTensors(of_a), SizeIs(2));
}

// By the rule at TensorInfo.content_sha256, worked out beside this program:
//   printf '\2\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0abc' | sha256sum
TEST(ContentSha256, IsThatOfTheApi) {
  v1::Tensor tensor;
  tensor.set_dtype(v1::DTYPE_UINT8);
  tensor.add_dims(3);
  tensor.set_data("abc");
  EXPECT_EQ(absl::BytesToHexString(ContentSha256(tensor)),
            "ad6bafd87449ccfb9d9708ab0c0c24107c6957839135a30e4a1dd08187137483");
}

}  // namespace
}  // namespace tensord
