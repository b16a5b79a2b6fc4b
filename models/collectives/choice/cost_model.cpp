// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/cost_model.h"

#include "models/collectives/choice/search_speeds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// Values for LL, LL128, Simple.
using PerProtocol = std::array<double, 3>;

// Latencies in microseconds: of a whole collective, of a hop inside a machine, of a hop between
// machines.
constexpr PerProtocol kRingBase{6.6, 14.0, 8.4};
constexpr PerProtocol kTreeBase{6.8, 14.0, 8.4};
constexpr PerProtocol kRingNvlink{0.6, 1.9, 3.4};
constexpr PerProtocol kTreeNvlink{0.6, 1.25, 4.0};
constexpr PerProtocol kRingPcie{1.0, 2.5, 5.7};
constexpr PerProtocol kTreePcie{1.0, 1.9, 4.0};
constexpr PerProtocol kRingNetwork{2.7, 4.0, 14.0};
constexpr PerProtocol kTreeNetwork{5.0, 8.5, 14.0};
constexpr double kInSwitchNvlink = 25.0;
constexpr double kInSwitchNetwork = 20.9;
/// The same in earlier versions (in sources of 2.21 and of the first for Blackwell, no longer in
/// 2.30's; that 2.28 changed it, with the constants that tuner plugins get, is assumed).
constexpr double kInSwitchNetworkBefore = 14.0;
constexpr std::uint32_t kInSwitchMeasuredAnew = 22'800;
constexpr double kCollnetNetwork = 18.0;  // of NVLS with an in-network reduction, once
/// Least latency of a ring's hop inside a machine if there is a network, due to its proxies on an
/// Intel host.
constexpr PerProtocol kNetworkOverhead{1.0, 1.0, 3.0};
constexpr double kAmdOverhead = 2;  // times that
/// Most bus bandwidth of LL across 2 machines and across more, GB/s, by host.
struct LlAcross {
    double two;
    double more;
};
constexpr LlAcross kLlIntel{39.0, 20.4};
constexpr LlAcross kLlAmd{22.5, 19.0};

/// Most of a channel's ring in LL128 inside one machine of Blackwells, GB/s. NCCL 2.30 has 40. The
/// sizes at which 2.29 changes protocol on 4 and 8 B200 (aic_b200sxm_2.29.2 tables: LL to 4 and 8
/// MiB, LL128 at 16 MiB in the all-reduce of 8 alone, Simple beyond) leave 32.7 to 34.7.
constexpr double kBlackwellLl128 = 34.0;
constexpr std::uint32_t kBlackwellInferred = 22'900;
/// Before this version NCCL takes all of Blackwell's limits for twice Hopper's.
constexpr std::uint32_t kBlackwellMeasured = 22'800;

// Shares of the bus bandwidth that LL and LL128 reach; for trees, LL's flags cost more.
constexpr double kLlShare = 0.5;
constexpr double kLl128Share = 0.92;
constexpr double kTreeLlShare = 1 / 3.8;
constexpr double kTreeLl128Share = 120.0 / 128.0;
constexpr double kChainLl128Share = 7.0 / 9.0;  // of the tree inside one machine
constexpr double kTreeShare = 0.92;
constexpr double kOneGpuShare = 0.85;  // where all of a tree's traffic passes one GPU of a machine
/// Bytes per rank and channel from which a Simple ring has reached its plateau.
constexpr double kPlateauBytes = 64;

/// treeCorrectionFactor: share of its bandwidth that a tree reaches at 64 B, 128 B ...
constexpr std::array<std::array<double, 24>, 3> kTreeReach{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};
constexpr int kTreeReachFirst = 6;  // log2 of 64 B

std::size_t index_of(Protocol protocol) {
    switch (protocol) {
    case Protocol::kLl:
        return 0;
    case Protocol::kLl128:
        return 1;
    default:
        return 2;
    }
}

/// \param bandwidth GB/s
Time estimate(double latency_us, Bytes bytes, double bandwidth) {
    if (bandwidth <= 0)
        return kTimeMax;
    const double us = latency_us + static_cast<double>(bytes.count()) / (bandwidth * 1e3);
    return Time(static_cast<std::uint64_t>(us * 1e6));
}

}  // namespace

/// Upper limits on bus bandwidth, GB/s, of a channel of the search. 0: unlimited.
struct CostModel::AtScale {
    double ring_ll128;
    double tree_ll128;
    double tree;           ///< in any protocol
    double switched_tree;  ///< of a block

    /// Twice these limits, but for a block's trees in the switch.
    [[nodiscard]] constexpr AtScale twice(double switched) const {
        return {2 * ring_ll128, 2 * tree_ll128, 2 * tree, switched};
    }
};

struct CostModel::Generation {
    AtScale one;  ///< one machine
    AtScale two;
    AtScale more;
    double ll;            ///< most bus bandwidth of LL inside one machine, GB/s
    double link_share;    ///< what NCCL assumes of a link's line rate (topo.h:17-35)
    double ring_plateau;  ///< latency of a Simple ring across machines for large sizes
    double in_switch_efficiency;
};

const CostModel::Generation&
CostModel::constants_of(TunerGeneration generation, std::uint32_t version) {
    static constexpr Generation kVolta{{20.0, 20.0, 26.5, 0},
                                       {20.0, 20.0, 18.5, 0},
                                       {20.0, 20.0, 10.0, 0},
                                       39.0,
                                       20.0 / 25,
                                       1.9,
                                       0};
    static constexpr Generation kAmpere{{20.0, 20.0, 24.0, 0},
                                        {20.0, 20.0, 23.6, 0},
                                        {20.0, 20.0, 17.8, 0},
                                        87.7,
                                        20.0 / 25,
                                        1.4,
                                        0};
    static constexpr Generation kHopper{
        {36.7, 36.7, 38.7, 0},
        {36.7, 36.7, 41.4, 57.7},
        {36.7, 29.0, 36.0, 45.5},
        141.0,
        20.6 / 26.5625,
        1.4,
        0.85};
    static constexpr Generation kBlackwell{
        {kBlackwellLl128, 55.6, 70.0, 0},
        {40.0, 31.67, 42.8, 96.0},
        {40.0, 20.0, 24.0, 80.0},
        282.0,
        40.1 / 53.125,
        1.4,
        0.74};
    static constexpr Generation kFirstBlackwell = [] {
        Generation first = kBlackwell;
        first.one = kHopper.one.twice(kBlackwell.one.switched_tree);
        first.two = kHopper.two.twice(kBlackwell.two.switched_tree);
        first.more = kHopper.more.twice(kBlackwell.more.switched_tree);
        return first;
    }();
    static constexpr Generation kSecondBlackwell = [] {
        // NCCL 2.28 measured trees anew, rings in LL128 not yet.
        Generation second = kBlackwell;
        second.one.ring_ll128 = kFirstBlackwell.one.ring_ll128;
        second.two.ring_ll128 = kFirstBlackwell.two.ring_ll128;
        second.more.ring_ll128 = kFirstBlackwell.more.ring_ll128;
        return second;
    }();
    switch (generation) {
    case TunerGeneration::kVolta:
        return kVolta;
    case TunerGeneration::kAmpere:
        return kAmpere;
    case TunerGeneration::kHopper:
        return kHopper;
    default:
        if (version < kBlackwellMeasured)
            return kFirstBlackwell;
        return version < kBlackwellInferred ? kSecondBlackwell : kBlackwell;
    }
}

CostModel::CostModel(
    const CollectiveParams& params, const MachineView& machine, CollectiveKind kind) :
    constants_(constants_of(params.tuner, params.nccl_version)),
    speeds_(search_speeds(params.tuner)),
    most_across_(most_across(params.tuner)),
    kind_(kind),
    host_(params.host_processor),
    version_(params.nccl_version),
    machine_(machine),
    channels_(channels_of(params, machine)),
    network_latency_(to_microseconds(params.tuner_network_latency)) {}

const CostModel::AtScale& CostModel::at_scale() const {
    if (machine_.machines == 1)
        return constants_.one;
    return machine_.machines == 2 ? constants_.two : constants_.more;
}

double CostModel::links_bus() const {
    return gigabytes(machine_.ring_line_rate) * constants_.link_share;
}

double CostModel::ring_bus() const {
    if (machine_.machines > 1 || machine_.pcie)
        return gigabytes(machine_.ring_bandwidth);
    // Whole rings of one of the listed speeds: 12 of 30 GB/s where 18 links carry 371 (NVIDIA/
    // nccl#1367).
    constexpr double kMostRings = 16;  // half of MAXCHANNELS
    constexpr double kRounding = 1e-6;
    double most = 0;
    for (const double speed : speeds_)
        most = std::max(
            most, speed * std::min(kMostRings, std::floor(links_bus() / speed + kRounding)));
    return most;
}

double CostModel::most_ll() const {
    if (machine_.machines == 1)
        return constants_.ll;
    const LlAcross& across = host_ == HostProcessor::kAmd ? kLlAmd : kLlIntel;
    return machine_.machines == 2 ? across.two : across.more;
}

double CostModel::searched_channels() const {
    // Connecting them doubles what the search has found (graph/connect.cc, ncclTopoPostset).
    return std::max(1.0, channels_ / 2.0);
}

double CostModel::rails() const {
    // With two machines, each is the root of one tree and a leaf of the other, and sends everything
    // once instead of twice.
    return gigabytes(machine_.rail_bandwidth) * (machine_.machines == 2 ? 2 : 1);
}

double CostModel::tree_rails() const {
    // The search raises what a channel carries twice step by step, and no higher than it lists.
    const double once = gigabytes(machine_.rail_bandwidth);
    return std::max(once, std::min(rails(), machine_.rails * most_across_));
}

Time CostModel::ring(Protocol protocol, Bytes bytes) const {
    const std::size_t p = index_of(protocol);
    const bool networked = machine_.machines > 1;
    double hop = (machine_.pcie ? kRingPcie : kRingNvlink)[p];
    if (networked)
        hop = std::max(
            hop, kNetworkOverhead[p] * (host_ == HostProcessor::kAmd ? kAmdOverhead : 1.0));
    double bus = ring_bus();
    if (protocol == Protocol::kLl)
        bus = std::min(most_ll(), kLlShare * bus);
    else if (protocol == Protocol::kLl128)
        bus = std::min(kLl128Share * bus, searched_channels() * at_scale().ring_ll128);
    const double n = machine_.ranks;
    const bool chain = kind_ == CollectiveKind::kBroadcast || kind_ == CollectiveKind::kReduce;
    const double rounds = kind_ == CollectiveKind::kAllReduce ? 2 : 1;
    const double steps = chain ? n : rounds * (n - 1);
    const double across = rounds * (static_cast<double>(machine_.machines) - 1);
    double latency =
        kRingBase[p] + (steps - across) * hop + across * (kRingNetwork[p] + network_latency_);
    // A chain with equal channels counts as one hop. Channels that leave machines by different
    // network interfaces differ; each hop then counts as one between machines (tuning.cc,
    // sameChannels), with Simple as a tree's.
    if (chain && networked && machine_.rails > 1)
        latency =
            kRingBase[p] + steps * (protocol == Protocol::kSimple ? kTreeNetwork : kRingNetwork)[p];
    else if (chain)
        latency = kRingBase[p] + (networked ? kRingNetwork[p] + network_latency_ : hop);
    if (networked && protocol == Protocol::kSimple && kind_ == CollectiveKind::kAllReduce &&
        static_cast<double>(bytes.count()) / (channels_ * n) >= kPlateauBytes)
        latency *= constants_.ring_plateau;
    return estimate(latency, bytes, bus * n / steps);
}

Time CostModel::tree(Protocol protocol, Bytes bytes) const {
    const std::size_t p = index_of(protocol);
    const double hop = (machine_.pcie ? kTreePcie : kTreeNvlink)[p];
    const double latency =
        kTreeBase[p] + 2 * ((machine_.per_machine - 1) * hop +
                            std::log2(machine_.machines) * (kTreeNetwork[p] + network_latency_));
    double bus = tree_rails();
    if (machine_.machines == 1)
        bus = gigabytes(machine_.inside_bandwidth);
    else if (machine_.per_machine > 1)
        bus = std::min(gigabytes(machine_.inside_bandwidth), bus);
    bus = std::min(bus * kTreeShare, searched_channels() * at_scale().tree);
    if (protocol == Protocol::kLl) {
        bus = std::min(bus * kTreeLlShare, most_ll());
    } else if (protocol == Protocol::kLl128) {
        const double share = machine_.machines == 1 ? kChainLl128Share : kTreeLl128Share;
        bus = std::min(bus * share, searched_channels() * at_scale().tree_ll128);
    }
    if (machine_.machines > 1 && machine_.per_machine == 1)
        bus *= kOneGpuShare;
    const int size = static_cast<int>(std::bit_width(bytes.count() >> 1U));
    if (size < kTreeReachFirst + static_cast<int>(kTreeReach[p].size()))
        bus *= kTreeReach[p][static_cast<std::size_t>(std::max(0, size - kTreeReachFirst))];
    return estimate(latency, bytes, bus * 0.5);
}

Time CostModel::in_switch(Bytes bytes) const {
    if (machine_.in_switch_bandwidth.count() == 0 || constants_.in_switch_efficiency == 0)
        return kTimeMax;
    // Every rank is the head of one search channel; the search assigns each the highest speed that
    // the links still support.
    const double n = machine_.ranks;
    double speed = speeds_.back();
    for (const double candidate : speeds_)
        if (candidate * n <= links_bus()) {
            speed = candidate;
            break;
        }
    const double busy = 2 * n * speed * constants_.in_switch_efficiency * (n - 1) / n;
    return estimate(kInSwitchNvlink, bytes, busy * n / (2 * (n - 1)));
}

Time CostModel::switched_tree(Bytes bytes) const {
    if (machine_.in_switch_bandwidth.count() == 0)
        return kTimeMax;
    const double across =
        version_ < kInSwitchMeasuredAnew ? kInSwitchNetworkBefore : kInSwitchNetwork;
    const double latency =
        kInSwitchNvlink + 2 * std::log2(machine_.machines) * (across + network_latency_);
    const double inside = 2 * gigabytes(machine_.in_switch_bandwidth);
    const double most = channels_ * at_scale().switched_tree;
    return estimate(latency, bytes, std::min({inside, rails(), most}) * 0.5);
}

Time CostModel::collnet(Bytes bytes) const {
    if (machine_.in_switch_bandwidth.count() == 0)
        return kTimeMax;
    // Every machine sends and receives everything once.
    const double latency = kInSwitchNvlink + kCollnetNetwork + network_latency_;
    return estimate(
        latency, bytes,
        std::min(gigabytes(machine_.in_switch_bandwidth), gigabytes(machine_.rail_bandwidth)));
}

}  // namespace switchfold
