#include "server/plugins/backend_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/api/revisions.h"
#include "tests/support/backend_test.h"
#include "tests/support/matchers.h"

namespace tensord {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

// A library that was built beside this program.
absl::StatusOr<std::unique_ptr<Backend>> Open(const std::string& name) {
  const std::string own = BackendPluginPath("", "x");
  const std::string directory = own.substr(0, own.rfind('/'));
  return OpenBackendPlugin(absl::StrCat(directory, "/lib", name, ".so"),
                           TestHostServices());
}

TEST(BackendPlugin, OneOfThisBuildGivesItsBackend) {
  const auto backend = Open("test_plugin_good");
  ASSERT_THAT(backend, IsOk());
  EXPECT_EQ((*backend)->id(), BackendId::kNull);
  EXPECT_THAT((*backend)->OpenDevice(0), IsOk());
}

TEST(BackendPlugin, AMissingFileIsNotFound) {
  EXPECT_THAT(Open("test_plugin_missing"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("there is no"),
                             HasSubstr("libtest_plugin_missing.so"))));
}

TEST(BackendPlugin, AnotherBuildsIsRefusedByBothIds) {
  EXPECT_THAT(Open("test_plugin_other_build"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("0123456789abcdef"),
                             HasSubstr(std::string(BuildId())))));
}

TEST(BackendPlugin, ALibraryWithoutTheSymbolIsRefused) {
  EXPECT_THAT(Open("test_plugin_no_symbol"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("has no tensord_backend_plugin")));
}

TEST(BackendPlugin, AFileThatIsNoLibraryIsRefusedInTheLoadersWords) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/libno.so");
  std::ofstream(path) << "not a library";
  EXPECT_THAT(
      OpenBackendPlugin(path, TestHostServices()),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("libno.so")));
}

TEST(BackendPlugin, PathsAreMadeOfDirectoryAndName) {
  EXPECT_EQ(BackendPluginPath("/opt", "cuda"), "/opt/libtensord_cuda.so");
  EXPECT_THAT(BackendPluginPath("", "cuda"),
              EndsWith("bin/libtensord_cuda.so"));
}

#if TENSORD_HAVE_CUDA_PLUGIN
// Here or on a machine with GPUs: it opens, and says how many there are or why
// none.
TEST(BackendPlugin, CudaOpensWithAndWithoutADriver) {
  const auto backend = Open("tensord_cuda");
  ASSERT_THAT(backend, IsOk());
  EXPECT_EQ((*backend)->id(), BackendId::kCuda);
  EXPECT_FALSE((*backend)->kernels().empty());
  EXPECT_NE((*backend)->KernelRevision("backends/cuda/kernels/identity.cu"),
            0u);
  if ((*backend)->device_count() == 0) {
    EXPECT_NE((*backend)->why_none(), "");
    EXPECT_THAT((*backend)->OpenDevice(0),
                StatusIs(absl::StatusCode::kNotFound,
                         HasSubstr((*backend)->why_none())));
  }
}
#endif

}  // namespace
}  // namespace tensord
