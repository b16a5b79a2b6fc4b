// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/exposed_chains.h"

#include <algorithm>

namespace switchfold {

namespace {

/// What of `merged` is not in `busy`, also merged.
std::vector<Interval>
time_without(const std::vector<Interval>& merged, std::span<const Interval> busy) {
    std::vector<Interval> left;
    auto at = busy.begin();
    for (const Interval& whole : merged) {
        std::uint64_t from = whole.start;
        while (at != busy.end() && at->end <= from)
            ++at;
        for (auto next = at; next != busy.end() && next->start < whole.end; ++next) {
            if (next->start > from)
                left.push_back({from, next->start});
            from = std::max(from, next->end);
        }
        if (from < whole.end)
            left.push_back({from, whole.end});
    }
    return left;
}

std::uint64_t common_time(const Interval& a, const Interval& b) {
    const std::uint64_t from = std::max(a.start, b.start);
    const std::uint64_t to = std::min(a.end, b.end);
    return to > from ? to - from : 0;
}

}  // namespace

void ExposedChains::add(
    std::vector<Communication> rank, std::span<const Interval> busy, double us) {
    std::sort(rank.begin(), rank.end(), [](const Communication& a, const Communication& b) {
        return a.resident.start < b.resident.start;
    });
    std::vector<Interval> resident;
    std::vector<Interval> periods;  // back to back
    for (const Communication& one : rank) {
        resident.push_back(one.resident);
        periods.push_back({std::min(one.since, one.resident.start), one.resident.end});
    }
    merge_intervals(resident);
    merge_intervals(periods);
    auto period = periods.begin();
    std::size_t first = 0;
    std::uint64_t told = 0;  // end of the gap before
    for (const Interval& gap : time_without(resident, busy)) {
        while (period->end < gap.end)
            ++period;
        const Interval chain{std::max(period->start, told), gap.end};
        told = gap.end;
        while (first < rank.size() && rank[first].resident.end <= chain.start)
            ++first;
        std::map<std::size_t, double> parts;
        std::vector<Interval> moving;
        double all = 0;
        for (std::size_t i = first; i < rank.size() && rank[i].resident.start < chain.end; ++i) {
            const Interval inside{
                std::max(chain.start, rank[i].resident.start),
                std::min(chain.end, rank[i].resident.end)};
            if (inside.end <= inside.start)
                continue;
            const auto moved = static_cast<double>(
                inside.end - inside.start - common_time(inside, rank[i].waiting));
            moving.push_back(inside);
            parts[rank[i].kind] += moved;
            all += moved;
        }
        if (parts.empty())
            continue;
        // Those beside each other share the time that they take together.
        const double together = static_cast<double>(merge_intervals(moving));
        const double share = all > together ? together / all : 1.0;
        const auto exposed = static_cast<double>(gap.end - gap.start);
        const auto longest =
            std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
                return a.second < b.second;
            });
        constexpr double kSteps = 32;
        const double length = all * share;
        const auto step =
            static_cast<unsigned>(length > exposed ? kSteps * exposed / length : kSteps);
        Sum& sum = sums_[{longest->first, step}];
        sum.exposed_us += exposed * us;
        for (const auto& [kind, ps] : parts)
            if (kind != kGiven)
                sum.chain_us[kind] += ps * share * us;
    }
}

std::vector<ExposedChain> ExposedChains::take() const {
    std::vector<ExposedChain> chains;
    for (const auto& [key, sum] : sums_)
        chains.push_back({sum.exposed_us, {sum.chain_us.begin(), sum.chain_us.end()}});
    return chains;
}

}  // namespace switchfold
