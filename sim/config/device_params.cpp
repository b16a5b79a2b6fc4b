// SPDX-License-Identifier: Apache-2.0
#include "sim/config/device_params.h"

#include <algorithm>

namespace switchfold {

const DeviceParams* find_device(const std::vector<DeviceParams>& devices, std::string_view name) {
    const auto found = std::ranges::find_if(devices, [&](const DeviceParams& device) {
        return name.empty() ? device.link.has_value() : device.name == name;
    });
    if (found != devices.end())
        return &*found;
    return name.empty() && !devices.empty() ? &devices.front() : nullptr;
}

std::uint32_t cores_for_programs(const DeviceParams& device) {
    const ProcessorParams& processor = *device.processor;
    return processor.cores - (device.link ? processor.system_cores : 0);
}

}  // namespace switchfold
