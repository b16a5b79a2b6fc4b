// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/longest_time.h"

#include "sim/config/rank_gpus.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

constexpr double kReserve = 10;
constexpr double kReserveSeconds = 1;
constexpr double kPiece = 8192;         // bytes
constexpr double kMemoryShare = 0.01;   // assumed share for a packet beside a hundred kernels
constexpr std::size_t kMostHops = 256;  // of the longest path
constexpr int kNetworkLinks = 8;        // of a network, on the longest path

/// The slowest data movement in a machine.
class SlowestData {
public:
    explicit SlowestData(const SystemParams& system) {
        const Topology topology = build_topology(system.topology);
        double bandwidth = INFINITY;
        double latency = 0;
        for (const LinkParams& link : topology.links) {
            bandwidth = std::min(bandwidth, static_cast<double>(link.usable_bandwidth(1).count()));
            latency = std::max(latency, to_seconds(link.latency));
        }
        double often = 1;  // each byte is sent
        if (topology.congestion) {
            const CongestionParams& congestion = *topology.congestion;
            if (congestion.dcqcn)
                bandwidth =
                    std::min(bandwidth, static_cast<double>(congestion.dcqcn->least.count()));
            if (congestion.loss) {
                latency = std::max(latency, to_seconds(congestion.loss->timeout));
                often = std::pow(1 - congestion.loss->share, -kNetworkLinks);
            }
        }
        double wait = 0;
        for (const SwitchParams& node : topology.switches)
            wait = std::max(
                wait, to_seconds(node.latency) +
                          (node.reduction ? to_seconds(node.reduction->timeout) : 0.0));
        double slower = 1;
        double errors = 0;  // per bit
        for (const FaultParams& fault : system.faults) {
            if (const auto* degraded = std::get_if<LinkDegradedFault>(&fault))
                slower = std::min(slower, degraded->bandwidth_ppm * 1e-6);
            if (const auto* bits = std::get_if<BitErrorsFault>(&fault))
                errors = std::max(errors, bits->bit_error_rate);
        }
        constexpr double kBits = 8;
        double memory = INFINITY;
        const RankGpus gpus(system);
        for (const GpuParams* gpu : gpus.kinds())
            memory = std::min(
                memory, static_cast<double>(std::min(
                            gpu->memory.hbm.peak.count(), gpu->memory.l2.bandwidth.count())));
        const double piece_on_wire = bandwidth > 0 ? kPiece / (bandwidth * slower) : 0.0;
        per_byte_ = 1 / (bandwidth * slower) + 4 / (memory * kMemoryShare) +
                    kBits * errors * (2 * latency + piece_on_wire);
        per_byte_ *= often;
        const CollectiveParams& collectives = *system.collectives;
        if (collectives.proxy_copy_rate != Bandwidth())
            per_byte_ += 2 / static_cast<double>(collectives.proxy_copy_rate.count());
        if (collectives.proxy_scan_rate != Bandwidth())
            per_byte_ += 2 / static_cast<double>(collectives.proxy_scan_rate.count());
        if (collectives.byte_sum_rate != Bandwidth())
            per_byte_ += 1 / static_cast<double>(collectives.byte_sum_rate.count());
        // Scattered, gathered, and beside each other.
        per_byte_ += 4 / static_cast<double>(collectives.in_switch_copy_rate.count());
        const double hops = static_cast<double>(std::min(topology.nodes.size(), kMostHops));
        const double software = to_seconds(
            collectives.host_launch + collectives.launch_latency +
            collectives.in_switch_copy_round + collectives.in_switch_sync +
            collectives.simple.slice_overhead + collectives.push_poll + collectives.proxy_overhead);
        per_piece_ = hops * (latency + wait) + software;
    }
    /// Seconds.
    [[nodiscard]] double move(double bytes) const {
        return bytes * per_byte_ + (std::ceil(bytes / kPiece) + 1) * per_piece_;
    }

private:
    double per_byte_ = 0;
    double per_piece_ = 0;
};

class Need {
public:
    Need(const SlowestData& data, const GpuParams& gpu, const ExecutionGraph& graph) :
        data_(data), gpu_(gpu), graph_(graph) {}

    [[nodiscard]] double of(const Operation& operation) const {
        return to_seconds(operation.gap) +
               std::visit([this](const auto& body) { return of(body); }, operation.body);
    }

private:
    [[nodiscard]] double of(const KernelOperation& kernel) const {
        const double access = to_seconds(gpu_.memory.hbm.latency + gpu_.memory.l2.latency);
        return to_seconds(kernel.isolated + gpu_.completion_wait) + gpu_.exchange_accesses * access;
    }
    [[nodiscard]] double of(const CollectiveOperation& collective) const {
        const auto ranks = static_cast<double>(graph_.groups[collective.group].ranks.size());
        return to_seconds(collective.given) +
               data_.move(2 * ranks * static_cast<double>(collective.bytes.count()));
    }
    [[nodiscard]] double of(const SendOperation& send) const {
        return data_.move(static_cast<double>(send.bytes.count()));
    }
    [[nodiscard]] double of(const ReceiveOperation& receive) const {
        return data_.move(static_cast<double>(receive.bytes.count()));
    }
    [[nodiscard]] double of(const CopyOperation& copy) const {
        const auto bytes = static_cast<double>(copy.bytes.count());
        const Bandwidth slower = std::min(gpu_.copy.host_bandwidth, gpu_.copy.rate_to_host());
        // All ranks may copy over one link to their host.
        const auto ranks = static_cast<double>(graph_.ranks.size());
        return to_seconds(copy.isolated) + ranks * data_.move(bytes) +
               2 * bytes / static_cast<double>(slower.count());
    }
    [[nodiscard]] double of(const HostDelayOperation& delay) const {
        const double turns = delay.shared ? static_cast<double>(graph_.ranks.size()) : 1.0;
        return turns * to_seconds(delay.duration);
    }

    const SlowestData& data_;
    const GpuParams& gpu_;
    const ExecutionGraph& graph_;
};

}  // namespace

Time longest_time(const SystemParams& system, const ExecutionGraph& graph) {
    const SlowestData data(system);
    const RankGpus gpus(system);
    // Ranks that share operations on equal GPUs run them at the same time.
    std::set<std::pair<const RankGraph*, std::uint32_t>> seen;
    double seconds = 0;
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
        if (!seen.emplace(graph.ranks[rank].get(), gpus.kind(rank)).second)
            continue;
        const Need need(data, gpus.of(rank), graph);
        for (const Operation& operation : graph.ranks[rank]->operations)
            seconds += need.of(operation);
    }
    // Rounded to whole milliseconds, for readability.
    constexpr double kMost = 1e10;  // slightly more than a Time can hold
    const double milliseconds = std::ceil(1e3 * (kReserveSeconds + kReserve * seconds));
    return microseconds(1000) * static_cast<std::uint64_t>(std::min(milliseconds, kMost));
}

}  // namespace switchfold
