#include "engine/tune/tuning_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "backends/api/op_kind.h"
#include "engine/tune/site_key.h"

namespace tensord {
namespace {

constexpr absl::string_view kTitle = "tensord tuning 1\n";
constexpr size_t kKeyDigits = 32;
constexpr size_t kMaxKernelBytes = 128;
constexpr size_t kMaxSiblings = 64;
constexpr double kMaxNs = 1e13;  // hours
constexpr absl::string_view kNewSuffix = ".new";
// A file that is being written is younger.
constexpr std::chrono::hours kMaxNewAge(1);

std::string Header(const TuningOwner& owner) {
  return absl::StrCat(kTitle, "build ", absl::CEscape(owner.build), "\ndevice ",
                      absl::CEscape(owner.device), "\n");
}

bool IsKey(absl::string_view text) {
  return text.size() == kKeyDigits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f');
         });
}

// What passes make is an operator too, though not of the standard.
bool IsOperator(absl::string_view text) {
  if (OpKindFromName(text).has_value()) return true;
  for (int i = kOnnxOpKindCount; i < kOpKindCount; ++i) {
    if (OpKindName(static_cast<OpKind>(i)) == text) return true;
  }
  return false;
}

bool IsKernel(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxKernelBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.';
         });
}

// Kernels with their times, from the third word on.
absl::Status ParseSiblings(absl::Span<const absl::string_view> words,
                           MeasuredSite& site) {
  bool has_chosen = false;
  while (!words.empty()) {
    if (words[0] == "*") {
      if (has_chosen) return absl::DataLossError("two kernels are chosen");
      has_chosen = true;
      site.chosen = site.siblings.size();
      words.remove_prefix(1);
    }
    if (words.size() < 2 || !IsKernel(words[0])) {
      return absl::DataLossError("not a kernel and its time");
    }
    MeasuredSite::Sibling sibling{.kernel = std::string(words[0])};
    sibling.agrees = words[1] != "-";
    if (sibling.agrees && (!absl::SimpleAtod(words[1], &sibling.ns) ||
                           !(sibling.ns >= 0 && sibling.ns <= kMaxNs))) {
      return absl::DataLossError("not a time");
    }
    words.remove_prefix(2);
    if (site.siblings.size() == kMaxSiblings) {
      return absl::DataLossError("too many kernels");
    }
    site.siblings.push_back(std::move(sibling));
  }
  if (!has_chosen) {
    return absl::DataLossError("no kernel is chosen");
  }
  return absl::OkStatus();
}

absl::StatusOr<TuningEntry> ParseLine(absl::string_view line) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() < 5 || !IsKey(words[0])) {
    return absl::DataLossError("not a measurement");
  }
  if (!IsOperator(words[1])) {
    return absl::DataLossError("not an operator");
  }
  auto site = std::make_shared<MeasuredSite>();
  absl::Status status =
      ParseSiblings(absl::MakeConstSpan(words).subspan(2), *site);
  if (!status.ok()) return status;
  return TuningEntry{std::string(words[0]), std::string(words[1]),
                     std::move(site)};
}

absl::Status SystemError(absl::string_view what, const std::string& path) {
  return absl::UnavailableError(
      absl::StrCat(what, " ", path, ": ", std::strerror(errno)));
}

absl::Status WriteAll(int file, absl::string_view text,
                      const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemError("cannot write", path);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Takes away what writers of this file left that died in the middle. That it
// fails hurts nobody.
void RemoveLeftovers(const std::string& path) {
  namespace fs = std::filesystem;
  const std::string prefix = fs::path(path).filename().string() + ".";
  const fs::file_time_type oldest =
      fs::file_time_type::clock::now() - kMaxNewAge;
  std::error_code error;
  fs::directory_iterator it(fs::path(path).parent_path(), error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!absl::StartsWith(name, prefix) || !absl::EndsWith(name, kNewSuffix)) {
      continue;
    }
    std::error_code ignored;
    const fs::file_time_type written = it->last_write_time(ignored);
    if (!ignored && written < oldest) fs::remove(it->path(), ignored);
  }
}

}  // namespace

std::string FormatTuning(const TuningOwner& owner,
                         const std::vector<TuningEntry>& entries) {
  std::string text = Header(owner);
  for (const TuningEntry& entry : entries) {
    absl::StrAppend(&text, entry.site_key, " ", entry.op);
    const MeasuredSite& site = *entry.measured;
    for (size_t i = 0; i < site.siblings.size(); ++i) {
      const MeasuredSite::Sibling& sibling = site.siblings[i];
      absl::StrAppend(&text, i == site.chosen ? " * " : " ", sibling.kernel);
      if (sibling.agrees) {
        absl::StrAppendFormat(&text, " %.1f", sibling.ns);
      } else {
        text += " -";
      }
    }
    text += '\n';
  }
  const std::string digest = ShortDigest(text);
  absl::StrAppend(&text, "end ", digest, "\n");
  return text;
}

absl::StatusOr<std::vector<TuningEntry>> ParseTuning(absl::string_view text,
                                                     const TuningOwner& owner) {
  absl::string_view rest = text;
  if (!absl::ConsumePrefix(&rest, Header(owner))) {
    return absl::FailedPreconditionError(
        "it is of another build, device or version");
  }
  std::vector<TuningEntry> entries;
  for (;;) {
    const size_t end = rest.find('\n');
    if (end == absl::string_view::npos) {
      return absl::DataLossError("it breaks off");
    }
    const absl::string_view before = text.substr(0, text.size() - rest.size());
    absl::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (absl::ConsumePrefix(&line, "end ")) {
      if (!rest.empty() || line != ShortDigest(before)) {
        return absl::DataLossError("its checksum is not right");
      }
      return entries;
    }
    absl::StatusOr<TuningEntry> entry = ParseLine(line);
    if (!entry.ok() || entries.size() == TuningTable::kMaxSites) {
      return absl::DataLossError(absl::StrCat(
          "measurement ", entries.size() + 1, ": ",
          entry.ok() ? "more than a table holds" : entry.status().message()));
    }
    entries.push_back(*std::move(entry));
  }
}

std::string TuningPath(absl::string_view directory, const TuningOwner& owner) {
  return absl::StrCat(directory, "/", ShortDigest(Header(owner)), ".tuning");
}

absl::StatusOr<std::vector<TuningEntry>> ReadTuning(const std::string& path,
                                                    const TuningOwner& owner) {
  // Not blocking: the name may be a pipe's.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return absl::NotFoundError(path);
  if (file < 0) return SystemError("cannot open", path);
  const absl::Cleanup close_file = [file] { close(file); };
  struct stat facts;
  if (fstat(file, &facts) != 0) return SystemError("cannot look at", path);
  if (!S_ISREG(facts.st_mode)) return absl::DataLossError("it is no file");
  std::string text;
  std::array<char, 65536> piece;
  for (;;) {
    const ssize_t count = read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot read", path);
    if (count == 0) return ParseTuning(text, owner);
    text.append(piece.data(), static_cast<size_t>(count));
    if (text.size() > kMaxTuningFileBytes) {
      return absl::DataLossError(
          absl::StrCat("it has more than ", kMaxTuningFileBytes, " bytes"));
    }
  }
}

absl::Status WriteTuning(const std::string& path, const TuningOwner& owner,
                         const std::vector<TuningEntry>& entries) {
  const std::string text = FormatTuning(owner, entries);
  if (text.size() > kMaxTuningFileBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(path, " would have ", text.size(), " bytes, of ",
                     kMaxTuningFileBytes, " at most"));
  }
  RemoveLeftovers(path);
  // A name that nobody else has: daemons may share a directory, and process
  // ids repeat where each has its own container.
  std::string temporary = absl::StrCat(path, ".XXXXXX", kNewSuffix);
  const int file = mkostemps(temporary.data(),
                             static_cast<int>(kNewSuffix.size()), O_CLOEXEC);
  if (file < 0) return SystemError("cannot make", temporary);
  absl::Status status = WriteAll(file, text, temporary);
  // Daemons of other users may read it.
  if (status.ok() && fchmod(file, 0644) != 0) {
    status = SystemError("cannot write", temporary);
  }
  if (status.ok() && fsync(file) != 0) {
    status = SystemError("cannot write", temporary);
  }
  if (close(file) != 0 && status.ok()) {
    status = SystemError("cannot write", temporary);
  }
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = SystemError("cannot replace", path);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace tensord
