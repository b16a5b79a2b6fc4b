// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/groups.h"

#include "sim/machine/simulate.h"
#include "validation/harness/number_jobs.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kGpusOfGroupNode = 8;
constexpr Bytes kMessage = mebibytes(256);

/// Bus bandwidth (bytes per second) of one group when all groups all-reduce kMessage at once, up to
/// the end of the last.
double
bus_bandwidth(const ElasticRow& row, const SystemParams& system, const JobProgress& progress) {
    const std::uint32_t ranks = row.nodes * kGpusOfGroupNode;
    const bool strided = row.note.starts_with("strided") || row.note.starts_with("one a node");
    ExecutionGraph graph =
        single_collective(CollectiveKind::kAllReduce, kMessage, Datatype::kFloat32, ranks);
    graph.groups.clear();
    for (const auto& members : groups_of(ranks, row.gpus, strided)) {
        const auto group = static_cast<std::uint32_t>(graph.groups.size());
        graph.groups.push_back({fmt::format("group {}", group), members});
        for (const std::uint32_t rank : members) {
            auto of_rank = std::make_shared<RankGraph>(*graph.ranks[rank]);
            std::get<CollectiveOperation>(of_rank->operations[0].body).group = group;
            graph.ranks[rank] = std::move(of_rank);
        }
    }
    SimulateOptions options;
    options.progress = progress;
    CollectivePolicies ring;
    ring.all_reduce = ring_policy();
    const Time end(simulate(system, graph, ring, options).end_ps);
    return static_cast<double>(kMessage.count()) *
           bus_factor(CollectiveKind::kAllReduce, row.gpus) / to_seconds(end);
}

bool of_all(const ElasticRow& row) {
    return row.gpus == row.nodes * kGpusOfGroupNode;
}

}  // namespace

std::vector<std::vector<std::uint32_t>>
groups_of(std::uint32_t ranks, std::uint32_t size, bool strided) {
    const std::uint32_t count = ranks / size;
    std::vector<std::vector<std::uint32_t>> groups(count);
    for (std::uint32_t rank = 0; rank < count * size; ++rank)
        groups[strided ? rank % count : rank / size].push_back(rank);
    return groups;
}

bool is_of_groups(const ElasticRow& row) {
    return row.quantity == "all_reduce_bus_bandwidth";
}

void compare_groups(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result) {
    std::vector<const ElasticRow*> wanted;
    std::vector<NumberJob> jobs;
    for (const ElasticRow& row : rows) {
        if (!row.why.empty() || !is_of_groups(row))
            continue;
        const std::uint32_t ranks = row.nodes * kGpusOfGroupNode;
        const MachineMatch match = machines.find(
            {"A100-SXM4-40GB", row.nodes > 1 ? "NVSwitch, InfiniBand HDR" : "NVSwitch", ranks,
             row.nodes});
        if (!match.machine || row.gpus < 2 || ranks % row.gpus != 0) {
            result.unmatched.push_back({row.id, "has groups that do not share out its machines"});
            continue;
        }
        wanted.push_back(&row);
        const auto system = std::make_shared<const SystemParams>(match.machine->system);
        jobs.push_back({row.id, [&row, system](const JobProgress& progress) {
                            return bus_bandwidth(row, *system, progress);
                        }});
    }
    const std::vector<double> simulated = run_number_jobs(jobs, options);
    std::map<std::uint32_t, std::pair<double, double>>
        all;  // by number of machines: measured, simulated
    for (std::size_t i = 0; i < wanted.size(); ++i)
        if (of_all(*wanted[i])) {
            constexpr double kGiga = 1e9;
            all[wanted[i]->nodes] = {wanted[i]->value, simulated[i]};
            result.notes.push_back(fmt::format(
                "groups, Galvatron, {} GPUs together: {:.1f} GB/s measured on a machine and with a "
                "size that are not stated; {:.1f} GB/s simulated on A100 with {}. Groups are "
                "compared with it",
                wanted[i]->gpus, wanted[i]->value, simulated[i] / kGiga, to_string(kMessage)));
        }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const ElasticRow& row = *wanted[i];
        const auto found = all.find(row.nodes);
        if (of_all(row))
            continue;
        if (found == all.end()) {
            result.unmatched.push_back({row.id, "has no row of all GPUs beside it"});
            continue;
        }
        Case c;
        c.id = row.id;
        c.group =
            row.nodes > 1 ? "groups, Galvatron, two machines" : "groups, Galvatron, a machine";
        c.quantity = "bus bandwidth over that of all GPUs";
        c.unit = "1";
        c.measured = row.value / found->second.first;
        c.simulated = simulated[i] / found->second.second;
        c.how = fmt::format("{} GPUs a group, {}; all groups at once", row.gpus, row.note);
        result.cases.push_back(std::move(c));
    }
}

}  // namespace switchfold::validation
