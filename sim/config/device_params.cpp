// SPDX-License-Identifier: Apache-2.0
#include "sim/config/device_params.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

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

void check_devices(const std::vector<DeviceParams>& devices, ParamChecker& checker) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < devices.size(); ++i)
        if (!names.insert(devices[i].name).second)
            checker.error(
                fmt::format("/devices/{}/name", i),
                fmt::format("\"{}\" is given twice; expected each name once", devices[i].name));
}

}  // namespace switchfold
