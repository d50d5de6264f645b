#include "backends/cuda/libraries/cubin_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "backends/api/content_digest.h"

namespace tensord::cuda {
namespace {

absl::string_view AsText(const ContentDigest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

ContentDigest DigestOfText(absl::string_view text) {
  return DigestOf(absl::MakeConstSpan(
      reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

// nullopt where there is no such file, or not all of it.
std::optional<std::string> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(file)),
                    std::istreambuf_iterator<char>());
  constexpr size_t kDigestBytes = std::tuple_size_v<ContentDigest>;
  if (bytes.size() <= kDigestBytes) return std::nullopt;
  const std::string digest = bytes.substr(bytes.size() - kDigestBytes);
  bytes.resize(bytes.size() - kDigestBytes);
  if (AsText(DigestOfText(bytes)) != digest) return std::nullopt;
  return bytes;
}

// Quietly does nothing where the disk refuses.
void Write(const std::string& folder, const std::string& path,
           absl::string_view cubin) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return;
  static std::atomic<int64_t> count = 0;
  const std::string temporary =
      absl::StrCat(path, ".", getpid(), ".", count.fetch_add(1));
  {
    std::ofstream file(temporary, std::ios::binary);
    file << cubin << AsText(DigestOfText(cubin));
    file.close();
    if (!file) {
      std::filesystem::remove(temporary, error);
      return;
    }
  }
  std::filesystem::rename(temporary, path, error);
  if (error) std::filesystem::remove(temporary, error);
}

}  // namespace

std::string CubinCache::DefaultFolder() {
  if (const char* own = std::getenv("TENSORD_CUDA_KERNEL_CACHE")) return own;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache != '\0') {
    return absl::StrCat(cache, "/tensord/kernels");
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return "";
  return absl::StrCat(home, "/.cache/tensord/kernels");
}

std::string CubinCache::FileOf(const DeviceText& text,
                               absl::string_view architecture) const {
  std::string all = absl::StrCat(Nvrtc::Get()->Version(), "\n", text.text);
  for (const auto& [name, header] : text.headers) {
    absl::StrAppend(&all, "\n", name, "\n", header);
  }
  return absl::StrCat(folder_, "/",
                      absl::BytesToHexString(AsText(DigestOfText(all))), ".",
                      architecture, ".cubin");
}

absl::StatusOr<std::string> CubinCache::Get(
    const DeviceText& text, absl::string_view architecture) const {
  if (const auto& library = Nvrtc::Get(); !library.ok()) {
    return library.status();
  }
  if (folder_.empty()) return CompileToCubin(text, architecture);
  const std::string path = FileOf(text, architecture);
  if (std::optional<std::string> kept = Read(path)) return *std::move(kept);
  absl::StatusOr<std::string> cubin = CompileToCubin(text, architecture);
  if (cubin.ok()) Write(folder_, path, *cubin);
  return cubin;
}

}  // namespace tensord::cuda
