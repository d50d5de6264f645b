#ifndef TENSORD_SERVER_RPC_PROFILE_MESSAGES_H_
#define TENSORD_SERVER_RPC_PROFILE_MESSAGES_H_

#include <vector>

#include "absl/status/status.h"
#include "engine/profile/phase_profile.h"
#include "engine/profile/profile_snapshot.h"
#include "tensord/v1/profile_service.pb.h"

namespace tensord {

// op_profile's snapshots as the API's messages.
// Threading and ownership: pure.

void FillOpProfile(const op_profile::ProfileSnapshot& snapshot,
                   const std::vector<op_profile::PhaseRow>& phases,
                   bool omit_kernels, bool omit_phases, v1::OpProfile& profile);

void FillConfig(const op_profile::ProfileConfig& config, uint64_t epoch,
                absl::Time epoch_start, v1::OpProfileConfig& message);

// Makes `profile` the difference to an earlier one of the same daemon.
// kInvalidArgument when `since` has what `profile` does not: then it is no
// whole answer.
absl::Status Subtract(const v1::OpProfile& since, v1::OpProfile& profile);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_PROFILE_MESSAGES_H_
