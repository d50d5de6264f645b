#include "server/rpc/graph_id.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr absl::string_view kDomain = "tensord-graph-1\n";

void AppendU32(uint32_t value, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out.push_back(static_cast<char>(value >> shift));
  }
}

}  // namespace

std::string GraphIdOf(v1::GraphFormat format, const Sha256Digest& digest,
                      const v1::CompileOptions& options,
                      absl::Span<const std::string> handle_hashes) {
  std::string bytes(kDomain);
  bytes.push_back(static_cast<char>(format));
  absl::StrAppend(&bytes, BytesOf(digest));
  const int precision = options.precision() == v1::PRECISION_UNSPECIFIED
                            ? v1::PRECISION_STRICT
                            : options.precision();
  bytes.push_back(static_cast<char>(precision));
  bytes.push_back(options.deterministic() ? 1 : 0);
  const std::set<std::string> passes(options.disabled_passes().begin(),
                                     options.disabled_passes().end());
  AppendU32(static_cast<uint32_t>(passes.size()), bytes);
  for (const std::string& pass : passes) {
    AppendU32(static_cast<uint32_t>(pass.size()), bytes);
    bytes += pass;
  }
  AppendU32(static_cast<uint32_t>(handle_hashes.size()), bytes);
  for (const std::string& hash : handle_hashes) bytes += hash;
  const Sha256Digest id = Sha256Of(bytes);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(id.data()), id.size()));
}

bool IsGraphId(absl::string_view text) {
  return text.size() == 2 * sizeof(Sha256Digest) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace tensord
