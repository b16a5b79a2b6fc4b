// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/choice/algorithm.h"
#include "models/collectives/parameters.h"
#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace switchfold {

class TunerTable;

/// Collectives as environment and tuners' tables name them.
inline constexpr std::array<std::pair<std::string_view, CollectiveKind>, 5> kNcclFunctions{
    {{"broadcast", CollectiveKind::kBroadcast},
     {"reduce", CollectiveKind::kReduce},
     {"allgather", CollectiveKind::kAllGather},
     {"reducescatter", CollectiveKind::kReduceScatter},
     {"allreduce", CollectiveKind::kAllReduce}}};

/// What NCCL's environment and a tuner's table leave to choose among.
struct NcclWords {
    std::uint32_t algorithms = UINT32_MAX;  ///< bit i: the algorithm of number i may run
    std::uint32_t protocols = UINT32_MAX;
    std::uint32_t least_channels = 0;
    std::uint32_t most_channels = 0;          ///< 0: the machine's rules
    std::shared_ptr<const TunerTable> tuner;  ///< null: there is none

    [[nodiscard]] bool allows(Algorithm algorithm) const {
        return (algorithms >> static_cast<std::uint32_t>(algorithm) & 1U) != 0;
    }
    [[nodiscard]] bool allows(Protocol protocol) const {
        return (protocols >> static_cast<std::uint32_t>(protocol) & 1U) != 0;
    }
    [[nodiscard]] std::uint32_t within(std::uint32_t channels) const {
        channels = most_channels != 0 ? std::min(channels, most_channels) : channels;
        return std::max(channels, least_channels);
    }
    [[nodiscard]] bool used() const { return *this != NcclWords(); }
    bool operator==(const NcclWords&) const = default;
};

}  // namespace switchfold
