// SPDX-License-Identifier: Apache-2.0
#include "sim/config/system_params.h"

#include "sim/config/block_checks.h"

#include <fmt/format.h>

namespace switchfold {

void check_components(
    const SystemParams& system, const std::vector<FaultParams>& faults, ParamChecker& checker) {
    if (faults.empty())
        return;
    for (const auto& [index, why] : check_faults(build_topology(system.topology), faults))
        checker.error(fmt::format("/faults/{}/component", index), why);
}

void SystemParams::check(ParamChecker& checker) const {
    if (!has_gpus()) {
        // The reader sees what stands beside the devices; a file named by $base may have GPUs too.
        if (!gpu->name.empty())
            checker.error(
                "/devices", "is given over a system of GPUs; expected one without, or no devices");
        check_devices(devices, checker);
        return;
    }
    if (gpu->name.empty())
        checker.error("/devices", "is empty; expected at least one, or GPUs");
    if (!gpus.empty())
        check_kinds(gpus, build_topology(topology).gpus(), checker);
    check_blocks(*gpu, *collectives, checker);
    for (const GpuKindParams& kind : gpus)
        check_blocks(*kind.gpu, *collectives, checker);
    check_components(*this, faults, checker);
    check_places(*topology, checker);
}

}  // namespace switchfold
