// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/page_memory.h"

#include <algorithm>

namespace switchfold::validation {

std::optional<PageRange> PageMemory::take_low(std::uint64_t pages) {
    const auto hole = std::find_if(holes_.begin(), holes_.end(), [&](const PageRange& range) {
        return range.size() >= pages;
    });
    if (hole == holes_.end())
        return {};
    const PageRange taken{hole->begin, hole->begin + pages};
    hole->begin = taken.end;
    if (hole->size() == 0)
        holes_.erase(hole);
    return taken;
}

std::optional<PageRange> PageMemory::take_high(std::uint64_t pages) {
    const auto hole = std::find_if(holes_.rbegin(), holes_.rend(), [&](const PageRange& range) {
        return range.size() >= pages;
    });
    if (hole == holes_.rend())
        return {};
    const PageRange taken{hole->end - pages, hole->end};
    hole->end = taken.begin;
    if (hole->size() == 0)
        holes_.erase(std::prev(hole.base()));
    return taken;
}

void PageMemory::give_back(PageRange range) {
    if (range.size() == 0)
        return;
    auto after = std::find_if(holes_.begin(), holes_.end(), [&](const PageRange& hole) {
        return hole.begin >= range.end;
    });
    if (after != holes_.end() && after->begin == range.end) {
        range.end = after->end;
        after = holes_.erase(after);
    }
    if (after != holes_.begin() && std::prev(after)->end == range.begin)
        std::prev(after)->end = range.end;
    else
        holes_.insert(after, range);
}

std::uint64_t PageMemory::largest_hole() const {
    std::uint64_t most = 0;
    for (const PageRange& hole : holes_)
        most = std::max(most, hole.size());
    return most;
}

}  // namespace switchfold::validation
