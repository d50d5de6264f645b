#include "clients/cpp/graph_id.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "absl/strings/escaping.h"
#include "clients/cpp/sha256.h"

namespace tensord {
namespace {

void AppendByte(int value, std::string& bytes) {
  bytes.push_back(static_cast<char>(value));
}

void AppendU32(size_t value, std::string& bytes) {
  for (int shift = 0; shift < 32; shift += 8) {
    AppendByte(static_cast<int>((value >> shift) & 0xff), bytes);
  }
}

}  // namespace

std::string GraphId(v1::GraphFormat format, absl::string_view bytes,
                    const v1::CompileOptions& compile) {
  std::string hashed = "tensord-graph-1\n";
  AppendByte(format, hashed);
  hashed += Sha256(bytes);
  AppendByte(std::max<int>(compile.precision(), v1::PRECISION_STRICT), hashed);
  AppendByte(compile.deterministic() ? 1 : 0, hashed);
  const std::set<std::string> passes(compile.disabled_passes().begin(),
                                     compile.disabled_passes().end());
  AppendU32(passes.size(), hashed);
  for (const std::string& pass : passes) {
    AppendU32(pass.size(), hashed);
    hashed += pass;
  }
  AppendU32(0, hashed);  // initializers by handle
  return absl::BytesToHexString(Sha256(hashed));
}

}  // namespace tensord
