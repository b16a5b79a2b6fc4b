// SPDX-License-Identifier: Apache-2.0
#include "training/memory/recompute/recompute_chain.h"

#include "core/error.h"
#include "training/memory/offload/mebibytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

namespace switchfold {

namespace {

/// Memory and time of one segment, independent of those before it.
struct SegmentCost {
    std::uint64_t stored = 0;
    std::uint64_t beside = 0;  ///< additional to stored bytes while its backward runs
    std::uint64_t offloaded = 0;
    double extra = 0;
};

SegmentCost cost_of(const std::vector<ChainUnit>& chain, const Segment& segment) {
    const ChainUnit& first = chain[segment.first];
    SegmentCost cost;
    cost.stored = first.input;
    cost.beside = first.working;
    switch (segment.mode) {
    case SegmentMode::kKeep:
        cost.stored += first.inside;
        return cost;
    case SegmentMode::kSelective:
        cost.stored += first.inside - first.selective;
        cost.beside += first.selective;
        cost.extra = first.selective_seconds;
        return cost;
    case SegmentMode::kOffload:
        cost.beside += first.inside;
        cost.offloaded = first.inside;
        return cost;
    case SegmentMode::kRecompute:
        break;
    }
    // After the forward everything is held; backward frees it step by step.
    std::uint64_t made = 0;
    std::uint64_t most = 0;
    for (std::uint32_t i = segment.first; i <= segment.last; ++i) {
        made += chain[i].inside + (i > segment.first ? chain[i].input : 0);
        most = std::max(most, made + chain[i].working);
        cost.extra += chain[i].forward;
    }
    cost.beside = most;
    return cost;
}

RecomputePlan one_by_one(const std::vector<ChainUnit>& chain, SegmentMode mode) {
    RecomputePlan plan;
    for (std::uint32_t i = 0; i < chain.size(); ++i)
        plan.push_back({mode, i, i});
    return plan;
}

/// A plan for the units up to some place.
struct Partial {
    std::uint64_t stored = 0;
    std::uint64_t offloaded = 0;  ///< or, if what is kept is held, the most beside it
    double extra = 0;
    Segment last;
    std::size_t before = 0;  ///< index among the partial plans at the place where `last` begins
};

/// Keeps the Pareto-optimal partial plans.
void keep_best(std::vector<Partial>& partials) {
    std::sort(partials.begin(), partials.end(), [](const Partial& a, const Partial& b) {
        return std::tuple(a.extra, a.stored, a.offloaded) <
               std::tuple(b.extra, b.stored, b.offloaded);
    });
    std::vector<Partial> best;
    std::map<std::uint64_t, std::uint64_t>
        stairs;  // stored -> least offloaded with at most that much stored
    for (const Partial& partial : partials) {
        auto above = stairs.upper_bound(partial.stored);
        if (above != stairs.begin() && std::prev(above)->second <= partial.offloaded)
            continue;
        while (above != stairs.end() && above->second >= partial.offloaded)
            above = stairs.erase(above);
        stairs[partial.stored] = partial.offloaded;
        best.push_back(partial);
    }
    partials = std::move(best);
}

class RecomputeSearch {
public:
    RecomputeSearch(const std::vector<ChainUnit>& chain, const ExactRecompute& options) :
        chain_(chain), options_(options), at_(chain.size() + 1) {}

    RecomputeChoice run() {
        at_[0].push_back({});
        for (std::uint32_t i = 0; i < chain_.size(); ++i) {
            keep_best(at_[i]);
            states_ += at_[i].size();
            if (states_ > options_.most_states)
                return {
                    {},
                    {},
                    fmt::format(
                        "more than {} partial plans are worth keeping; expected fewer or equal "
                        "units",
                        options_.most_states)};
            for (std::size_t p = 0; p < at_[i].size(); ++p)
                extend(i, p);
        }
        keep_best(at_.back());
        if (at_.back().empty())
            return {
                {},
                {},
                fmt::format(
                    "{} hold no plan; expected {} or more", in_mebibytes(options_.memory),
                    in_mebibytes(least_recompute_memory(chain_, options_.held)))};
        return {trace(), {}, {}};
    }

private:
    void extend(std::uint32_t i, std::size_t p) {
        add(i, p, {SegmentMode::kKeep, i, i});
        if (chain_[i].selective > 0)
            add(i, p, {SegmentMode::kSelective, i, i});
        if (options_.offload_budget > 0)
            add(i, p, {SegmentMode::kOffload, i, i});
        for (std::uint32_t last = i; last < chain_.size(); ++last)
            if (!add(i, p, {SegmentMode::kRecompute, i, last}))
                break;  // longer segments need more
    }

    bool add(std::uint32_t i, std::size_t p, const Segment& segment) {
        const Partial& before = at_[i][p];
        const SegmentCost cost = cost_of(chain_, segment);
        const std::uint64_t stored = before.stored + cost.stored;
        const std::uint64_t beside =
            options_.held ? std::max(before.offloaded, cost.beside) : cost.beside;
        const std::uint64_t offloaded = options_.held ? beside : before.offloaded + cost.offloaded;
        if (stored + beside > options_.memory ||
            (!options_.held && offloaded > options_.offload_budget))
            return false;
        at_[segment.last + 1].push_back({stored, offloaded, before.extra + cost.extra, segment, p});
        return true;
    }

    [[nodiscard]] RecomputePlan trace() const {
        RecomputePlan plan;
        std::size_t place = chain_.size();
        std::size_t p = 0;    // plans are sorted by extra time
        if (options_.held) {  // of equally fast ones that which needs least
            const std::vector<Partial>& ends = at_.back();
            constexpr double kEqual = 1 + 1e-9;  // sums of the same times in another order
            for (std::size_t i = 1; i < ends.size() && ends[i].extra <= ends[0].extra * kEqual; ++i)
                if (ends[i].stored + ends[i].offloaded < ends[p].stored + ends[p].offloaded)
                    p = i;
        }
        while (place > 0) {
            const Partial& partial = at_[place][p];
            plan.push_back(partial.last);
            place = partial.last.first;
            p = partial.before;
        }
        std::reverse(plan.begin(), plan.end());
        return plan;
    }

    const std::vector<ChainUnit>& chain_;
    const ExactRecompute& options_;
    std::vector<std::vector<Partial>> at_;  ///< by number of units covered
    std::size_t states_ = 0;
};

}  // namespace

RecomputeCost cost_of(const std::vector<ChainUnit>& chain, const RecomputePlan& plan) {
    RecomputeCost total;
    std::uint64_t stored = 0;
    std::uint64_t beside = 0;
    std::uint32_t next = 0;
    for (const Segment& segment : plan) {
        SWITCHFOLD_CHECK(
            segment.first == next && segment.last >= segment.first && segment.last < chain.size() &&
                (segment.mode == SegmentMode::kRecompute || segment.last == segment.first),
            "segments that are no chain");
        next = segment.last + 1;
        const SegmentCost cost = cost_of(chain, segment);
        stored += cost.stored;
        beside = std::max(beside, cost.beside);
        total.peak = std::max(total.peak, stored + cost.beside);
        total.offloaded += cost.offloaded;
        total.extra += cost.extra;
    }
    SWITCHFOLD_CHECK(next == chain.size(), "segments that leave units out");
    total.held = stored + beside;
    return total;
}

RecomputePlan keep_all(const std::vector<ChainUnit>& chain) {
    return one_by_one(chain, SegmentMode::kKeep);
}

RecomputePlan recompute_full(const std::vector<ChainUnit>& chain) {
    return one_by_one(chain, SegmentMode::kRecompute);
}

RecomputePlan recompute_selective(const std::vector<ChainUnit>& chain) {
    RecomputePlan plan = keep_all(chain);
    for (Segment& segment : plan)
        if (chain[segment.first].selective > 0)
            segment.mode = SegmentMode::kSelective;
    return plan;
}

RecomputePlan recompute_every(const std::vector<ChainUnit>& chain, std::uint32_t k) {
    SWITCHFOLD_CHECK(k > 0, "segments of no units");
    RecomputePlan plan;
    const auto units = static_cast<std::uint32_t>(chain.size());
    for (std::uint32_t i = 0; i < units; i += k)
        plan.push_back({SegmentMode::kRecompute, i, std::min(units, i + k) - 1});
    return plan;
}

RecomputeChoice
recompute_exactly(const std::vector<ChainUnit>& chain, const ExactRecompute& options) {
    RecomputeChoice choice = RecomputeSearch(chain, options).run();
    if (choice.plan)
        choice.cost = cost_of(chain, *choice.plan);
    return choice;
}

/// The least peak of the units after a place depends only on the bytes stored before it, so stored
/// bytes and the peak so far form the state; if what is kept is held, the most beside it.
std::uint64_t least_recompute_memory(const std::vector<ChainUnit>& chain, bool held) {
    std::vector<std::map<std::uint64_t, std::uint64_t>> at(chain.size() + 1);  // stored -> peak
    at[0][0] = 0;
    for (std::uint32_t i = 0; i < chain.size(); ++i) {
        std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
        for (const auto& [stored, peak] : at[i]) {
            if (peak >= least)
                continue;  // another stores less with as low a peak
            least = peak;
            // clang 14 captures no structured bindings by reference.
            const auto add = [&, stored = stored, peak = peak](const Segment& segment) {
                const SegmentCost cost = cost_of(chain, segment);
                const std::uint64_t now = stored + cost.stored;
                const std::uint64_t most = std::max(peak, (held ? 0 : now) + cost.beside);
                auto& known = at[segment.last + 1];
                const auto found = known.try_emplace(now, most).first;
                found->second = std::min(found->second, most);
            };
            add({SegmentMode::kKeep, i, i});
            if (chain[i].selective > 0)
                add({SegmentMode::kSelective, i, i});
            for (std::uint32_t last = i; last < chain.size(); ++last)
                add({SegmentMode::kRecompute, i, last});
        }
    }
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (const auto& [stored, peak] : at.back())
        least = std::min(least, (held ? stored : 0) + peak);
    return least;
}

}  // namespace switchfold
