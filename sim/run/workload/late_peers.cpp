// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/late_peers.h"

#include "sim/core/error.h"
#include "sim/run/machine/beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

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

/// Tells the progress of simulations of which each does a share of the work.
class SharedProgress {
public:
    SharedProgress(const JobProgress& told, double work) : told_(told), work_(work) {}

    /// Of the next simulations, which do so much of the work.
    [[nodiscard]] JobProgress of(double work) {
        if (!told_)
            return {};
        done_ += current_;
        before_ = events_;
        current_ = work;
        return [this](double share, std::uint64_t events) {
            events_ = before_ + events;
            share_ = std::clamp((done_ + share * current_) / work_, share_, 1.0);
            told_(share_, events_);
        };
    }

private:
    const JobProgress& told_;
    double work_;
    double done_ = 0;
    double current_ = 0;
    double share_ = 0;  ///< told so far: an exchange runs twice
    std::uint64_t before_ = 0;
    std::uint64_t events_ = 0;
};

}  // namespace

LatePeers derive_late_peers(
    const SystemParams& system, ExecutionGraph& graph, const SimulateOptions& options) {
    // Work is bytes, which times nearly follow; a launch weighs as a MiB.
    constexpr double kLaunch = 1 << 20;
    const auto work_of = [&](const CollectiveOperation& collective) {
        return static_cast<double>(collective.bytes.count()) + kLaunch;
    };
    std::set<Shape> shapes;
    double work = 0;
    const RankGraph* last = nullptr;  // ranks share their graph
    for (const auto& rank : graph.ranks) {
        if (rank.get() == std::exchange(last, rank.get()))
            continue;
        for (const Operation& operation : rank->operations)
            if (const CollectiveOperation* collective = awaited(operation, graph.groups))
                if (shapes.insert(shape_of(as_simulated(*collective), graph)).second)
                    work += work_of(*collective);
    }
    SharedProgress progress(options.progress, work);
    std::map<Shape, TransferTime> known;
    return set_peers_late(graph, [&](const CollectiveOperation& traced, const Group& group) {
        const CollectiveOperation collective = as_simulated(traced);
        auto [at, fresh] = known.try_emplace(shape_of(collective, graph));
        if (fresh) {
            SimulateOptions alone = options;
            alone.progress = progress.of(work_of(collective));
            at->second = transfer_alone(
                system, collective, static_cast<std::uint32_t>(group.ranks.size()), alone);
        }
        return at->second;
    });
}

}  // namespace switchfold
