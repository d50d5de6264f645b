// Outputs go out of the memory that they were computed into.

#include "server/rpc/execute_answer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/memory/buffer_pool.h"

namespace tensord {
namespace {

constexpr size_t kBytes = size_t{1} << 20;

TEST(ExecuteAnswerTest, AnAnswersSlicesAreItsOutputsOwnBuffers) {
  BufferPool pool(/*max_idle_bytes=*/0);
  ActiveCalls calls;
  ExecuteEncoder encoder;
  encoder.Begin({"id", "cpu:0"});
  std::vector<const void*> addresses;
  for (const char* name : {"y", "z"}) {
    auto buffer = pool.Allocate(kBytes);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    addresses.push_back(buffer->data());
    encoder.AddOutput(
        name, {DType::kUInt8, *Shape::Create({kBytes}), *std::move(buffer)});
  }
  const uint64_t size_bytes = encoder.size_bytes();
  std::vector<grpc::Slice> slices;
  TakeSlices(encoder, calls, slices);
  std::vector<const void*> sent;
  uint64_t sent_bytes = 0;
  for (const grpc::Slice& slice : slices) {
    sent_bytes += slice.size();
    if (slice.size() == kBytes) sent.push_back(slice.begin());
  }
  EXPECT_EQ(sent, addresses);
  EXPECT_EQ(sent_bytes, size_bytes);
  // They are the transport's until it has written them.
  EXPECT_EQ(calls.sent_count(), 2);
  EXPECT_EQ(pool.loaned_bytes(), 2 * kBytes);
  slices.clear();
  EXPECT_EQ(calls.sent_count(), 0);
  EXPECT_EQ(pool.loaned_bytes(), 0u);
}

TEST(ExecuteAnswerTest, AKeptResultIsSharedByAllWhoAskForIt) {
  BufferPool pool(/*max_idle_bytes=*/0);
  ActiveCalls calls;
  std::vector<KeptOutput> outputs(1);
  outputs[0].name = "y";
  outputs[0].dtype = DType::kUInt8;
  outputs[0].shape = *Shape::Create({kBytes});
  auto buffer = pool.Allocate(kBytes);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  outputs[0].bytes = std::make_shared<const PooledBuffer>(*std::move(buffer));
  std::vector<grpc::Slice> slices;
  for (int i = 0; i < 2; ++i) {
    ExecuteEncoder encoder;
    encoder.Begin({"id", "cpu:0"});
    AddKeptOutputs(outputs, encoder);
    TakeSlices(encoder, calls, slices);
  }
  const void* address = outputs[0].bytes->data();
  EXPECT_EQ(std::count_if(
                slices.begin(), slices.end(),
                [&](const auto& slice) { return slice.begin() == address; }),
            2);
  EXPECT_EQ(pool.loaned_bytes(), kBytes);
  outputs.clear();
  EXPECT_EQ(pool.loaned_bytes(), kBytes);
  slices.clear();
  EXPECT_EQ(pool.loaned_bytes(), 0u);
}

}  // namespace
}  // namespace tensord
