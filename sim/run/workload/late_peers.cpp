// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/late_peers.h"

#include "sim/core/error.h"
#include "sim/run/machine/beside.h"
#include "sim/run/pool/value_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace switchfold {

namespace {

/// Kind, bytes, ranks, blocks, threads and protocol.
using Shape =
    std::tuple<CollectiveKind, Bytes, std::size_t, std::uint32_t, std::uint32_t, std::string>;

Shape shape_of(const CollectiveOperation& collective, const ExecutionGraph& graph) {
    return {
        collective.kind,
        collective.bytes,
        graph.groups[collective.group].ranks.size(),
        collective.thread_blocks,
        collective.threads_per_block,
        std::string(collective.protocol.text())};
}

/// The collective as it is simulated alone.
CollectiveOperation as_simulated(CollectiveOperation collective) {
    // An estimated size was derived with this machine's own channels: use them here as well.
    if (collective.kind == CollectiveKind::kAllReduce &&
        collective.size_source == SizeSource::kEstimatedFromDuration) {
        collective.thread_blocks = collective.threads_per_block = 0;
        collective.protocol = {};
    }
    return collective;
}

/// One of each shape that the ranks wait for, the largest first: small ones fill the cores at the
/// end.
std::vector<std::pair<Shape, CollectiveOperation>> awaited_shapes(const ExecutionGraph& graph) {
    std::map<Shape, CollectiveOperation> shapes;
    const RankGraph* last = nullptr;  // ranks share their graph
    for (const auto& rank : graph.ranks) {
        if (rank.get() == std::exchange(last, rank.get()))
            continue;
        for (const Operation& operation : rank->operations)
            if (const CollectiveOperation* collective = awaited(operation, graph.groups)) {
                const CollectiveOperation simulated = as_simulated(*collective);
                shapes.try_emplace(shape_of(simulated, graph), simulated);
            }
    }
    std::vector<std::pair<Shape, CollectiveOperation>> largest_first(shapes.begin(), shapes.end());
    std::stable_sort(largest_first.begin(), largest_first.end(), [](const auto& a, const auto& b) {
        return a.second.bytes > b.second.bytes;
    });
    return largest_first;
}

/// The simulation of one of them alone. Its work is its bytes, which times nearly follow; a launch
/// weighs as a MiB.
Job transfer_alone(
    const SystemParams& system,
    const CollectiveOperation& collective,
    std::uint32_t ranks,
    const SimulateOptions& options) {
    constexpr double kLaunch = 1 << 20;
    return {
        fmt::format(
            "peers: the trace's {} of {} over {} ranks, simulated alone to tell how late the "
            "others came",
            to_string(collective.kind),
            to_string(collective.bytes),
            ranks),
        [&system, collective, ranks, options](const JobProgress& progress) {
            SimulateOptions told = options;
            told.progress = progress;
            const CollectiveTraffic traffic = traced_traffic(system, collective, ranks, told);
            return value_bytes(TransferTime{traffic.time, traffic.after_last});
        },
        static_cast<double>(collective.bytes.count()) + kLaunch};
}

}  // namespace

LatePeers derive_late_peers(
    const SystemParams& system,
    ExecutionGraph& graph,
    const SimulateOptions& options,
    const RunJobs& run) {
    const std::vector<std::pair<Shape, CollectiveOperation>> shapes = awaited_shapes(graph);
    std::vector<Job> jobs;
    for (const auto& [shape, collective] : shapes) {
        const std::size_t ranks = graph.groups[collective.group].ranks.size();
        jobs.push_back(
            transfer_alone(system, collective, static_cast<std::uint32_t>(ranks), options));
    }
    const std::vector<TransferTime> times = values_of<TransferTime>(jobs, run);
    std::map<Shape, TransferTime> transfers;
    for (std::size_t i = 0; i < shapes.size(); ++i)
        transfers[shapes[i].first] = times[i];
    return set_peers_late(graph, [&](const CollectiveOperation& traced, const Group& /*group*/) {
        return transfers.at(shape_of(as_simulated(traced), graph));
    });
}

}  // namespace switchfold
