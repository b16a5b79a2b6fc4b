// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// What a collective's data may touch: these links, and the GPUs of these ranks. Both ascend.
struct Reach {
    std::vector<std::uint32_t> links;
    std::vector<std::uint32_t> ranks;
    bool operator==(const Reach&) const = default;
};

/// Whether two ascending lists have a number in common.
[[nodiscard]] bool
share_any(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b);

/// Numbers what collectives reach, and counts those under way that reach into it: what they do to
/// each other is nothing where these are none. Pure logic.
class Reaches {
public:
    /// Everything on the machine.
    static constexpr std::uint32_t kAll = 0;
    Reaches() : all_(1) { all_[kAll].overlapping = {kAll}; }

    /// The number of what is equal to it, now or before.
    std::uint32_t number_of(const Reach& reach);
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    /// Numbers of what has a link or a rank in common with it, its own among them.
    [[nodiscard]] const std::vector<std::uint32_t>& overlapping(std::uint32_t number) const {
        return all_[number].overlapping;
    }
    void begin(std::uint32_t number);
    void end(std::uint32_t number);
    /// Collectives under way that touch what is in it.
    [[nodiscard]] std::uint32_t under_way(std::uint32_t number) const {
        return all_[number].under_way;
    }

private:
    struct Numbered {
        std::optional<Reach> reach;  ///< nothing: everything
        std::vector<std::uint32_t> overlapping;
        std::uint32_t own = 0;  ///< under way with this number
        std::uint32_t under_way = 0;
    };
    std::vector<Numbered> all_;
};

}  // namespace switchfold
