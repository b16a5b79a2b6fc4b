// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/topology.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// GPUs that relay between two GPUs of their machine without a direct link, if the topology allows
/// it: NCCL's NVB, in which the relay holds the buffer. Among GPUs linked to both, the one with
/// most lanes on its narrower side is chosen, then the first.
class Relays {
public:
    explicit Relays(const Topology& topology);
    struct Hops {
        std::uint32_t gpu = 0;     ///< the relay
        std::uint32_t to = 0;      ///< hop to the relay (hop.h)
        std::uint32_t onward = 0;  ///< hop from the relay
        std::uint32_t lanes = 0;   ///< of the narrower hop
    };
    /// Nothing if no GPU can relay, or the topology does not allow it.
    [[nodiscard]] std::optional<Hops> between(std::uint32_t from, std::uint32_t to) const;

private:
    struct Link {
        std::uint32_t peer;
        std::uint32_t hop;
        std::uint32_t lanes;
    };
    std::vector<std::vector<Link>> links_;  ///< by GPU; empty if the topology does not allow relays
};

}  // namespace switchfold
