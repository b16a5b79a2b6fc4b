// SPDX-License-Identifier: Apache-2.0
#include "workloads/kineto/reader.h"

#include "sim/core/error.h"
#include "workloads/kineto/raw_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace switchfold {

TraceWorkload read_kineto(const KinetoOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    TraceWorkload workload;
    NameTable names;
    std::vector<BuiltRank> built;
    for (const std::filesystem::path& file : options.files) {
        RawTrace raw = read_raw_trace(file, options.max_inflated);
        built.push_back(build_rank(raw, names, workload.graph.groups));
        workload.files.push_back(std::move(raw.report));
    }
    // Ranks in ascending order, each once.
    std::vector<std::size_t> order(built.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return workload.files[a].rank < workload.files[b].rank;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
        const TraceFileReport& before = workload.files[order[i - 1]];
        const TraceFileReport& here = workload.files[order[i]];
        if (before.rank == here.rank)
            throw ConfigError(
                here.file,
                "/distributedInfo/rank",
                fmt::format(
                    "rank {} is also {}'s; expected each rank once", here.rank, before.file));
        if (before.steps != here.steps)
            throw ConfigError(
                here.file,
                "/traceEvents",
                fmt::format(
                    "has {} steps where {} has {}; expected traces of the same steps",
                    here.steps,
                    before.file,
                    before.steps));
    }
    ExecutionGraph& graph = workload.graph;
    Time iteration;
    for (const std::size_t i : order) {
        graph.ranks.push_back(built[i].graph);
        workload.measured.push_back(std::move(built[i].measured));
        iteration = std::max(iteration, built[i].iteration);
    }
    graph.names = names.take();
    graph.steps = workload.files.front().steps;
    Provenance& provenance = graph.provenance;
    for (const TraceFileReport& file : workload.files) {
        provenance.source += (provenance.source.empty() ? "" : ", ") + file.file;
        provenance.synthetic = provenance.synthetic || file.synthetic;
        provenance.world_size = std::max(provenance.world_size, file.world_size);
    }
    provenance.gpu_name = workload.files.front().gpu_name;
    provenance.traced_ranks = static_cast<std::uint32_t>(built.size());
    provenance.measured_iteration = iteration;
    return workload;
}

void spread_over_ranks(TraceWorkload& workload, std::uint32_t ranks) {
    ExecutionGraph& graph = workload.graph;
    SWITCHFOLD_CHECK(graph.ranks.size() == 1, "only one traced rank can stand for all");
    const std::shared_ptr<const RankGraph> one = graph.ranks.front();
    graph.ranks.assign(ranks, one);
    for (Group& group : graph.groups) {
        group.ranks.resize(ranks);
        std::iota(group.ranks.begin(), group.ranks.end(), 0U);
    }
}

}  // namespace switchfold
