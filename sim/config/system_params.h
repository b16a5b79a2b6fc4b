// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/params_alternative.h"
#include "interconnect/faults.h"
#include "interconnect/topology_builder.h"
#include "models/collectives/parameters.h"
#include "models/gpu/parameters.h"
#include "sim/config/device_params.h"
#include "sim/config/unequal_params.h"

#include <string>
#include <vector>

namespace switchfold {

/// A machine: its GPUs, their interconnect, and the parameters of collectives; or a host and its
/// many-core coprocessors.
struct SystemParams {
    std::string name;
    std::vector<DeviceParams> devices;  ///< instead of all that follows
    PathOr<GpuParams> gpu;
    std::vector<GpuKindParams> gpus;  ///< for ranks with a different GPU; see RankGpus
    PathOr<TopologyParams> topology;
    PathOr<CollectiveParams> collectives;
    std::vector<std::string> measured_as;
    std::vector<FaultParams> faults;
    static constexpr Alternative kAlternative{"devices", "name"};
    static constexpr auto fields() {
        return list_of(
            field("name", &SystemParams::name, "Name of the machine in reports.").required(),
            field(
                "devices", &SystemParams::devices,
                "Sockets of a host and its many-core coprocessors, instead of GPUs and all that "
                "belongs to them (docs/coprocessor.md)."),
            field(
                "gpu", &SystemParams::gpu,
                "The GPU, or the file that describes it. Required without devices.")
                .required(),
            field(
                "gpus", &SystemParams::gpus,
                "Ranks with a different GPU (docs/plans.md#unequal-gpus)."),
            field(
                "topology", &SystemParams::topology,
                "Interconnect of the GPUs, or the file with its description (FILE, or "
                "SYSTEM.json#/topology). Required without devices.")
                .required(),
            field(
                "collectives", &SystemParams::collectives,
                "Parameters of collectives, or the file with them (SYSTEM.json#/collectives)."),
            field(
                "measured_as", &SystemParams::measured_as,
                "Descriptions of such machines in tables of measurements, one text per wording of "
                "GPU and interconnect. `validate` selects the system by them."),
            field(
                "faults", &SystemParams::faults,
                "Faults, present from the start or occurring during the run."));
    }
    void check(ParamChecker& checker) const;
    [[nodiscard]] bool has_gpus() const { return devices.empty(); }
};

/// Rejects faults of components that the system lacks.
void check_components(
    const SystemParams& system, const std::vector<FaultParams>& faults, ParamChecker& checker);

}  // namespace switchfold
