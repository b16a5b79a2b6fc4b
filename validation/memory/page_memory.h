// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::validation {

/// Consecutive pages.
struct PageRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

/// Memory in which data lie in one piece: free pages are of use only as far as they lie side by
/// side.
class PageMemory {
public:
    explicit PageMemory(std::uint64_t pages) : holes_{{0, pages}} {}

    /// Takes pages from the lowest hole that is large enough.
    [[nodiscard]] std::optional<PageRange> take_low(std::uint64_t pages);
    /// Takes pages from the upper end of the highest hole that is large enough.
    [[nodiscard]] std::optional<PageRange> take_high(std::uint64_t pages);
    void give_back(PageRange range);
    [[nodiscard]] std::uint64_t largest_hole() const;

private:
    std::vector<PageRange> holes_;  ///< ascending, none next to another
};

}  // namespace switchfold::validation
