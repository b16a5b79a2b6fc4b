// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/quantisation.h"
#include "models/collectives/choice/algorithm.h"
#include "models/collectives/experts/policy.h"
#include "models/collectives/parameters.h"
#include "models/collectives/peer_copies/policy.h"

#include <cstdint>
#include <variant>

namespace switchfold {

class SwitchMode;

/// What only NCCL's rings, trees, exchanges and NVLS read.
struct NcclConfig {
    bool registered = false;
    InSwitchMode mode = InSwitchMode::kPull;
    const SwitchMode* own_mode = nullptr;  ///< a program's own, in place of `mode`
    Quantisation quantised = {};
    std::uint32_t for_a_peer = 0;        ///< exchange: channels per peer
    std::uint64_t chunk = 0;             ///< exchange: bytes that a channel hands over at once
    std::uint32_t peers_of_a_block = 1;  ///< exchange: peers that a thread block serves at once
    bool of_experts = false;             ///< exchange: the rows of a dispatch or combine
    bool operator==(const NcclConfig&) const = default;
};
/// NCCL's kernels on symmetric memory have an algorithm, a protocol and blocks, no more.
struct SymmetricConfig {
    bool operator==(const SymmetricConfig&) const = default;
};
/// Copy engines have an algorithm, no more.
struct CopyEngineConfig {
    bool operator==(const CopyEngineConfig&) const = default;
};
/// Stores of tiles have an algorithm, no more.
struct StoresConfig {
    bool operator==(const StoresConfig&) const = default;
};
/// What only dispatches and combines of mixture-of-experts layers read.
struct ExpertsConfig {
    ExpertsLibrary library = ExpertsLibrary::kDeepepNormal;
    std::uint64_t chunk = 0;         ///< tokens that a sender hands over at once
    std::uint32_t group_tables = 0;  ///< through the switch: groups; 0: the switches' limit
    bool operator==(const ExpertsConfig&) const = default;
};
/// A file's program for the ranks of a call (programs/program_file.h, program_of). Plain, since
/// records of collectives go from process to process.
struct ProgramConfig {
    std::uint32_t file = 0;  ///< by number, of those that this process and its parents have read
    std::uint32_t ranks = 0;
    std::uint32_t per_machine = 0;
    std::uint32_t instances = 1;  ///< copies of the program, each on its part of the data
    bool uses_switches = false;
    bool operator==(const ProgramConfig&) const = default;
};
/// One alternative per library; a framework's copies read their policy.
using LibraryConfig = std::variant<
    NcclConfig, SymmetricConfig, CopyEngineConfig, PeerCopyPolicy, ExpertsConfig, StoresConfig,
    ProgramConfig>;

/// How a collective runs: what every library says, and a part of its own that no other reads.
struct CollectiveConfig {
    Algorithm algorithm = Algorithm::kRing;
    Protocol protocol = Protocol::kSimple;
    std::uint32_t channels = 1;  ///< thread blocks of the kernel
    std::uint32_t threads = 0;   ///< of a block; 0: all that the protocol uses
    Time estimate;
    LibraryConfig own;

    /// \pre its library chose it
    template <class Own>
    [[nodiscard]] const Own& of() const {
        return std::get<Own>(own);
    }
    template <class Own>
    [[nodiscard]] Own& of() {
        return std::get<Own>(own);
    }
    template <class Own>
    [[nodiscard]] bool is() const {
        return std::holds_alternative<Own>(own);
    }
};

/// Whether it is NCCL's ring.
[[nodiscard]] inline bool is_ring(const CollectiveConfig& choice) {
    return choice.is<NcclConfig>() && choice.algorithm == Algorithm::kRing;
}

/// Channels for each peer of an exchange of messages between ranks; 0: it is none.
[[nodiscard]] inline std::uint32_t channels_for_a_peer(const CollectiveConfig& choice) {
    const auto* nccl = std::get_if<NcclConfig>(&choice.own);
    return nccl != nullptr ? nccl->for_a_peer : 0;
}

}  // namespace switchfold
