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

/// Places of the items that take time.
std::vector<std::size_t> timed(const Work& work) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < work.size(); ++i)
        if (!std::holds_alternative<HoldItem>(work[i]) &&
            !std::holds_alternative<LayerItem>(work[i]))
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

Work with_parts(const Work& work, const RepeatedWork& repeated, std::uint32_t parts) {
    Work shorter;
    std::size_t left = parts * repeated.part;
    for (std::size_t i = 0; i < work.size(); ++i) {
        const bool takes_time = !std::holds_alternative<HoldItem>(work[i]) &&
                                !std::holds_alternative<LayerItem>(work[i]);
        const bool inside = i >= repeated.begin && i < repeated.end;
        if (inside && left == 0)
            continue;
        left -= inside && takes_time ? 1 : 0;
        shorter.push_back(work[i]);
    }
    return shorter;
}

}  // namespace switchfold
