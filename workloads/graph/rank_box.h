// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold {

/// A process group as frameworks lay it out over a grid of ranks (tensor x data x pipeline ...): a
/// product of strides, each with a number of steps. {0, 1, 8, 9} is two steps of 1 by two of 8.
class RankBox {
public:
    struct Side {
        std::uint32_t stride = 1;
        std::uint32_t count = 1;
        bool operator==(const Side&) const = default;
    };

    /// The box whose ranks, ascending, are these. Nothing if they are no box.
    [[nodiscard]] static std::optional<RankBox> of(const std::vector<std::uint32_t>& ranks);

    /// Whether boxes like this one, moved, cover `world` ranks without overlap.
    [[nodiscard]] bool covers(std::uint32_t world) const;
    /// The ranks of the one among them that holds `rank`, ascending. \pre covers the world
    [[nodiscard]] std::vector<std::uint32_t> around(std::uint32_t rank) const;
    /// The box of a run of `ranks` instead of `world` ranks: what reached to the end of the world
    /// reaches to the end of the run, all else stays. Nothing if that does not come out whole.
    [[nodiscard]] std::optional<RankBox> scaled(std::uint32_t world, std::uint32_t ranks) const;

    [[nodiscard]] const std::vector<Side>& sides() const { return sides_; }
    bool operator==(const RankBox&) const = default;

private:
    std::vector<Side> sides_;  ///< by stride; each a multiple of what the one before spans
};

/// Continues the first ranks of a box, ascending, to `size` ranks below `world`. Empty if they tell
/// no way to go on.
[[nodiscard]] std::vector<std::uint32_t>
continue_box(const std::vector<std::uint32_t>& first, std::uint32_t size, std::uint32_t world);

}  // namespace switchfold
