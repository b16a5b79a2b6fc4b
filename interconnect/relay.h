// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// GPUs that stand between two others of their machine which no link joins, where a topology lets
/// them: NCCL's NVB, in which the one between holds the buffer. Of those that have links to both,
/// the one with most lanes on its narrower side, then the first.
class Relays {
public:
    explicit Relays(const Topology& topology);
    struct Hops {
        std::uint32_t gpu = 0;     ///< that stands between
        std::uint32_t to = 0;      ///< hop to it (hop.h)
        std::uint32_t onward = 0;  ///< hop from it
        std::uint32_t lanes = 0;   ///< of the narrower one
    };
    /// Nothing if no GPU can, or the topology lets none.
    [[nodiscard]] std::optional<Hops> between(std::uint32_t from, std::uint32_t to) const;

private:
    struct Link {
        std::uint32_t peer;
        std::uint32_t hop;
        std::uint32_t lanes;
    };
    std::vector<std::vector<Link>> links_;  ///< by GPU; empty if the topology lets none
};

}  // namespace switchfold
