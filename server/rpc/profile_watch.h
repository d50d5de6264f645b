#ifndef TENSORD_SERVER_RPC_PROFILE_WATCH_H_
#define TENSORD_SERVER_RPC_PROFILE_WATCH_H_

#include <functional>

#include "server/rpc/raw_service.h"
#include "tensord/v1/profile_service.pb.h"

namespace tensord {

// ProfileService.WatchOpProfile: a first message with everything, then at each
// interval what came since the one before. A reader that is slow gets fewer,
// longer windows: the next is made when the one before is written.
//
// Ownership: `method` outlives the handler; `read` gives the whole accounting
//   now.
using ReadProfile =
    std::function<void(const v1::WatchOpProfileRequest&, v1::OpProfile&)>;
RawService::WriteHandler MakeWatchHandler(const MethodRecord& method,
                                          ReadProfile read);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_PROFILE_WATCH_H_
