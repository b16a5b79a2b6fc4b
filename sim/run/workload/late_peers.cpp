// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/late_peers.h"

#include "sim/core/error.h"
#include "sim/run/machine/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace switchfold {

namespace {

/// Kind, bytes, ranks, blocks, threads and protocol.
using Shape =
    std::tuple<CollectiveKind, Bytes, std::size_t, std::uint32_t, std::uint32_t, std::string>;

Shape shape_of(const CollectiveOperation& collective, const Group& group) {
    return {
        collective.kind,
        collective.bytes,
        group.ranks.size(),
        collective.thread_blocks,
        collective.threads_per_block,
        std::string(collective.protocol.text())};
}

TransferTime transfer_alone(
    const SystemParams& system,
    const CollectiveOperation& collective,
    std::uint32_t ranks,
    const SimulateOptions& options) {
    try {
        const CollectiveTraffic traffic = traced_traffic(system, collective, ranks, options);
        return {traffic.time, traffic.after_last};
    } catch (const SimulationError& error) {
        throw SimulationError(
            "peers",
            error.time(),
            fmt::format(
                "the trace's {} of {} over {} ranks, simulated alone to tell how late the others "
                "came: {}",
                to_string(collective.kind),
                to_string(collective.bytes),
                ranks,
                error.what()));
    }
}

}  // namespace

LatePeers derive_late_peers(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options) {
    // Shares of the progress are bytes, which times nearly follow; a launch weighs as a MiB.
    constexpr double kLaunch = 1 << 20;
    std::map<Shape, double> weights;
    double all = 0;
    ExecutionGraph copy = graph;
    set_peers_late(copy, [&](const CollectiveOperation& collective, const Group& group) {
        const double weight = static_cast<double>(collective.bytes.count()) + kLaunch;
        if (weights.emplace(shape_of(collective, group), weight).second)
            all += weight;
        return TransferTime{collective.measured, collective.measured};
    });
    double done = 0;
    double weight = 0;
    std::uint64_t events_before = 0;
    std::uint64_t events = 0;
    double told = 0;
    SimulateOptions alone = options;
    if (options.progress)
        alone.progress = [&](double share, std::uint64_t events_so_far) {
            events = events_before + events_so_far;
            told = std::clamp((done + share * weight) / all, told, 1.0);  // an exchange runs twice
            options.progress(told, events);
        };
    std::map<Shape, TransferTime> known;
    return set_peers_late(graph, [&](CollectiveOperation collective, const Group& group) {
        const Shape traced = shape_of(collective, group);
        // An estimated size was derived with this machine's own channels: use them here as well.
        if (collective.kind == CollectiveKind::kAllReduce &&
            collective.size_source == SizeSource::kEstimatedFromDuration) {
            collective.thread_blocks = collective.threads_per_block = 0;
            collective.protocol = {};
        }
        auto [at, fresh] = known.try_emplace(shape_of(collective, group));
        if (fresh) {
            weight = weights[traced];
            at->second = transfer_alone(
                system, collective, static_cast<std::uint32_t>(group.ranks.size()), alone);
            done += weight;
            events_before = events;
        }
        return at->second;
    });
}

}  // namespace switchfold
