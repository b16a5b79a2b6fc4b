// SPDX-License-Identifier: Apache-2.0
#include "training/plan/fold/repeated_work.h"

#include <algorithm>
#include <tuple>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

bool same(const WorkItem& a, const WorkItem& b) {
    if (a.index() != b.index())
        return false;
    if (const auto* kernel = std::get_if<KernelItem>(&a))
        return kernel->kernel == std::get<KernelItem>(b).kernel;
    if (const auto* collective = std::get_if<CollectiveItem>(&a)) {
        const auto& other = std::get<CollectiveItem>(b);
        return std::tie(
                   collective->kind, collective->bytes, collective->datatype, collective->sharing,
                   collective->beside) ==
               std::tie(other.kind, other.bytes, other.datatype, other.sharing, other.beside);
    }
    return true;
}

bool takes_time(const WorkItem& item) {
    return !std::holds_alternative<HoldItem>(item) && !std::holds_alternative<LayerItem>(item);
}

/// Places of the items that take time.
std::vector<std::size_t> timed(const Work& work) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < work.size(); ++i)
        if (takes_time(work[i]))
            places.push_back(i);
    return places;
}

/// By place, a number that is the same for items that take the same time.
std::vector<std::uint32_t> numbered(const Work& work, const std::vector<std::size_t>& places) {
    std::vector<std::size_t> firsts;
    std::vector<std::uint32_t> numbers;
    for (const std::size_t place : places) {
        const auto found = std::ranges::find_if(
            firsts, [&](std::size_t first) { return same(work[first], work[place]); });
        numbers.push_back(static_cast<std::uint32_t>(found - firsts.begin()));
        if (found == firsts.end())
            firsts.push_back(place);
    }
    return numbers;
}

}  // namespace

bool same_times(const Work& a, const Work& b) {
    const std::vector<std::size_t> of_a = timed(a);
    const std::vector<std::size_t> of_b = timed(b);
    return std::ranges::equal(
        of_a, of_b, [&](std::size_t x, std::size_t y) { return same(a[x], b[y]); });
}

std::optional<RepeatedWork> repeated_work(const Work& work, std::uint32_t fewest) {
    const std::vector<std::size_t> places = timed(work);
    const std::vector<std::uint32_t> numbers = numbered(work, places);
    RepeatedWork best;
    std::size_t first = 0;
    for (std::size_t part = 1; part * fewest <= numbers.size(); ++part) {
        std::size_t equal = 0;  // items like the one a part earlier, up to here
        for (std::size_t i = part; i < numbers.size(); ++i) {
            equal = numbers[i] == numbers[i - part] ? equal + 1 : 0;
            const auto parts = static_cast<std::uint32_t>(equal / part + 1);
            if (parts >= fewest && parts * part > best.parts * best.part) {
                best.parts = parts;
                best.part = part;
                first = i + 1 - parts * part;
            }
        }
    }
    if (best.parts == 0)
        return std::nullopt;
    const auto collective = [&](std::size_t place) {
        return std::holds_alternative<CollectiveItem>(work[places[place]]);
    };
    bool any = false;
    for (std::size_t i = first; i < first + best.part; ++i)
        any = any || collective(i);
    if (!any)
        return std::nullopt;
    best.begin = places[first];
    const std::size_t last = first + best.parts * best.part;
    best.end = last == places.size() ? work.size() : places[last];
    return best;
}

ShorterWork shorter_work(
    const Work& work, const RepeatedWork& repeated, std::uint32_t first, std::uint32_t repeating) {
    ShorterWork shorter;
    std::size_t inside = 0;  // items of the stretch that take time, so far
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (i >= repeated.end) {
            shorter.rest.push_back(work[i]);
            continue;
        }
        if (i >= repeated.begin && takes_time(work[i]))
            ++inside;
        if (inside <= first * repeated.part)
            shorter.first.push_back(work[i]);
        else if (inside <= (first + repeating) * repeated.part)
            shorter.repeating.push_back(work[i]);
    }
    return shorter;
}

}  // namespace switchfold
