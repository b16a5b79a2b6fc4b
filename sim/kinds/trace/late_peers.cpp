// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/trace/late_peers.h"

#include "core/error.h"
#include "sim/machine/beside.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/value_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// What tells how long it takes. Groups that stand alike on other nodes are alike.
struct AwaitedShape {
    CollectiveKind kind;
    Bytes bytes;
    std::vector<std::uint32_t> ranks;
    std::uint32_t exchange;
    std::uint32_t blocks;
    std::uint32_t threads;
    std::string algorithm;
    std::string protocol;
    bool estimated;
    auto operator<=>(const AwaitedShape&) const = default;
};

bool is_estimated(const CollectiveOperation& collective) {
    return collective.size_source == SizeSource::kEstimatedFromDuration;
}

/// `node_gpus`: GPUs of a node of the machine.
AwaitedShape awaited_shape(
    const CollectiveOperation& collective, const ExecutionGraph& graph, std::uint32_t node_gpus) {
    AwaitedShape shape{
        collective.kind,
        collective.bytes,
        graph.groups[collective.group].ranks,
        collective.exchange,
        collective.thread_blocks,
        collective.threads_per_block,
        std::string(collective.algorithm.text()),
        std::string(collective.protocol.text()),
        is_estimated(collective)};
    if (!shape.estimated) {
        const std::uint32_t node = shape.ranks.front() / node_gpus * node_gpus;
        for (std::uint32_t& rank : shape.ranks)
            rank -= node;
    }
    return shape;
}

/// One of each shape that the ranks wait for, the largest first: small ones fill the cores at the
/// end. Not those that take their traced time.
std::vector<std::pair<AwaitedShape, CollectiveOperation>>
awaited_shapes(const ExecutionGraph& graph, std::uint32_t node_gpus) {
    std::map<AwaitedShape, CollectiveOperation> shapes;
    const RankGraph* last = nullptr;  // ranks share their graph
    for (const auto& rank : graph.ranks) {
        if (rank.get() == std::exchange(last, rank.get()))
            continue;
        for (const Operation& operation : rank->operations)
            if (const CollectiveOperation* collective = awaited(operation, graph.groups);
                collective != nullptr && collective->given == Time())
                shapes.try_emplace(awaited_shape(*collective, graph, node_gpus), *collective);
    }
    std::vector<std::pair<AwaitedShape, CollectiveOperation>> largest_first(
        shapes.begin(), shapes.end());
    std::stable_sort(largest_first.begin(), largest_first.end(), [](const auto& a, const auto& b) {
        return a.second.bytes > b.second.bytes;
    });
    return largest_first;
}

/// The simulation of one of them alone. Its work is its bytes, which times nearly follow; a launch
/// weighs as a MiB.
Job transfer_alone(
    const SystemParams& system, const ExecutionGraph& graph,
    const std::vector<std::uint32_t>& ranks, const CollectiveOperation& collective,
    const SimulateOptions& options) {
    constexpr double kLaunch = 1 << 20;
    const UnevenExchange* parts =
        collective.exchange != 0 ? &graph.exchanges.at(collective.exchange - 1) : nullptr;
    return {
        fmt::format(
            "peers: the trace's {} of {} over {} ranks, simulated alone to tell how late the "
            "others came",
            to_string(collective.kind), to_string(collective.bytes), ranks.size()),
        [&system, ranks, collective, parts, options](const JobProgress& progress) {
            SimulateOptions told = options;
            told.progress = progress;
            // A size that was derived from a time takes that time as it was derived.
            if (is_estimated(collective))
                return value_bytes(replayed_times(system, collective, ranks, told));
            return value_bytes(traced_times(system, collective, ranks, told, parts));
        },
        static_cast<double>(collective.bytes.count()) + kLaunch};
}

}  // namespace

LatePeers derive_late_peers(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options,
    const RunJobs& run) {
    const std::uint32_t node_gpus = gpus_of_machine(system);
    const std::vector<std::pair<AwaitedShape, CollectiveOperation>> shapes =
        awaited_shapes(graph, node_gpus);
    std::vector<Job> jobs;
    jobs.reserve(shapes.size());
    for (const auto& [shape, collective] : shapes)
        jobs.push_back(transfer_alone(system, graph, shape.ranks, collective, options));
    const std::vector<TransferTime> times = values_of<TransferTime>(jobs, run);
    std::map<AwaitedShape, TransferTime> transfers;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        transfers[shapes[i].first] = times[i];
    return set_peers_late(graph, [&](const CollectiveOperation& traced, const Group& /*group*/) {
        if (traced.given != Time())
            return TransferTime{traced.given, traced.given};
        return transfers.at(awaited_shape(traced, graph, node_gpus));
    });
}

}  // namespace switchfold
