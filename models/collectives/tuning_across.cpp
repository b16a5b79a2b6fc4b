// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/tuning.h"

#include <algorithm>
#include <bit>

namespace switchfold {

namespace {

/// What each algorithm asks of a group on several machines, as NCCL's tuner sees it
/// (graph/tuning.cc ncclTopoTuneModel): latency of all its steps, and bytes over the narrowest way.
class Estimator {
public:
    Estimator(const CollectiveParams& params, const MachineView& machine, Bytes bytes) :
        params_(params), machine_(machine), bytes_(bytes) {}

    [[nodiscard]] Time ring(Protocol protocol, std::uint32_t channels) const {
        const std::uint64_t n = machine_.ranks;
        const std::uint64_t across = 2 * (machine_.machines - 1);
        const Bytes moved(bytes_.count() * 2 * (n - 1) / n);
        const Bandwidth rate =
            std::min(wired(protocol, machine_.ring_bandwidth), blocks(protocol, channels));
        return params_.launch_latency + inside(protocol) * (2 * (n - 1) - across) +
               between(protocol) * across + serialization_time(moved, rate);
    }

    [[nodiscard]] Time tree(Protocol protocol, std::uint32_t channels) const {
        const std::uint64_t chain = machine_.per_machine - 1;
        const std::uint64_t levels = depth();
        // Everything goes up once and down once; the blocks share their rate between both.
        const Bandwidth inside_rate =
            std::min(wired(protocol, machine_.inside_bandwidth), blocks(protocol, channels)) / 2;
        const Time transfer = std::max(
            chain > 0 ? serialization_time(bytes_, inside_rate) : Time(),
            serialization_time(tree_bytes(), wired(protocol, machine_.rail_bandwidth)));
        // Simple hands over whole steps: the first one is stored and forwarded at every hop.
        Time fill;
        if (protocol == Protocol::kSimple) {
            const std::uint64_t step = std::min(
                params_.simple_buffer.count() / params_.steps, bytes_.count() / channels + 1);
            fill = serialization_time(Bytes(step), params_.simple.block_rate) * 2 *
                   (2 * (chain + levels));
        }
        return params_.launch_latency + inside(protocol) * (2 * chain) +
               between(protocol) * (2 * levels) + fill + transfer;
    }

    /// NVLS inside the machines, and over their heads a tree or a ring.
    [[nodiscard]] Time switched(Algorithm algorithm, std::uint32_t channels) const {
        const Bandwidth copies = params_.in_switch_block_rate * channels;
        const Bandwidth inside_rate = std::min(machine_.in_switch_bandwidth, copies);
        const std::uint64_t m = machine_.machines;
        const bool tree = algorithm == Algorithm::kInSwitchTree;
        const std::uint64_t hops = tree ? 2 * depth() : 2 * (m - 1);
        const Bytes across = tree ? tree_bytes() : Bytes(bytes_.count() * 2 * (m - 1) / m);
        const Time fixed = params_.in_switch_sync * 2 + machine_.in_switch_latency * 3;
        const Bytes first(std::min<std::uint64_t>(
            bytes_.count() / channels + 1, params_.in_switch_chunk.count() * machine_.per_machine));
        const Time fill = serialization_time(first, params_.in_switch_block_rate) * 2;
        return params_.launch_latency + fixed + fill + between(Protocol::kSimple) * hops +
               std::max(
                   serialization_time(bytes_, inside_rate),
                   serialization_time(across, machine_.rail_bandwidth));
    }

private:
    [[nodiscard]] std::uint64_t depth() const {
        return std::bit_width(std::uint64_t{machine_.machines} - 1);  // log2, rounded up
    }
    /// What a machine sends: with two of them each is root of one tree and leaf of the other.
    [[nodiscard]] Bytes tree_bytes() const { return machine_.machines == 2 ? bytes_ : bytes_ * 2; }
    [[nodiscard]] static Bandwidth wired(Protocol protocol, Bandwidth payload) {
        const auto [numerator, denominator] = wire_ratio(protocol);
        return payload * denominator / numerator;
    }
    [[nodiscard]] Bandwidth blocks(Protocol protocol, std::uint32_t channels) const {
        return params_of(params_, protocol).block_rate * channels;
    }
    [[nodiscard]] Time inside(Protocol protocol) const {
        const ProtocolParams& p = params_of(params_, protocol);
        return p.hop_overhead + p.slice_overhead + machine_.ring_latency;
    }
    [[nodiscard]] Time between(Protocol protocol) const {
        const ProtocolParams& p = params_of(params_, protocol);
        return p.hop_overhead + p.slice_overhead + p.network_overhead + params_.proxy_overhead +
               machine_.network_latency;
    }

    const CollectiveParams& params_;
    const MachineView& machine_;
    Bytes bytes_;
};

}  // namespace

Choice choose_across_machines(
    const CollectiveParams& params,
    const AllReducePolicy& policy,
    const MachineView& machine,
    Bytes bytes) {
    const Estimator estimate(params, machine, bytes);
    Choice best;
    best.estimate = kTimeMax;
    const auto consider =
        [&](Algorithm algorithm, Protocol protocol, std::uint32_t channels, Time t) {
            if (t < best.estimate)
                best = {algorithm, protocol, channels, false, t};
        };
    const bool automatic = policy.algorithm == Algorithm::kAuto;
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
            if ((!automatic && policy.algorithm != algorithm) ||
                (policy.protocol != Protocol::kAuto && policy.protocol != protocol))
                continue;
            const std::uint32_t channels =
                policy.channels != 0 ? policy.channels
                                     : channels_for(params, protocol, machine.ranks, bytes);
            consider(
                algorithm,
                protocol,
                channels,
                algorithm == Algorithm::kRing ? estimate.ring(protocol, channels)
                                              : estimate.tree(protocol, channels));
        }
    // NCCL has a tree over the heads, no ring; who wants one asks for it.
    for (const Algorithm algorithm : {Algorithm::kInSwitchTree, Algorithm::kInSwitchRing}) {
        const bool wanted =
            policy.algorithm == algorithm || (automatic && algorithm == Algorithm::kInSwitchTree &&
                                              machine.in_switch_bandwidth.count() > 0);
        if (!wanted)
            continue;
        const std::uint32_t channels =
            policy.channels != 0 ? policy.channels : params.in_switch_channels;
        consider(
            algorithm,
            Protocol::kSimple,
            channels,
            machine.in_switch_bandwidth.count() > 0 ? estimate.switched(algorithm, channels)
                                                    : Time());
    }
    return best;
}

}  // namespace switchfold
