// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/shared_machine/sharing_checks.h"

#include "sim/kinds/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace switchfold {

namespace {

/// Rejects ranks that occur twice, in one list or in two.
void check_ranks(const Experiment& experiment, ParamChecker& checker) {
    const std::uint32_t gpus = build_topology(experiment.system->topology).gpus();
    std::map<std::uint32_t, const PlacedWorkloadParams*> taken;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i) {
        const PlacedWorkloadParams& w = experiment.workloads[i];
        const std::string pointer = fmt::format("/workloads/{}/on", i);
        if (!std::ranges::is_sorted(w.on.ranks, std::less_equal<>()))
            checker.error(pointer, "does not ascend; expected each rank once, the lowest first");
        for (const std::uint32_t rank : w.on.ranks) {
            if (rank >= gpus)
                checker.error(
                    pointer, fmt::format(
                                 "has rank {}, and {} has {} GPUs; expected ranks below that", rank,
                                 experiment.system->name, gpus));
            const auto [at, fresh] = taken.try_emplace(rank, &w);
            if (!fresh && at->second != &w)
                checker.error(
                    pointer, fmt::format(
                                 "has rank {}, on which \"{}\" runs; expected GPUs of its own",
                                 rank, at->second->name));
        }
    }
}

}  // namespace

void check_sharing(const Experiment& experiment, ParamChecker& checker) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < experiment.workloads.size(); ++i)
        if (const std::string& name = experiment.workloads[i].name; !names.insert(name).second)
            checker.error(
                fmt::format("/workloads/{}/name", i),
                fmt::format("\"{}\" is given twice; expected each name once", name));
    for (const WorkloadAt& at : workloads_of(experiment))
        if (const KindFacts& facts = kind_of(at.workload).facts(); !facts.shares_machine)
            checker.error(
                at.pointer + "/type",
                fmt::format(
                    "is {}, which shares no machine; expected it as the only workload",
                    facts.name));
    check_ranks(experiment, checker);
    if (experiment.learning)
        checker.error(
            "/learning", "follows the passes of one workload; expected workload, not workloads");
    if (experiment.run)
        checker.error("/run", "changes members of one workload; expected workload, not workloads");
}

}  // namespace switchfold
