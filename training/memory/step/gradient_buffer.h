// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/update/gradient_groups.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// Memory for weight gradients: a group takes its bytes when its first layer writes to it, and an
/// operation frees them. Groups are freed in the order of completion.
class GradientBuffer {
public:
    /// `bytes`: size of the memory. \pre it holds all groups that are open at the same time.
    GradientBuffer(const std::vector<GradientGroup>& groups, std::uint64_t bytes) :
        groups_(groups), bytes_(bytes) {}

    /// Reserves memory for a group. \returns the operation that it must wait for, if any.
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
    std::vector<Freed> freed_;  ///< in order of time
    std::size_t reused_ = 0;    ///< number of entries already reused
};

}  // namespace switchfold
