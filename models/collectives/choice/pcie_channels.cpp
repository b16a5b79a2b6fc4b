// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/choice/pcie_channels.h"

#include "models/collectives/choice/search_speeds.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

/// A PCIe 3 x16 slot carries 15.75 GB/s and counts as 12; later ones in proportion.
constexpr double kSlotShare = 12.0 / 15.75;
/// GB/s between AMD's sockets or NUMA nodes, whatever their links carry.
constexpr double kAmdSockets = 16;
/// Between Intel's, by processor: 6 (two links of 9.6 GB/s and more), 10 (20.8), 22, 40. About
/// half.
constexpr double kIntelShare = 0.5;
/// Intel's roots split peers' writes into packets of 64 B, which cost the slots more.
constexpr double kIntelPeers = 1.2;
/// The search ends at a speed of at most this share of the one found.
constexpr double kSlowest = 0.49;
constexpr std::uint32_t kFewest = 2;

/// How many rings of this speed fit.
std::uint32_t fitting(const CollectiveParams& params, const MachineView& machine, double speed) {
    const bool intel = params.host_processor == HostProcessor::kIntel;
    const double load = speed * (intel && machine.over_root ? kIntelPeers : 1);
    constexpr double kRounding = 1e-9;
    double most = gigabytes(machine.slot_bandwidth) * kSlotShare / load;
    if (machine.socket_bandwidth.count() > 0)
        most = std::min(
            most,
            (intel ? gigabytes(machine.socket_bandwidth) * kIntelShare : kAmdSockets) / speed);
    return static_cast<std::uint32_t>(std::floor(most + kRounding));
}

}  // namespace

std::uint32_t pcie_channels(const CollectiveParams& params, const MachineView& machine) {
    const double enough = gigabytes(machine.slot_bandwidth) * kSlotShare;
    std::uint32_t rings = 0;
    double speed = 0;
    for (const double tried : search_speeds(params.tuner)) {
        if (rings > 0 && (tried <= kSlowest * speed || rings * speed >= enough))
            break;
        const std::uint32_t found = fitting(params, machine, tried);
        if (found * tried > rings * speed) {
            rings = found;
            speed = tried;
        }
    }
    rings = std::max(rings, 1U);
    if (splits_rings(params.tuner, rings, speed))
        rings *= 2;
    return std::max(kFewest, 2 * rings);
}

}  // namespace switchfold
