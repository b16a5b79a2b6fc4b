// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Rounds of warps whose answers come in several packets. A warp has all of its loads under way
/// together and stores when the last one is there, so the packets of a round wait for each other.
class WarpRounds {
public:
    explicit WarpRounds(std::size_t blocks) : blocks_(blocks) {}
    /// An answer to `round` of a block's piece, which is `bytes` long. \returns all packets of
    /// the round if this is the last one, else none.
    [[nodiscard]] std::vector<Packet>
    note(std::size_t block, std::uint64_t round, std::uint64_t bytes, const Packet& answer);
    /// \returns the answers of all rounds that are not complete, and forgets them.
    [[nodiscard]] std::vector<Packet> abandon();

private:
    struct Round {
        std::uint64_t number = 0;
        std::uint64_t missing = 0;  ///< bytes
        std::vector<Packet> answers;
    };
    std::vector<std::vector<Round>> blocks_;
};

}  // namespace switchfold
