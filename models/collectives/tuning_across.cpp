// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/tuning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace switchfold {

namespace {

/// For LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;
/// For two machines, for more.
using ByMachines = std::array<double, 2>;

// NCCL src/graph/tuning.cc:139-214, v2.30: microseconds.
constexpr ByProtocol kRingBase{6.6, 14.0, 8.4};
constexpr ByProtocol kTreeBase{6.8, 14.0, 8.4};
constexpr ByProtocol kRingNvlink{0.6, 1.9, 3.4};
constexpr ByProtocol kTreeNvlink{0.6, 1.25, 4.0};
constexpr ByProtocol kRingPcie{1.0, 2.5, 5.7};
constexpr ByProtocol kTreePcie{1.0, 1.9, 4.0};
constexpr ByProtocol kRingNetwork{2.7, 4.0, 14.0};
constexpr ByProtocol kTreeNetwork{5.0, 8.5, 14.0};
constexpr double kSwitchedNvlink = 25.0;
constexpr double kSwitchedNetwork = 20.9;
/// A ring's hop inside a machine takes at least what its proxies do (Intel; three times in Simple).
constexpr ByProtocol kNetworkOverhead{1.0, 1.0, 3.0};
/// tuning.cc treeCorrectionFactor: the share of its bandwidth that a tree reaches at 64 B, 128 B
/// ...
constexpr std::array<std::array<double, 24>, 3> kTreeReach{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};
constexpr int kTreeReachFirst = 6;  // log2 of 64 B

/// GB/s of bus bandwidth at most: LL of all channels, the others of one.
struct Generation {
    ByMachines ll;
    ByMachines ring_ll128;
    ByMachines tree_ll128;
    ByMachines tree_simple;
    ByMachines switched;  ///< 0: no NVLS tree
    double ring_plateau;  ///< of Simple rings that have much to send
};

const Generation& constants_of(TunerGeneration generation) {
    // The host's processor decides LL across machines up to Ampere: Intel's.
    static constexpr Generation kVolta{
        {39.0, 20.4}, {20.0, 20.0}, {20.0, 20.0}, {18.5, 10.0}, {0, 0}, 1.9};
    static constexpr Generation kAmpere{
        {39.0, 20.4}, {20.0, 20.0}, {20.0, 20.0}, {23.6, 17.8}, {0, 0}, 1.4};
    static constexpr Generation kHopper{
        {45.0, 35.0}, {36.7, 36.7}, {36.7, 29.0}, {41.4, 36.0}, {57.7, 45.5}, 1.4};
    static constexpr Generation kBlackwell{
        {90.0, 70.0}, {40.0, 40.0}, {31.67, 20.0}, {42.8, 24.0}, {96.0, 80.0}, 1.4};
    switch (generation) {
    case TunerGeneration::kVolta:
        return kVolta;
    case TunerGeneration::kAmpere:
        return kAmpere;
    case TunerGeneration::kHopper:
        return kHopper;
    default:
        return kBlackwell;
    }
}

double gigabytes(Bandwidth bandwidth) {
    return static_cast<double>(bandwidth.count()) * 1e-9;
}

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

/// NCCL's estimate for a group on several machines (ncclTopoTuneModel, tuning.cc:286-437): latency
/// of all steps and bytes / bandwidth. The constants are NCCL's, the bandwidths this machine's.
class AcrossMachines {
public:
    AcrossMachines(const CollectiveParams& params, const MachineView& machine, Bytes bytes) :
        constants_(constants_of(params.tuner)),
        machine_(machine),
        channels_(params.channels),
        bytes_(static_cast<double>(bytes.count())),
        machines_(machine.machines),
        column_(machine.machines == 2 ? 0 : 1) {}

    [[nodiscard]] Time ring(Protocol protocol) const {
        const std::size_t p = index_of(protocol);
        const double n = machine_.ranks;
        const double steps = 2 * (n - 1);
        const double across = 2 * (machines_ - 1);
        const double hop =
            std::max((machine_.pcie ? kRingPcie : kRingNvlink)[p], kNetworkOverhead[p]);
        const double bus = gigabytes(machine_.ring_bandwidth);
        double bandwidth = bus;
        if (protocol == Protocol::kLl)
            bandwidth = std::min(constants_.ll[column_], bus * 0.5);
        else if (protocol == Protocol::kLl128)
            bandwidth = std::min(bus * 0.92, channels_ * constants_.ring_ll128[column_]);
        double latency = kRingBase[p] + (steps - across) * hop + across * kRingNetwork[p];
        if (protocol == Protocol::kSimple && bytes_ / (channels_ * n) >= 64)
            latency *= constants_.ring_plateau;
        return estimate(latency, bandwidth * n / steps);
    }

    [[nodiscard]] Time tree(Protocol protocol) const {
        const std::size_t p = index_of(protocol);
        const double hop = (machine_.pcie ? kTreePcie : kTreeNvlink)[p];
        const double latency = kTreeBase[p] + 2 * ((machine_.per_machine - 1) * hop +
                                                   std::log2(machines_) * kTreeNetwork[p]);
        double bus = machine_.per_machine > 1
                         ? std::min(gigabytes(machine_.inside_bandwidth), rails())
                         : rails();
        if (protocol == Protocol::kLl)
            bus = std::min(bus / 3.8, constants_.ll[column_]);
        else if (protocol == Protocol::kLl128)
            bus = std::min(bus * 120 / 128, channels_ * constants_.tree_ll128[column_]);
        else
            bus = std::min(bus * 0.92, channels_ * constants_.tree_simple[column_]);
        const int size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes_) >> 1U));
        if (size < kTreeReachFirst + static_cast<int>(kTreeReach[p].size()))
            bus *= kTreeReach[p][static_cast<std::size_t>(std::max(0, size - kTreeReachFirst))];
        return estimate(latency, bus * 0.5);
    }

    /// NVLS inside the machines, a tree over their heads.
    [[nodiscard]] Time switched_tree() const {
        const double most = channels_ * constants_.switched[column_];
        if (machine_.in_switch_bandwidth.count() == 0 || most == 0)
            return kTimeMax;
        const double latency = kSwitchedNvlink + 2 * std::log2(machines_) * kSwitchedNetwork;
        const double inside = 2 * gigabytes(machine_.in_switch_bandwidth);
        return estimate(latency, std::min({inside, rails(), most}) * 0.5);
    }

private:
    /// Bus bandwidth of trees over the network: with two machines each is the root of one tree and
    /// a leaf of the other, and sends everything once instead of twice.
    [[nodiscard]] double rails() const {
        return gigabytes(machine_.rail_bandwidth) * (machine_.machines == 2 ? 2 : 1);
    }
    /// \param bandwidth GB/s
    [[nodiscard]] Time estimate(double latency_us, double bandwidth) const {
        if (bandwidth <= 0)
            return kTimeMax;
        return Time(static_cast<std::uint64_t>((latency_us + bytes_ / (bandwidth * 1e3)) * 1e6));
    }

    const Generation& constants_;
    const MachineView& machine_;
    double channels_;
    double bytes_;
    double machines_;
    std::size_t column_;
};

}  // namespace

Choice choose_across_machines(
    const CollectiveParams& params,
    const AllReducePolicy& policy,
    const MachineView& machine,
    Bytes bytes) {
    const AcrossMachines cost(params, machine, bytes);
    const auto channels = [&](std::uint32_t usual) {
        return policy.channels != 0 ? policy.channels : usual;
    };
    // Only who asks for them gets a reduction by switches of several machines or a ring over the
    // heads: NCCL has neither.
    if (policy.algorithm == Algorithm::kInSwitch || policy.algorithm == Algorithm::kInSwitchTree ||
        policy.algorithm == Algorithm::kInSwitchRing)
        return {
            policy.algorithm,
            Protocol::kSimple,
            channels(params.in_switch_channels),
            policy.registered && policy.algorithm == Algorithm::kInSwitch,
            cost.switched_tree()};
    Choice best;
    best.estimate = kTimeMax;
    const auto consider = [&](const Choice& choice) {
        if (choice.estimate < best.estimate)
            best = choice;
    };
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
            if ((policy.algorithm == Algorithm::kAuto || policy.algorithm == algorithm) &&
                (policy.protocol == Protocol::kAuto || policy.protocol == protocol))
                consider(
                    {algorithm,
                     protocol,
                     channels(channels_for(params, protocol, machine.ranks, bytes)),
                     false,
                     algorithm == Algorithm::kRing ? cost.ring(protocol) : cost.tree(protocol)});
    if (policy.algorithm == Algorithm::kAuto)
        consider(
            {Algorithm::kInSwitchTree,
             Protocol::kSimple,
             channels(params.in_switch_channels),
             false,
             cost.switched_tree()});
    return best;
}

}  // namespace switchfold
