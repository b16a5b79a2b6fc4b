// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/describe.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "interconnect/host_paths.h"
#include "interconnect/reduction_tree.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/describe_topology.h"
#include "sim/machine/describe_units.h"
#include "sim/machine/picture.h"
#include "sim/machine/system_queries.h"
#include "sim/many_core/describe_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace switchfold {

namespace {

/// Includes the name if there are several kinds.
std::string describe_gpu(const GpuParams& gpu, bool named) {
    return fmt::format(
        "  {}SMs {}, L2 {} at {}, HBM {} peak, {:.0f} GB/s achieved by mixed streams\n",
        named ? gpu.name + ": " : "", gpu.sms, to_string(gpu.memory.l2.capacity),
        to_string(gpu.memory.l2.bandwidth), to_string(gpu.memory.hbm.peak),
        achievable_bytes_per_second(gpu.memory.hbm, 0.5) * 1e-9);
}

/// Bounds on host copies; empty if the topology has no path to a host.
std::string describe_host(const Topology& topology, const GpuParams& gpu, bool named) {
    const CopyParams& copy = gpu.copy;
    const std::string whose = named ? " of " + gpu.name : "";
    const auto bound = host_bound(topology, copy.outstanding);
    if (!bound)
        return "";
    const auto reach = [&](Bandwidth engine) {
        return fmt::format(
            "{:.1f} GB/s alone, {:.1f} GB/s each where all GPUs copy",
            static_cast<double>(std::min(engine, bound->alone).count()) * 1e-9,
            static_cast<double>(std::min(engine, bound->together).count()) * 1e-9);
    };
    const std::string in = reach(copy.host_bandwidth);
    const std::string out = reach(copy.rate_to_host());
    if (in == out)
        return fmt::format("  host copies{}: at most {}, each way\n", whose, in);
    return fmt::format("  host copies{}: at most {}; to the host {}\n", whose, in, out);
}

}  // namespace

std::string describe_system(const SystemParams& system, std::uint32_t node) {
    if (!system.has_gpus())
        return describe_devices(system);
    const Topology topology = build_topology(system.topology);
    const std::uint32_t gpus = topology.gpus();
    const RankGpus all(system);
    const std::set<std::uint32_t> kinds = all.used(gpus);
    std::string out = fmt::format("{}: {}\n", system.name, gpu_names(system));
    for (const std::uint32_t kind : kinds)
        out += describe_gpu(*all.kinds()[kind], kinds.size() > 1);
    out += describe_topology(topology, system.collectives->transfer_unit);
    for (const std::uint32_t kind : kinds)
        out += describe_host(topology, *all.kinds()[kind], kinds.size() > 1);
    std::vector<std::uint32_t> world = first_ranks(gpus);
    const std::string reason = why_no_reduction(topology, world);
    return out +
           fmt::format(
               "  reduction in the switch: {}\n", reason.empty() ? "yes" : "no: " + reason) +
           describe_units(topology, node);
}

std::vector<std::uint32_t> processes_of_estimates() {
    return {kCostNodes.begin(), kCostNodes.end()};
}

OrderedJson units_of_system(const SystemParams& system, std::uint32_t node) {
    return units_json(system.has_gpus() ? build_topology(system.topology) : Topology(), node);
}

std::string draw_system(const SystemParams& system) {
    if (!system.has_gpus())
        return draw_devices(system);
    return draw_topology(build_topology(system.topology), system.name);
}

std::string picture_of_system(const SystemParams& system, const std::string& file) {
    if (!system.has_gpus())
        throw ConfigError(
            file, "/devices",
            "has no links between GPUs to draw; expected a system with gpu (--dot "
            "draws devices)");
    return picture_of(build_topology(system.topology), system.name, gpu_names(system));
}

}  // namespace switchfold
