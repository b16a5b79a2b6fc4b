// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// How a collective moves its data.
enum class Algorithm : std::uint8_t {
    kAuto,
    kRing,
    kTree,          ///< a chain inside each machine, two binary trees between machines
    kInSwitch,      ///< NVLS: pull reduction and multicast by the switches of one domain
    kInSwitchTree,  ///< NVLS inside each machine, trees between the machines' heads (NVLS tree)
    kInSwitchRing,  ///< NVLS inside each machine, rings between the machines' heads
    kCollnet,       ///< NVLS inside each machine; the network's switches reduce the machines' sums
    kDirect,        ///< every rank reads or writes all others' memory
    kOwners,        ///< copies to the owner of each array, which adds them and copies the sum back
    kTopologyTree,  ///< copies along trees that minimise the load on the machine's links
    kHost,          ///< copies to the host, which adds them, and back
    kProgram,       ///< a file's program (docs/programs.md)
};

template <>
struct EnumNames<Algorithm> {
    static constexpr std::array<std::pair<Algorithm, std::string_view>, 12> kNames{
        {{Algorithm::kAuto, "auto"},
         {Algorithm::kRing, "ring"},
         {Algorithm::kTree, "tree"},
         {Algorithm::kInSwitch, "in_switch"},
         {Algorithm::kInSwitchTree, "in_switch_tree"},
         {Algorithm::kInSwitchRing, "in_switch_ring"},
         {Algorithm::kCollnet, "collnet"},
         {Algorithm::kDirect, "direct"},
         {Algorithm::kOwners, "owners"},
         {Algorithm::kTopologyTree, "topology_tree"},
         {Algorithm::kHost, "host"},
         {Algorithm::kProgram, "program"}}};
};

/// Whether a framework's own copies move the data, with kernels or host threads that add.
[[nodiscard]] constexpr bool moves_by_copies(Algorithm algorithm) {
    return algorithm == Algorithm::kOwners || algorithm == Algorithm::kTopologyTree ||
           algorithm == Algorithm::kHost;
}

/// Whether switches reduce or replicate the data: the kernel then differs from that of rings and
/// trees.
[[nodiscard]] constexpr bool reduces_in_switch(Algorithm algorithm) {
    return algorithm == Algorithm::kInSwitch || algorithm == Algorithm::kInSwitchTree ||
           algorithm == Algorithm::kInSwitchRing || algorithm == Algorithm::kCollnet;
}

/// Kind of kernels, or engines, that move a collective's data.
enum class Kernels : std::uint8_t {
    kClassic,     ///< thread blocks that pass chunks through FIFOs, or NVLS
    kSymmetric,   ///< few thread blocks on buffers mapped by all ranks (NCCL >= 2.27)
    kCopyEngine,  ///< copy engines, no SMs (NCCL >= 2.28)
    kStores,      ///< stores of the warps that make a tile, to a switch that adds or copies
};
template <>
struct EnumNames<Kernels> {
    static constexpr std::array<std::pair<Kernels, std::string_view>, 4> kNames{
        {{Kernels::kClassic, "classic"},
         {Kernels::kSymmetric, "symmetric"},
         {Kernels::kCopyEngine, "copy_engine"},
         {Kernels::kStores, "stores"}}};
};

/// Modes of in-switch reduction. Pull (NVLS): the switch reads every member's memory and returns
/// the sum to the requesting head, which stores it to all. Push (Klenk et al., ISCA 2020): members
/// write to the switch. Command: the switch reads and stores to all on a single command of the head
/// (a study; no such hardware is known).
enum class InSwitchMode : std::uint8_t { kPull, kPush, kCommand };
template <>
struct EnumNames<InSwitchMode> {
    static constexpr std::array<std::pair<InSwitchMode, std::string_view>, 3> kNames{
        {{InSwitchMode::kPull, "pull"},
         {InSwitchMode::kPush, "push"},
         {InSwitchMode::kCommand, "command"}}};
};

}  // namespace switchfold
