// SPDX-License-Identifier: Apache-2.0
#include "training/memory/offload/optimal.h"

#include "training/memory/offload/elimination.h"
#include "training/memory/offload/mebibytes.h"
#include "training/memory/offload/programme.h"
#include "training/memory/offload/window_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>

namespace switchfold {

namespace {

std::string too_wide(std::uint32_t width, const OptimalOptions& options) {
    return fmt::format(
        "steps that depend on each other have {} candidates open at a time; the exact programme "
        "takes {}, expected first_fit for this one",
        width, options.most_flags);
}

std::string too_little(std::uint64_t capacity, std::uint64_t least) {
    return fmt::format(
        "{} for retained data and staging are less than any choice needs; expected {} or more",
        in_mebibytes(capacity), in_mebibytes(least));
}

/// The problem in granules. If all candidates have equally many copies, each counts once, so that
/// sums of granules suffice.
OffloadProblem in_granules(const OffloadProblem& problem, std::uint64_t granule) {
    const auto rounded = [&](std::uint64_t bytes) { return (bytes + granule - 1) / granule; };
    OffloadProblem small = problem;
    for (std::uint64_t& bytes : small.bytes)
        bytes = rounded(bytes);
    for (OffloadWindow& window : small.windows)
        window.fixed = rounded(window.fixed);
    return small;
}

bool all_copies_equal(const OffloadProblem& problem) {
    return std::all_of(problem.copies.begin(), problem.copies.end(), [&](std::uint32_t copies) {
        return copies == problem.copies.front();
    });
}

/// Upper bound: bytes saved if candidates could be split, taking those with most copies first.
std::uint64_t saved_by_cutting(const OffloadProblem& problem, std::uint64_t bytes) {
    std::vector<std::uint32_t> order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return problem.copies[a] > problem.copies[b];
    });
    std::uint64_t saved = 0;
    for (const std::uint32_t candidate : order) {
        const std::uint64_t part = std::min(bytes, problem.bytes[candidate]);
        saved += part * problem.copies[candidate];
        bytes -= part;
    }
    return saved;
}

std::string gave_up(const OptimalOptions& options) {
    return fmt::format(
        "the search for a choice was given up after {} steps; expected a granule above {} bytes, "
        "or "
        "another planner",
        options.most_effort, options.granule);
}

/// The rest of a problem after some candidates are decided.
struct Reduced {
    OffloadProblem problem;
    std::vector<std::uint32_t> candidates;  ///< indices into the whole problem
    std::uint64_t retained = 0;             ///< by these decisions
};

/// Retains candidates with more copies than `copies`, rejects those with fewer, and leaves the rest
/// open.
Reduced only_equal(const OffloadProblem& whole, std::uint32_t copies) {
    Reduced reduced;
    std::vector<std::uint32_t> index(whole.size());
    for (std::uint32_t c = 0; c < whole.size(); ++c) {
        if (whole.copies[c] > copies)
            reduced.retained += whole.bytes[c];
        if (whole.copies[c] != copies)
            continue;
        index[c] = static_cast<std::uint32_t>(reduced.candidates.size());
        reduced.candidates.push_back(c);
        reduced.problem.bytes.push_back(whole.bytes[c]);
        reduced.problem.copies.push_back(1);
        reduced.problem.items.push_back(whole.items[c]);
    }
    reduced.problem.factor = whole.factor;
    for (const OffloadWindow& window : whole.windows) {
        OffloadWindow rest{window.fixed, {}};
        for (const std::uint32_t c : window.candidates) {
            if (whole.copies[c] == copies)
                rest.candidates.push_back(index[c]);
            else if (whole.copies[c] < copies)
                rest.fixed += whole.bytes[c];
        }
        reduced.problem.windows.push_back(std::move(rest));
    }
    return reduced;
}

/// Copies of the candidate at which `bytes` run out when those with most copies are retained first.
std::uint32_t copies_at(const OffloadProblem& problem, std::uint64_t bytes) {
    std::vector<std::uint32_t> kinds = problem.copies;
    std::sort(kinds.rbegin(), kinds.rend());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    for (const std::uint32_t copies : kinds) {
        std::uint64_t more = 0;
        for (std::size_t c = 0; c < problem.size(); ++c)
            more += problem.copies[c] >= copies ? problem.bytes[c] : 0;
        if (more >= bytes)
            return copies;
    }
    return kinds.back();
}

/// Candidates with different numbers of copies need a table of values, 32 times the size of a bit
/// set. The table is unnecessary if all candidates with most copies fit and the rest can be filled
/// to the last granule: then even split candidates would save no more. Empty if this does not hold.
std::vector<bool>
filled_exactly(const OffloadProblem& problem, std::uint64_t window, std::uint64_t limit) {
    const Reduced reduced = only_equal(problem, copies_at(problem, limit));
    if (reduced.retained > limit || largest_fixed(reduced.problem) > window)
        return {};
    const std::uint64_t rest = std::min(limit - reduced.retained, reduced.problem.total());
    const EliminationOrder order(reduced.problem, window);
    const std::vector<OffloadStage> stages = order.stages(window);
    const OffloadProgramme<ReachableSums> programme(reduced.problem, stages, window, rest);
    const auto filled = programme.better(rest > 0 ? std::optional(rest - 1) : std::nullopt);
    if (!filled)
        return {};
    const std::vector<bool>& chosen = filled->retained;
    std::vector<bool> retained(problem.size());
    const std::uint32_t copies = copies_at(problem, limit);
    for (std::size_t c = 0; c < problem.size(); ++c)
        retained[c] = problem.copies[c] > copies;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        retained[reduced.candidates[i]] = chosen[i];
    return retained;
}

/// Limit for a table of values, in which unreachable entries must stay negative.
constexpr std::uint64_t kMostValue = 1U << 29U;

/// Bytes of the tables that are kept at the same time.
std::uint64_t table_bytes(
    const OffloadProblem& problem, const std::vector<OffloadStage>& stages, std::uint64_t limit,
    bool equal) {
    std::uint64_t sums = 0;
    std::vector<std::uint64_t> sizes;
    for (const OffloadStage& stage : stages) {
        sums = std::min(limit, sums + problem.bytes[stage.candidate]);
        const std::uint64_t one = equal ? sums / 8 : sums * sizeof(std::int32_t);
        sizes.push_back(one << (stage.flags + 1 - stage.dropped.size()));
    }
    // Keeps every stride-th table, plus the largest stretch between two of them.
    const auto stride = static_cast<std::size_t>(std::sqrt(sizes.size())) + 1;
    std::uint64_t kept = 0;
    std::uint64_t worst = 0;
    for (std::size_t i = 0; i < sizes.size(); i += stride) {
        kept += sizes[i];
        std::uint64_t stretch = 0;
        for (std::size_t j = i; j < std::min(sizes.size(), i + stride); ++j)
            stretch += sizes[j];
        worst = std::max(worst, stretch);
    }
    return kept + worst;
}

/// Values [begin, end) of the fullest window, and an upper bound on what their choices save.
struct Range {
    std::uint64_t most = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator<(const Range& other) const {
        return std::pair(most, other.begin) < std::pair(other.most, begin);
    }
};

/// Ranges by descending upper bound.
class Ranges {
public:
    Ranges(const WindowLimits& limits, std::uint64_t capacity) :
        limits_(limits), capacity_(capacity) {
        if (const auto first = limits.first_that_fits(capacity))
            add(*first, limits.values().size());
    }
    [[nodiscard]] bool empty() const { return queue_.empty(); }
    /// Upper bound over all remaining ranges.
    [[nodiscard]] std::uint64_t most() const { return queue_.top().most; }
    [[nodiscard]] Range take() {
        const Range range = queue_.top();
        queue_.pop();
        return range;
    }
    void split(const Range& range) {
        const std::size_t middle = range.begin + (range.end - range.begin) / 2;
        add(range.begin, middle);
        add(middle, range.end);
    }

private:
    void add(std::size_t begin, std::size_t end) {
        if (const auto most = limits_.most_saved(capacity_, begin, end))
            queue_.push({*most, begin, end});
    }

    const WindowLimits& limits_;
    std::uint64_t capacity_;
    std::priority_queue<Range> queue_;
};

/// Upper bound, in bytes, on what any choice saves; splits ranges a limited number of times.
std::uint64_t bound_of(
    const WindowLimits& limits, const Effort& effort, std::uint64_t capacity, std::uint64_t saved) {
    constexpr int kSplits = 100;
    std::uint64_t most = saved;
    Ranges ranges(limits, capacity);
    for (int i = 0; i < kSplits && !ranges.empty() && ranges.most() > most; ++i) {
        if (effort.exhausted())
            break;
        const Range range = ranges.take();
        if (range.end - range.begin == 1)
            most = range.most;
        else
            ranges.split(range);
    }
    return ranges.empty() ? most : std::max(most, ranges.most());
}

/// Branch and bound: computes the best choice for each value of the fullest window, most promising
/// first, until no other value can save more.
class OffloadSearch {
public:
    OffloadSearch(
        const OffloadProblem& problem, std::uint64_t capacity, const OptimalOptions& options,
        OffloadChoice& choice) :
        problem_(problem),
        capacity_(capacity),
        options_(options),
        choice_(choice),
        equal_(all_copies_equal(problem)),
        order_(problem, largest_fixed(problem)),
        effort_(options.most_effort),
        limits_(problem, order_, effort_) {}

    void run() {
        if (order_.width() > options_.most_flags) {
            choice_.refusal = fmt::format(
                "rounded to {} bytes, steps that depend on each other have {} candidates open at a "
                "time; the exact programme takes {}, expected a smaller granule",
                options_.granule, order_.width(), options_.most_flags);
            return;
        }
        Ranges ranges(limits_, capacity_);
        while (!ranges.empty() && choice_.refusal.empty() && !effort_.exhausted() &&
               (!best_ || ranges.most() > *best_)) {
            const Range range = ranges.take();
            if (range.end - range.begin > 1)
                ranges.split(range);
            else
                try_window(limits_.values()[range.begin]);
        }
        if (!choice_.refusal.empty())
            choice_.retained.clear();
        else if (!best_ && effort_.exhausted())
            choice_.refusal = gave_up(options_);
        else if (!best_)
            choice_.refusal = too_little(
                capacity_ * options_.granule, limits_.least_capacity() * options_.granule);
    }

    /// Whether the search stopped early, so that other choices might save more.
    [[nodiscard]] bool ended_early() const { return effort_.exhausted(); }

private:
    void try_window(std::uint64_t window) {
        const std::uint64_t limit = capacity_ - problem_.factor * window;
        ++choice_.certificate.windows_tried;
        if (equal_)
            try_one<ReachableSums>(window, limit);
        else if (auto filled = filled_exactly(problem_, window, limit); !filled.empty())
            take(saved_by_cutting(problem_, limit), window, std::move(filled));
        else
            try_one<ReachableValues>(window, limit);
    }

    void take(std::uint64_t saved, std::uint64_t window, std::vector<bool> retained) {
        if (best_ && saved <= *best_)
            return;
        best_ = saved;
        choice_.certificate.window = window * options_.granule;
        choice_.retained = std::move(retained);
    }

    template <class State>
    void try_one(std::uint64_t window, std::uint64_t limit) {
        const std::vector<OffloadStage> stages = order_.stages(window);
        if (const std::uint64_t bytes = table_bytes(problem_, stages, limit, equal_);
            bytes > options_.most_table_bytes ||
            (!equal_ && saved_by_cutting(problem_, problem_.total()) > kMostValue)) {
            choice_.refusal = fmt::format(
                "its tables would take {} of this computer's memory; expected a granule above {} "
                "bytes",
                in_mebibytes(bytes), options_.granule);
            return;
        }
        effort_.spend(stages);
        const OffloadProgramme<State> programme(problem_, stages, window, limit);
        if (auto found = programme.better(best_))
            take(found->best.value, window, std::move(found->retained));
    }

    const OffloadProblem& problem_;
    std::uint64_t capacity_;
    const OptimalOptions& options_;
    OffloadChoice& choice_;
    bool equal_;
    EliminationOrder order_;
    Effort effort_;
    WindowLimits limits_;
    std::optional<std::uint64_t> best_;
};

bool every_size_divides(const OffloadProblem& problem, std::uint64_t granule) {
    const auto whole = [&](std::uint64_t bytes) { return bytes % granule == 0; };
    return std::all_of(problem.bytes.begin(), problem.bytes.end(), whole) &&
           std::all_of(problem.windows.begin(), problem.windows.end(), [&](const OffloadWindow& w) {
               return whole(w.fixed);
           });
}

}  // namespace

OffloadChoice retain_optimally(
    const OffloadProblem& problem, std::uint64_t capacity, const OptimalOptions& options) {
    SWITCHFOLD_CHECK(options.granule > 0, "a granule of nothing");
    OffloadChoice choice;
    choice.certificate.granule = options.granule;
    if (const std::uint64_t fixed = largest_fixed(problem);
        problem.total() + problem.factor * fixed <= capacity) {
        choice.retained.assign(problem.size(), true);
        choice.certificate.window = fixed;
        choice.certificate.saved_at_most = saved_bytes(problem, choice.retained);
        choice.certificate.optimal = true;
        return choice;
    }
    const EliminationOrder exact_order(problem, largest_fixed(problem));
    choice.certificate.flags = exact_order.width();
    if (exact_order.width() > options.most_flags) {
        choice.refusal = too_wide(exact_order.width(), options);
        return choice;
    }
    Effort effort(options.most_effort);
    const WindowLimits exact(problem, exact_order, effort);
    if (!exact.first_that_fits(capacity)) {
        choice.refusal =
            effort.exhausted() ? gave_up(options) : too_little(capacity, exact.least_capacity());
        return choice;
    }
    OffloadProblem small = in_granules(problem, options.granule);
    if (all_copies_equal(problem))
        std::fill(small.copies.begin(), small.copies.end(), 1U);
    for (std::size_t i = 0; i < problem.size(); ++i)
        choice.certificate.rounding += small.bytes[i] * options.granule - problem.bytes[i];
    OffloadSearch search(small, capacity / options.granule, options, choice);
    search.run();
    if (!choice.refusal.empty())
        return choice;
    const std::uint64_t saved = saved_bytes(problem, choice.retained);
    const bool whole = every_size_divides(problem, options.granule);
    choice.certificate.saved_at_most =
        whole && !search.ended_early() ? saved : bound_of(exact, effort, capacity, saved);
    choice.certificate.optimal = choice.certificate.saved_at_most == saved;
    return choice;
}

std::optional<std::uint64_t>
most_saved(const OffloadProblem& problem, std::uint64_t capacity, const OptimalOptions& options) {
    const EliminationOrder order(problem, largest_fixed(problem));
    if (order.width() > options.most_flags)
        return {};
    Effort effort(options.most_effort);
    const WindowLimits limits(problem, order, effort);
    if (!limits.first_that_fits(capacity) || effort.exhausted())
        return {};
    return bound_of(limits, effort, capacity, 0);
}

LeastCapacity least_capacity(const OffloadProblem& problem, const OptimalOptions& options) {
    const EliminationOrder order(problem, largest_fixed(problem));
    if (order.width() > options.most_flags)
        return {0, too_wide(order.width(), options)};
    Effort effort(options.most_effort);
    const std::uint64_t bytes = WindowLimits(problem, order, effort).least_capacity();
    return {bytes, effort.exhausted() ? gave_up(options) : std::string()};
}

}  // namespace switchfold
