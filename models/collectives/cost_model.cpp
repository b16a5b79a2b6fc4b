// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/cost_model.h"

#include <algorithm>
#include <array>
#include <span>

namespace switchfold {

namespace {

/// Microseconds for LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;

constexpr ByProtocol kRingBase{6.6, 14.0, 8.4};
constexpr ByProtocol kRingNvlink{0.6, 1.9, 3.4};
constexpr ByProtocol kRingPcie{1.0, 2.5, 5.7};
constexpr double kInSwitchLatency = 25.0;
constexpr double kLlShareOfBus = 0.5;
constexpr double kLl128ShareOfBus = 0.92;
// NCCL counts 20.6 GB/s a link of sm90 and 40.1 of sm100 (topo.h:17-35), a little more than a ring
// gets.
constexpr double kSearchSlack = 1.03;

// GB/s that NCCL's search tries for a channel inside a machine (src/graph/search.cc:1051-1070).
constexpr std::array kSpeedsHopper{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
constexpr std::array kSpeedsBlackwell{
    90.0, 80.0, 70.0, 60.0, 50.0, 45.0, 40.0, 30.0, 24.0, 20.0, 19.0, 18.0};

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
    const double us = latency_us + static_cast<double>(bytes.count()) / (bandwidth * 1e3);
    return Time(static_cast<std::uint64_t>(us * 1e6));
}

}  // namespace

struct CostModel::Generation {
    double ll_most;        ///< GB/s of bus bandwidth, all channels together
    double ll128_channel;  ///< GB/s a channel
    double in_switch_efficiency;
    std::span<const double> speeds;
};

const CostModel::Generation& CostModel::constants_of(TunerGeneration generation) {
    static constexpr Generation kVolta{39.0, 20.0, 0, {}};
    static constexpr Generation kAmpere{87.7, 20.0, 0, {}};
    static constexpr Generation kHopper{141.0, 36.7, 0.85, kSpeedsHopper};
    static constexpr Generation kBlackwell{282.0, 40.0, 0.74, kSpeedsBlackwell};
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

CostModel::CostModel(TunerGeneration generation, const MachineView& machine) :
    constants_(constants_of(generation)), machine_(machine) {}

Time CostModel::ring(Protocol protocol, std::uint32_t channels, Bytes bytes) const {
    const std::size_t p = index_of(protocol);
    const double hop = (machine_.pcie ? kRingPcie : kRingNvlink)[p];
    const double bus = static_cast<double>(machine_.ring_bandwidth.count()) * 1e-9;
    double bandwidth = bus;
    if (protocol == Protocol::kLl)
        bandwidth = std::min(constants_.ll_most, kLlShareOfBus * bus);
    else if (protocol == Protocol::kLl128)
        bandwidth = std::min(kLl128ShareOfBus * bus, constants_.ll128_channel * channels);
    const double n = machine_.ranks;
    const double steps = 2 * (n - 1);
    return estimate(kRingBase[p] + steps * hop, bytes, bandwidth * n / steps);
}

Time CostModel::in_switch(Bytes bytes) const {
    if (machine_.in_switch_bandwidth.count() == 0 || constants_.in_switch_efficiency == 0)
        return kTimeMax;
    // Every rank heads one search channel; the search gives each the highest speed that the links
    // still carry.
    const double n = machine_.ranks;
    const double bus = static_cast<double>(machine_.ring_bandwidth.count()) * 1e-9;
    double speed = constants_.speeds.back();
    for (const double candidate : constants_.speeds)
        if (candidate * n <= bus * kSearchSlack) {
            speed = candidate;
            break;
        }
    const double busy = 2 * n * speed * constants_.in_switch_efficiency * (n - 1) / n;
    return estimate(kInSwitchLatency, bytes, busy * n / (2 * (n - 1)));
}

}  // namespace switchfold
