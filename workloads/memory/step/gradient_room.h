// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/update/gradient_groups.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Memory for gradients of weights: a group takes its bytes when the first layer writes to it, and
/// an operation gives them back. Groups are freed in the order in which they were completed.
class GradientRoom {
public:
    /// `bytes`: of the memory; it holds what is open at the same time.
    GradientRoom(const std::vector<GradientGroup>& groups, std::uint64_t bytes) :
        groups_(groups), bytes_(bytes) {}

    /// The operation that a group has to wait for; none: there is room.
    [[nodiscard]] std::optional<std::uint32_t> take(std::size_t group);
    void give_back(std::size_t group, std::uint32_t operation) {
        freed_.push_back({groups_[group].bytes, operation});
    }

private:
    struct Freed {
        std::uint64_t bytes = 0;
        std::uint32_t operation = 0;
    };
    const std::vector<GradientGroup>& groups_;
    std::uint64_t bytes_;
    std::uint64_t used_ = 0;
    std::vector<Freed> freed_;  ///< in the order of time
    std::size_t reused_ = 0;    ///< of them
};

}  // namespace switchfold
