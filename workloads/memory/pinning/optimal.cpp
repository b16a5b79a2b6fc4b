// SPDX-License-Identifier: Apache-2.0
#include "workloads/memory/pinning/optimal.h"

#include "workloads/memory/pinning/elimination.h"
#include "workloads/memory/pinning/programme.h"
#include "workloads/memory/pinning/window_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace switchfold {

namespace {

std::string too_wide(std::uint32_t width, const OptimalOptions& options) {
    return fmt::format(
        "steps that depend on each other have {} candidates open at a time; the exact programme "
        "takes {}, expected first_fit for this one",
        width,
        options.most_flags);
}

std::string too_little(std::uint64_t capacity, std::uint64_t least) {
    return fmt::format(
        "{} bytes of memory are less than any choice needs; expected {} or more", capacity, least);
}

/// In granules. Copies that are all worth the same count once: a sum says all then.
PinProblem in_granules(const PinProblem& problem, std::uint64_t granule) {
    const auto rounded = [&](std::uint64_t bytes) { return (bytes + granule - 1) / granule; };
    PinProblem small = problem;
    for (std::uint64_t& bytes : small.bytes)
        bytes = rounded(bytes);
    for (PinWindow& window : small.windows)
        window.fixed = rounded(window.fixed);
    return small;
}

bool all_copies_equal(const PinProblem& problem) {
    return std::all_of(problem.copies.begin(), problem.copies.end(), [&](std::uint32_t copies) {
        return copies == problem.copies.front();
    });
}

/// What fits into so many bytes if candidates could be cut: those with most copies first.
std::uint64_t most_saved(const PinProblem& problem, std::uint64_t bytes) {
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

struct Found {
    std::uint64_t window = 0;
    std::uint64_t limit = 0;
    PinBest best;
};

template <class State>
std::vector<bool> best_choice(
    const PinProblem& problem,
    const EliminationOrder& order,
    const WindowLimits& limits,
    std::uint64_t capacity,
    PinCertificate& certificate) {
    std::optional<Found> found;
    for (auto at = limits.first_that_fits(capacity); at;
         at = limits.first_that_fits(capacity, *at + 1)) {
        const std::uint64_t window = limits.values()[*at];
        const std::uint64_t limit = capacity - problem.factor * window;
        if (found && found->best.value >= most_saved(problem, limit))
            break;
        ++certificate.windows_tried;
        const std::vector<PinStage> stages = order.stages(window);
        const auto best = PinProgramme<State>(problem, stages, window, limit).best();
        if (best && (!found || best->value > found->best.value))
            found = Found{window, limit, *best};
    }
    if (!found)
        return {};
    certificate.window = found->window;
    const std::vector<PinStage> stages = order.stages(found->window);
    return PinProgramme<State>(problem, stages, found->window, found->limit).choice(found->best);
}

/// Bytes of one state's table, and how many there may be at once.
std::uint64_t
table_bytes(const PinProblem& problem, std::uint64_t capacity, bool equal, std::uint32_t flags) {
    const std::uint64_t sums = std::min(capacity, problem.total()) + 1;
    const std::uint64_t one = equal ? sums / 8 : sums * sizeof(std::int32_t);
    const auto kept = 2 * static_cast<std::uint64_t>(std::sqrt(problem.size())) + 4;
    return one * kept * (std::uint64_t{1} << std::min(flags, 40U));
}

bool every_size_divides(const PinProblem& problem, std::uint64_t granule) {
    const auto whole = [&](std::uint64_t bytes) { return bytes % granule == 0; };
    return std::all_of(problem.bytes.begin(), problem.bytes.end(), whole) &&
           std::all_of(problem.windows.begin(), problem.windows.end(), [&](const PinWindow& w) {
               return whole(w.fixed);
           });
}

}  // namespace

PinChoice pin_optimally(
    const PinProblem& problem, std::uint64_t capacity, const OptimalOptions& options) {
    SWITCHFOLD_CHECK(options.granule > 0, "a granule of nothing");
    PinChoice choice;
    choice.certificate.granule = options.granule;
    const EliminationOrder exact_order(problem, largest_fixed(problem));
    choice.certificate.flags = exact_order.width();
    if (exact_order.width() > options.most_flags) {
        choice.refusal = too_wide(exact_order.width(), options);
        return choice;
    }
    const WindowLimits exact(problem, exact_order);
    const auto least = exact.first_that_fits(capacity);
    if (!least) {
        choice.refusal = too_little(capacity, exact.least_capacity());
        return choice;
    }
    choice.certificate.saved_at_most =
        most_saved(problem, capacity - problem.factor * exact.values()[*least]);

    PinProblem small = in_granules(problem, options.granule);
    const bool equal = problem.size() == 0 || all_copies_equal(problem);
    if (equal)
        std::fill(small.copies.begin(), small.copies.end(), 1U);
    for (std::size_t i = 0; i < problem.size(); ++i)
        choice.certificate.rounding += small.bytes[i] * options.granule - problem.bytes[i];
    const std::uint64_t granules = capacity / options.granule;
    const std::uint64_t needed =
        table_bytes(small, granules, equal, exact_order.width());
    if (needed > options.most_table_bytes) {
        choice.refusal = fmt::format(
            "its tables would take {} MiB; expected a granule above {} bytes",
            needed >> 20U,
            options.granule);
        return choice;
    }
    const EliminationOrder order(small, largest_fixed(small));
    const WindowLimits limits(small, order);
    choice.pinned =
        equal ? best_choice<ReachableSums>(small, order, limits, granules, choice.certificate)
              : best_choice<ReachableValues>(small, order, limits, granules, choice.certificate);
    if (choice.pinned.empty() && problem.size() > 0) {
        choice.refusal = too_little(capacity, limits.least_capacity() * options.granule);
        return choice;
    }
    choice.certificate.window *= options.granule;
    const std::uint64_t saved = saved_bytes(problem, choice.pinned);
    choice.certificate.optimal =
        every_size_divides(problem, options.granule) || saved == choice.certificate.saved_at_most;
    if (choice.certificate.optimal)
        choice.certificate.saved_at_most = saved;
    return choice;
}

LeastCapacity least_capacity(const PinProblem& problem, const OptimalOptions& options) {
    const EliminationOrder order(problem, largest_fixed(problem));
    if (order.width() > options.most_flags)
        return {0, too_wide(order.width(), options)};
    return {WindowLimits(problem, order).least_capacity(), {}};
}

}  // namespace switchfold
