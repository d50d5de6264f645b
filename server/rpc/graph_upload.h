#ifndef TENSORD_SERVER_RPC_GRAPH_UPLOAD_H_
#define TENSORD_SERVER_RPC_GRAPH_UPLOAD_H_

#include "server/rpc/graph_submitter.h"
#include "server/rpc/raw_service.h"

namespace tensord {

// GraphService.UploadGraph: a graph in chunks, for what is above the message
// limit. A stream is read only when the budget has room for all that it has
// declared; until then its client waits in its writes. Its memory and its part
// of the budget go when it ends, however it does.
//
// Ownership: the handler owns the budget; `method` and `submitter` outlive it.
RawService::ReadHandler MakeUploadHandler(const MethodRecord& method,
                                          GraphSubmitter& submitter);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_UPLOAD_H_
