#include "server/rpc/page_token.h"

#include <algorithm>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"
#include "server/rpc/graph_id.h"

namespace tensord {
namespace {

// Enough to tell scopes apart; nobody gains by finding two that collide.
constexpr size_t kScopeHexDigits = 16;
constexpr size_t kMaxTokenBytes = 1024;

std::string ScopeHash(absl::string_view scope) {
  const Sha256Digest digest = Sha256Of(scope);
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.data()), kScopeHexDigits / 2));
}

absl::Status WrongToken() {
  return BadField("page_token",
                  "it is not of this call with these filters; use the "
                  "next_page_token of the page before, unchanged");
}

}  // namespace

absl::StatusOr<int> PageSize(int32_t asked, int fallback, int max) {
  if (asked < 0) {
    return BadField("page_size",
                    absl::StrCat(asked, " is negative; give 0 for ", fallback,
                                 ", or up to ", max));
  }
  return asked == 0 ? fallback : std::min<int>(asked, max);
}

std::string MakePageToken(absl::string_view scope, absl::string_view place) {
  return absl::WebSafeBase64Escape(absl::StrCat(ScopeHash(scope), place));
}

absl::StatusOr<std::string> ReadPageToken(absl::string_view scope,
                                          absl::string_view token) {
  if (token.empty()) return std::string();
  std::string text;
  if (token.size() > kMaxTokenBytes ||
      !absl::WebSafeBase64Unescape(token, &text) ||
      text.size() <= kScopeHexDigits ||
      text.substr(0, kScopeHexDigits) != ScopeHash(scope)) {
    return WrongToken();
  }
  return text.substr(kScopeHexDigits);
}

absl::StatusOr<int64_t> ReadRowToken(absl::string_view scope,
                                     absl::string_view token,
                                     int64_t row_count) {
  absl::StatusOr<std::string> place = ReadPageToken(scope, token);
  if (!place.ok()) return place.status();
  if (place->empty()) return 0;
  int64_t row;
  if (!absl::SimpleAtoi(*place, &row) || row < 0 || row > row_count) {
    return WrongToken();
  }
  return row;
}

absl::StatusOr<int64_t> ReadBackwardsToken(absl::string_view scope,
                                           absl::string_view token) {
  constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();
  if (token.empty()) return kLatest;
  return ReadRowToken(scope, token, kLatest);
}

}  // namespace tensord
