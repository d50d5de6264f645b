// The hand-written codec against protobuf's own, which is the reference.

#include <gmock/gmock.h>
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "server/wire/execute_decoder.h"
#include "server/wire/execute_encoder.h"
#include "tensord/v1/errors.pb.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

using ::testing::HasSubstr;

// What a decode gave, in protobuf's terms.
struct Decoded {
  absl::Status status;
  v1::ExecuteRequest request;
  uint64_t bytes_copied = 0;
};

class ExecuteCodecTest : public ::testing::Test {
 protected:
  Decoded Decode(absl::Span<const absl::string_view> segments) {
    Decoded decoded;
    const WireReader reader(segments);
    ExecuteHead head;
    decoded.status = DecodeExecuteHead(reader, head);
    if (!decoded.status.ok()) return decoded;
    decoded.request.set_graph_id(head.graph_id);
    if (head.options.has_value()) {
      decoded.request.mutable_options()->ParseFromString(*head.options);
    }
    ExecuteBodyDecoder decoder(ExecuteLimits(), pool_);
    size_t inputs = 0, outputs = 0;
    decoded.status = decoder.Decode(
        reader,
        [&](DecodedOutput& output) {
          ++outputs;
          auto& message = *decoded.request.add_outputs();
          message.set_name(output.name);
          message.set_keep_on_device(output.keep_on_device);
          return absl::OkStatus();
        },
        [&](DecodedInput& input) {
          ++inputs;
          Append(input, decoded.request);
          return absl::OkStatus();
        });
    if (decoded.status.ok()) {
      EXPECT_EQ(inputs, head.input_count);
      EXPECT_EQ(outputs, head.output_count);
    }
    decoded.bytes_copied = decoder.stats().tensor_bytes_copied;
    return decoded;
  }

  Decoded Decode(const std::string& bytes) {
    const absl::string_view segment(bytes);
    return Decode(absl::MakeConstSpan(&segment, 1));
  }

  static void Append(const DecodedInput& input, v1::ExecuteRequest& request) {
    auto& message = *request.add_inputs();
    message.set_name(input.name);
    message.set_donate(input.donate);
    if (input.source == InputSource::kAbsent) message.set_is_absent(true);
    if (input.source != InputSource::kTensor) return;
    v1::Tensor& tensor = *message.mutable_tensor();
    tensor.set_dtype(static_cast<v1::DType>(input.value.dtype));
    for (int64_t extent : input.value.shape.extents()) tensor.add_dims(extent);
    tensor.set_data(input.value.bytes.data(), input.value.bytes.size());
  }

  // A request that is right, of random sizes; now and then with fields that
  // nobody knows.
  v1::ExecuteRequest RandomRequest(std::mt19937_64& random) {
    const auto below = [&](int n) { return static_cast<int>(random() % n); };
    v1::ExecuteRequest request;
    if (below(8) > 0) request.set_graph_id(std::string(64, 'a' + below(6)));
    if (below(3) == 0) {
      request.mutable_options()->set_device("cpu:0");
      request.mutable_options()->mutable_trace()->set_max_rows(below(1000));
    }
    for (int i = below(4); i > 0; --i) {
      auto& output = *request.add_outputs();
      if (below(5) > 0) output.set_name("output_" + std::to_string(i));
      output.set_keep_on_device(below(2) == 0);
    }
    for (int i = below(5); i > 0; --i) {
      auto& input = *request.add_inputs();
      input.set_name(std::string(below(200), 'n'));
      input.set_donate(below(2) == 0);
      if (below(6) == 0) {
        input.set_is_absent(true);
        continue;
      }
      v1::Tensor& tensor = *input.mutable_tensor();
      tensor.set_dtype(v1::DTYPE_FLOAT32);
      int64_t elements = 1;
      for (int rank = below(5); rank > 0; --rank) {
        tensor.add_dims(below(7));
        elements *= tensor.dims(tensor.dims_size() - 1);
      }
      std::string data(elements * 4, '\0');
      for (char& c : data) c = static_cast<char>(random());
      tensor.set_data(data);
    }
    if (below(4) == 0) {
      auto* unknown = request.GetReflection()->MutableUnknownFields(&request);
      unknown->AddVarint(100, random());
      unknown->AddLengthDelimited(101, std::string(below(50), 'u'));
      unknown->AddGroup(102)->AddFixed64(1, random());
    }
    return request;
  }

  // `bytes` in pieces of random sizes.
  static std::vector<absl::string_view> Cut(absl::string_view bytes,
                                            std::mt19937_64& random) {
    std::vector<absl::string_view> segments;
    while (!bytes.empty()) {
      const size_t size = std::min<size_t>(random() % 40, bytes.size());
      segments.push_back(bytes.substr(0, size));
      bytes.remove_prefix(size);
    }
    return segments;
  }

  BufferPool pool_{1 << 20};
};

void DropUnknown(v1::ExecuteRequest& request) {
  request.DiscardUnknownFields();
}

TEST_F(ExecuteCodecTest, DecodesEveryRightMessageAsProtobufDoes) {
  std::mt19937_64 random(20240501);
  for (int i = 0; i < 3000; ++i) {
    v1::ExecuteRequest request = RandomRequest(random);
    const std::string bytes = request.SerializeAsString();
    const Decoded decoded = Decode(Cut(bytes, random));
    ASSERT_TRUE(decoded.status.ok()) << decoded.status;
    DropUnknown(request);
    ASSERT_EQ(decoded.request.SerializeAsString(), request.SerializeAsString());
  }
}

TEST_F(ExecuteCodecTest, CopiesTheBytesOfATensorExactlyOnce) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const v1::ExecuteRequest request = RandomRequest(random);
    uint64_t tensor_bytes = 0;
    for (const auto& input : request.inputs()) {
      tensor_bytes += input.tensor().data().size();
    }
    EXPECT_EQ(Decode(request.SerializeAsString()).bytes_copied, tensor_bytes);
  }
}

TEST_F(ExecuteCodecTest, UnderstandsFieldsInAnyOrder) {
  v1::ExecuteRequest graph, input;
  graph.set_graph_id("id");
  auto& x = *input.add_inputs();
  x.mutable_tensor()->set_data(std::string(8, 'x'));
  v1::ExecuteInput name, dtype;
  name.set_name("x");
  dtype.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
  dtype.mutable_tensor()->add_dims(2);
  // The tensor's data before its dtype, and the name after both.
  std::string tensor =
      x.tensor().SerializeAsString() + dtype.tensor().SerializeAsString();
  v1::ExecuteRequest request;
  std::string bytes = "\x7a";  // inputs
  std::string inner = "\x7a";  // tensor
  inner += static_cast<char>(tensor.size());
  inner += tensor + name.SerializeAsString();
  bytes += static_cast<char>(inner.size());
  bytes += inner + graph.SerializeAsString();
  const Decoded decoded = Decode(bytes);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status;
  EXPECT_EQ(decoded.request.graph_id(), "id");
  EXPECT_EQ(decoded.request.inputs(0).name(), "x");
  EXPECT_EQ(decoded.request.inputs(0).tensor().data(), std::string(8, 'x'));
}

// What a mutated message is, nobody knows; what it must not be is a crash, a
// message that protobuf would refuse, or one that it would read otherwise.
TEST_F(ExecuteCodecTest, WhatItTakesOfBrokenBytesProtobufTakesToo) {
  std::mt19937_64 random(99);
  int taken = 0, refused = 0;
  // The reference would tell of every text that is no UTF-8.
  google::protobuf::LogSilencer silencer;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = RandomRequest(random).SerializeAsString();
    for (int changes = 1 + random() % 3; changes > 0 && !bytes.empty();
         --changes) {
      switch (random() % 3) {
        case 0:
          bytes[random() % bytes.size()] = static_cast<char>(random());
          break;
        case 1:
          bytes.resize(random() % bytes.size());
          break;
        default:
          bytes.insert(random() % bytes.size(), 1, static_cast<char>(random()));
      }
    }
    const Decoded decoded = Decode(Cut(bytes, random));
    if (!decoded.status.ok()) {
      ++refused;
      continue;
    }
    ++taken;
    v1::ExecuteRequest request;
    if (!request.ParsePartialFromString(bytes)) {
      // Names are compared with the graph's later, so UTF-8 is not checked.
      continue;
    }
    ASSERT_EQ(decoded.request.inputs_size(), request.inputs_size());
    for (int k = 0; k < request.inputs_size(); ++k) {
      ASSERT_EQ(decoded.request.inputs(k).tensor().data(),
                request.inputs(k).tensor().data());
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST_F(ExecuteCodecTest, RandomBytesNeverCrashIt) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    Decode(Cut(bytes, random));
  }
}

struct WrongTensor {
  const char* text;
  v1::DType dtype;
  std::vector<int64_t> dims;
  std::string data;
};

TEST_F(ExecuteCodecTest, ATensorThatDoesNotFitItselfIsRefusedWithNumbers) {
  const std::vector<WrongTensor> wrong = {
      {"7 bytes for float32 [2], which takes 8",
       v1::DTYPE_FLOAT32,
       {2},
       "1234567"},
      {"no dtype", v1::DTYPE_UNSPECIFIED, {}, ""},
      {"number 99", static_cast<v1::DType>(99), {}, ""},
      {"-1", v1::DTYPE_FLOAT32, {-1}, ""},
      {"max_elements", v1::DTYPE_INT8, {int64_t{1} << 40}, ""},
      {"exceed", v1::DTYPE_INT8, {int64_t{1} << 40, int64_t{1} << 40}, ""},
      {"max_rank", v1::DTYPE_INT8, std::vector<int64_t>(17, 1), "x"},
      {"neither 0 nor 1", v1::DTYPE_BOOL, {2}, std::string("\x01\x02", 2)},
      {"unused bits", v1::DTYPE_INT4, {3}, std::string("\x11\x11", 2)},
      {"strings", v1::DTYPE_STRING, {1}, std::string(5, '\0')}};
  for (const WrongTensor& tensor : wrong) {
    v1::ExecuteRequest request;
    auto& input = *request.add_inputs();
    input.set_name("x");
    input.mutable_tensor()->set_dtype(tensor.dtype);
    for (int64_t extent : tensor.dims) {
      input.mutable_tensor()->add_dims(extent);
    }
    input.mutable_tensor()->set_data(tensor.data);
    const absl::Status status = Decode(request.SerializeAsString()).status;
    ASSERT_FALSE(status.ok()) << tensor.text;
    if (std::string(tensor.text) != "exceed") {
      EXPECT_THAT(std::string(status.message()), HasSubstr(tensor.text));
    }
  }
}

TEST_F(ExecuteCodecTest, AFieldThatOccursTwiceIsRefused) {
  v1::ExecuteRequest id;
  id.set_graph_id("a");
  const std::string twice = id.SerializeAsString() + id.SerializeAsString();
  EXPECT_EQ(Decode(twice).status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Decode(id.SerializeAsString()).status.ok());
}

// --- Encoding.

TEST_F(ExecuteCodecTest, EncodesWhatProtobufReadsAndCopiesNoTensor) {
  std::mt19937_64 random(3);
  ExecuteEncoder encoder;
  for (int i = 0; i < 500; ++i) {
    std::vector<int64_t> phases(8);
    for (int64_t& ns : phases)
      ns = random() % 3 == 0 ? 0 : random() % (1 << 30);
    encoder.Begin({"tensord.abc", "cpu:0", phases, ""});
    v1::ExecuteResponse expected;
    expected.set_execution_id("tensord.abc");
    expected.set_device("cpu:0");
    expected.set_batch_size(1);
    v1::PhaseTimings& timings = *expected.mutable_timings();
    timings.set_decode_ns(phases[0]);
    timings.set_queue_ns(phases[1]);
    timings.set_compile_ns(phases[2]);
    timings.set_upload_ns(phases[3]);
    timings.set_run_ns(phases[4]);
    timings.set_wait_ns(phases[5]);
    timings.set_download_ns(phases[6]);
    timings.set_encode_ns(phases[7]);
    std::vector<const std::byte*> addresses;
    for (int k = random() % 4; k > 0; --k) {
      const int64_t size = random() % 300;
      HostValue value;
      value.dtype = DType::kInt8;
      value.shape = Shape({size});
      value.bytes = *pool_.Allocate(size);
      std::fill_n(value.bytes.data(), size, std::byte{static_cast<uint8_t>(k)});
      if (size > 0) addresses.push_back(value.bytes.data());
      auto& output = *expected.add_outputs();
      output.set_name("y" + std::to_string(k));
      output.mutable_tensor()->set_dtype(v1::DTYPE_INT8);
      output.mutable_tensor()->add_dims(size);
      output.mutable_tensor()->set_data(std::string(size, k));
      encoder.AddOutput(output.name(), std::move(value));
    }
    std::string bytes;
    size_t begin = 0, address = 0;
    for (const auto& part : encoder.parts()) {
      bytes += encoder.text().substr(begin, part.header_bytes);
      begin += part.header_bytes;
      if (part.data.size() == 0) continue;
      // The very buffer that was given.
      ASSERT_EQ(part.data.data(), addresses.at(address++));
      bytes.append(reinterpret_cast<const char*>(part.data.data()),
                   part.data.size());
    }
    EXPECT_EQ(begin, encoder.text().size());
    EXPECT_EQ(bytes.size(), encoder.size_bytes());
    v1::ExecuteResponse read;
    ASSERT_TRUE(read.ParseFromString(bytes));
    ASSERT_EQ(read.SerializeAsString(), expected.SerializeAsString());
  }
}

}  // namespace
}  // namespace tensord
