#ifndef TENSORD_SERVER_RPC_PAGE_TOKEN_H_
#define TENSORD_SERVER_RPC_PAGE_TOKEN_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord {

// Page tokens: where the next page begins, bound to the call and to the filters
// it was made for, so that one of another call is refused rather than
// misread. They hold nothing secret and no server state.
//
// Threading and ownership: pure.

// How many rows a page has: `asked`, or `fallback` for 0, at most `max`.
// kInvalidArgument for less than 0.
absl::StatusOr<int> PageSize(int32_t asked, int fallback, int max);

// `scope`: the call and everything but the place that two pages share.
std::string MakePageToken(absl::string_view scope, absl::string_view place);

// The place; empty for no token. kInvalidArgument for one of another scope.
absl::StatusOr<std::string> ReadPageToken(absl::string_view scope,
                                          absl::string_view token);

// The same for places that are row numbers, from 0 to `row_count`.
absl::StatusOr<int64_t> ReadRowToken(absl::string_view scope,
                                     absl::string_view token,
                                     int64_t row_count);

// The same for lists that go backwards from the latest entry, whose places are
// the entries' own increasing numbers: INT64_MAX for no token.
absl::StatusOr<int64_t> ReadBackwardsToken(absl::string_view scope,
                                           absl::string_view token);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_PAGE_TOKEN_H_
