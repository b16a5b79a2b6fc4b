// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/reader.h"

#include "sim/core/error.h"
#include "workloads/profile/raw_trace.h"

#include <numeric>

namespace switchfold {

TraceWorkload workload_of(RawTrace raw) {
    TraceWorkload workload;
    NameTable names;
    ExecutionGraph& graph = workload.graph;
    BuiltRank built = build_rank(raw, names, graph.groups);
    TraceFileReport& report = workload.files.emplace_back(std::move(raw.report));
    if (report.world_size > 1 && report.collectives == 0)
        report.warnings.emplace_back("holds no collective: nothing runs beside its kernels");
    graph.ranks.push_back(std::move(built.graph));
    workload.measured.push_back(std::move(built.measured));
    graph.names = names.take();
    graph.steps = report.steps;
    graph.provenance = {
        report.file, report.gpu_name, report.synthetic, 1, report.world_size, built.iteration};
    return workload;
}

TraceWorkload read_kineto(const KinetoOptions& options) {
    if (options.files.empty())
        throw ConfigError("workload", "/files", "names no trace; expected at least one file");
    std::vector<TraceWorkload> ranks;
    for (const std::filesystem::path& file : options.files)
        ranks.push_back(workload_of(read_raw_trace(file, options.max_inflated)));
    return join_ranks(std::move(ranks));
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
