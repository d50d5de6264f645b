// A machine on which oneDNN is installed and cannot make its engine. These two
// functions stand before the library's own of the same name.

#include <memory>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "backends/cpu/onednn/primitive.h"
#include "engine/compiled/compiled_node.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

extern "C" dnnl_status_t dnnl_engine_create(dnnl_engine_t*, dnnl_engine_kind_t,
                                            size_t) {
  return dnnl_runtime_error;
}
extern "C" dnnl_status_t dnnl_primitive_attr_create(dnnl_primitive_attr_t*) {
  return dnnl_out_of_memory;
}

namespace tensord {
namespace {

using testing::Contains;
using testing::Field;
using testing::HasSubstr;

constexpr DType kF32 = DType::kFloat32;

TEST(UnusableLibraryTest, ItsKernelsSayWhyTheyDeclineAndAnotherIsTaken) {
  HostWorkerPool workers(1);
  const std::unique_ptr<Backend> cpu = MakeCpuBackend({.workers = &workers});
  KernelBindingTable table;
  ASSERT_THAT(table.AddBackend(*cpu), IsOk());
  const std::vector<Layout> layouts(3, Layout::Contiguous(Shape({256, 256})));
  std::vector<NoBackendForOp::Declined> declined;
  const auto node = CompileNode(OpKind::kMatMul, {kF32, kF32, kF32}, 2,
                                BackendId::kCpu, NoParams{}, table,
                                {.layouts = layouts, .declined = &declined});
  ASSERT_THAT(node, IsOk());
  EXPECT_STRNE(node->entry->source, "library:onednn");
  EXPECT_THAT(declined, Contains(Field(&NoBackendForOp::Declined::reason,
                                       HasSubstr("dnnl_engine_create"))));
}

TEST(UnusableLibraryTest, WhatIsMadeFailsWithTheFirstCallThatDid) {
  EXPECT_THAT(onednn::CheckUsable(), StatusIs(absl::StatusCode::kInternal,
                                              HasSubstr("dnnl_engine_create")));
  const dnnl_memory_desc_t desc = onednn::DenseDesc({4, 4});
  float elements[16] = {};
  EXPECT_THAT(
      onednn::Reorder(desc, elements, desc, elements),
      StatusIs(absl::StatusCode::kInternal, HasSubstr("dnnl_engine_create")));
}

TEST(UnusableLibraryTest, AttributesThatCouldNotBeMadeKeepTheReason) {
  onednn::Attributes attributes;
  attributes.ScaleOutput(2);
  EXPECT_THAT(attributes.status(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("dnnl_primitive_attr_create")));
}

}  // namespace
}  // namespace tensord
