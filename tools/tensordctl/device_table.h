#ifndef TENSORD_TOOLS_TENSORDCTL_DEVICE_TABLE_H_
#define TENSORD_TOOLS_TENSORDCTL_DEVICE_TABLE_H_

#include "tensord/v1/device_service.pb.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// One row for each device: its health, its load and what waits for it.
void PrintDeviceTable(const Console& console,
                      const v1::ListDevicesResponse& devices);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_DEVICE_TABLE_H_
