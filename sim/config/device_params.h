// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/coprocessor/processor_params.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// The link from a coprocessor to its host; its directions are independent.
struct DeviceLinkParams {
    Bandwidth bandwidth;
    Time latency;
    static constexpr auto fields() {
        using P = DeviceLinkParams;
        return list_of(
            field(
                "bandwidth", &P::bandwidth, "Rate of each direction.", Bandwidth(1'000'000),
                gigabytes_per_second(10'000))
                .required(),
            field(
                "latency", &P::latency, "Latency from the start of a transfer to its first byte.",
                Time(), microseconds(1'000'000)));
    }
};

/// A processor of a system without GPUs (docs/coprocessor.md).
struct DeviceParams {
    std::string name;
    PathOr<ProcessorParams> processor;
    std::optional<DeviceLinkParams> link;
    static constexpr auto fields() {
        using P = DeviceParams;
        return list_of(
            field("name", &P::name, "Name of the device, by which workloads select it.").required(),
            field("processor", &P::processor, "The processor, or the file that describes it.")
                .required(),
            field(
                "link", &P::link,
                "A coprocessor's link to its host, over which a workload's data come; absent: the "
                "processor is a socket of the host."));
    }
};

/// The device of this name; without a name the first coprocessor, else the first device. Null if
/// there is none.
[[nodiscard]] const DeviceParams*
find_device(const std::vector<DeviceParams>& devices, std::string_view name);

/// Cores that a workload gets if it names no number: of a coprocessor, those that its operating
/// system leaves.
[[nodiscard]] std::uint32_t cores_for_programs(const DeviceParams& device);

/// Rejects devices of the same name.
void check_devices(const std::vector<DeviceParams>& devices, ParamChecker& checker);

}  // namespace switchfold
