// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/buffer_check.h"

#include "training/memory/accounting/graph_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

std::uint64_t largest_buffers(const ExecutionGraph& graph, const RankGraph& rank) {
    std::uint64_t most = 0;
    for (const Operation& operation : rank.operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            most = std::max(most, collective_buffers(graph, *collective, false));
    return most;
}

}  // namespace

void check_buffers(
    const BufferCheck& check, const WorkloadContext& context, PreparedWorkload& out) {
    const RankGpus gpus = context.rank_gpus();
    for (std::uint32_t rank = 0; rank < out.graph.ranks.size(); ++rank) {
        const GpuParams& gpu = gpus.of(rank);
        const Bytes capacity = gpu.memory.for_plans();
        const std::uint64_t buffers = largest_buffers(out.graph, *out.graph.ranks[rank]);
        if (capacity.count() == 0 || buffers + check.others <= capacity.count())
            continue;
        context.lack_memory(
            check.pointer,
            fmt::format(
                "is {}, which needs {} for what is sent and received{}, and {} has {}; expected "
                "less",
                check.size, to_string(Bytes(buffers)),
                check.others == 0
                    ? ""
                    : fmt::format(
                          " and {} for {}", to_string(Bytes(check.others)), check.others_name),
                gpu.name, to_string(capacity)),
            out);
        return;
    }
}

void check_traced_memory(
    const std::vector<TraceFileReport>& files, const WorkloadContext& context,
    PreparedWorkload& out) {
    const RankGpus gpus = context.rank_gpus();
    std::map<const RankGraph*, LeastMemory> known;  // ranks share graphs
    for (std::uint32_t rank = 0; rank < out.graph.ranks.size(); ++rank) {
        const GpuParams& gpu = gpus.of(rank);
        const Bytes capacity = gpu.memory.for_plans();
        if (capacity.count() == 0)
            continue;
        const RankGraph& graph = *out.graph.ranks[rank];
        LeastMemory& least = known[&graph];
        if (least.what.empty())
            least = least_memory(out.graph, graph);
        const LeastMemory need = with_allocations(least, files[rank % files.size()]);
        if (need.bytes <= capacity.count())
            continue;
        context.lack_memory(
            "/workload/files",
            fmt::format(
                "state {} at least on rank {} ({}), and {} has {}; expected GPUs with more memory",
                to_string(Bytes(need.bytes)), rank, need.what, gpu.name, to_string(capacity)),
            out);
        return;
    }
}

}  // namespace switchfold
