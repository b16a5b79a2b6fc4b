// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/describe.h"

#include "interconnect/reduction_tree.h"
#include "sim/run/machine/describe_topology.h"
#include "sim/run/machine/machine.h"

#include <fmt/format.h>

#include <numeric>

namespace switchfold {

std::string describe_system(const SystemParams& system) {
    Simulation simulation;
    const Topology topology = build_topology(system.topology);
    const std::uint32_t gpus = topology.gpus();
    Group world{"world", std::vector<std::uint32_t>(gpus)};
    std::iota(world.ranks.begin(), world.ranks.end(), 0U);
    MachineOptions options;
    options.ranks = gpus;
    options.groups = {world};
    Machine machine(simulation, system, options);
    const GpuParams& gpu = *system.gpu;
    std::string out = fmt::format("{}: {} x {}\n", system.name, gpus, gpu.name);
    out += fmt::format(
        "  SMs {}, L2 {} at {}, HBM {} peak, {:.0f} GB/s achieved by mixed streams\n",
        gpu.sms,
        to_string(gpu.memory.l2.capacity),
        to_string(gpu.memory.l2.bandwidth),
        to_string(gpu.memory.hbm.peak),
        achievable_bytes_per_second(gpu.memory.hbm, 0.5) * 1e-9);
    out += describe_topology(topology, system.collectives->transfer_unit);
    const std::string reason = why_no_reduction(topology, world.ranks);
    out += fmt::format("  reduction in the switch: {}\n", reason.empty() ? "yes" : "no: " + reason);
    if (gpus < 2)
        return out;
    out += "\nall-reduce over all GPUs as auto would run it (estimate, not simulated):\n";
    for (std::uint64_t bytes = 1024; bytes <= 4ULL << 30U; bytes *= 4) {
        const Choice choice = machine.collectives().choose(world.ranks, Bytes(bytes));
        out += fmt::format(
            "  {:>8}  {:<9} {:<6} {:>2} blocks  {:>12.1f} us\n",
            to_string(Bytes(bytes)),
            enum_name(choice.algorithm),
            choice.algorithm == Algorithm::kInSwitch ? "" : enum_name(choice.protocol),
            choice.channels,
            to_microseconds(choice.estimate));
    }
    return out;
}

std::string draw_system(const SystemParams& system) {
    return draw_topology(build_topology(system.topology), system.name);
}

}  // namespace switchfold
