// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// What a collective's data may touch. Lists ascend.
struct Reach {
    std::vector<std::uint32_t> links;
    std::vector<std::uint32_t> ranks;
    /// By rank: share of the bandwidth of its GPU's memory that they can take at most.
    std::vector<double> loads;
};

/// Whether two ascending lists have a number in common.
[[nodiscard]] bool
share_any(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b);

/// Numbers what collectives reach, and counts those under way that reach into it. Pure logic.
class Reaches {
public:
    /// Everything on the machine.
    static constexpr std::uint32_t kAll = 0;
    Reaches() : all_(1) { all_[kAll].touching = all_[kAll].slowing = {kAll}; }

    std::uint32_t add(Reach reach);
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    /// Numbers of what has a link or a GPU in common with it, its own among them.
    [[nodiscard]] const std::vector<std::uint32_t>& touching(std::uint32_t number) const {
        return all_[number].touching;
    }
    /// Those of them that slow its data: over links in common, or in a memory that can be short of
    /// bandwidth for both.
    [[nodiscard]] const std::vector<std::uint32_t>& slowing(std::uint32_t number) const {
        return all_[number].slowing;
    }
    void begin(std::uint32_t number);
    void end(std::uint32_t number);
    /// Collectives under way that touch it, or slow its data.
    [[nodiscard]] std::uint32_t touched_by(std::uint32_t number) const {
        return all_[number].touched_by;
    }
    [[nodiscard]] std::uint32_t slowed_by(std::uint32_t number) const {
        return all_[number].slowed_by;
    }

private:
    struct Numbered {
        std::optional<Reach> reach;  ///< nothing: everything
        std::vector<std::uint32_t> touching;
        std::vector<std::uint32_t> slowing;
        std::uint32_t under_way = 0;  ///< with this number
        std::uint32_t touched_by = 0;
        std::uint32_t slowed_by = 0;
    };
    std::vector<Numbered> all_;
};

}  // namespace switchfold
