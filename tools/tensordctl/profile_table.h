#ifndef TENSORD_TOOLS_TENSORDCTL_PROFILE_TABLE_H_
#define TENSORD_TOOLS_TENSORDCTL_PROFILE_TABLE_H_

#include "tensord/v1/profile_service.pb.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// The settings and the window, on one line.
void PrintProfileConfig(const Console& console,
                        const v1::OpProfileConfig& config);

// One row for each op and backend, by descending total time. Where only some of
// the launches were timed, the total is their mean times all launches, and has
// a '~' before it.
void PrintOpTable(const Console& console, const v1::OpProfile& profile);

void PrintKernelTable(const Console& console, const v1::OpProfile& profile);

void PrintPhaseTable(const Console& console, const v1::OpProfile& profile);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_PROFILE_TABLE_H_
