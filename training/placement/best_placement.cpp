// SPDX-License-Identifier: Apache-2.0
#include "training/placement/best_placement.h"

#include "training/placement/exact_placement.h"
#include "training/placement/list_placement.h"
#include "training/placement/placement_tasks.h"
#include "training/placement/task_schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

/// Limit on tasks scheduled by `best`, over all steps: some seconds.
constexpr std::size_t kMostTasks = 20'000'000;

/// Step time; ties are decided by the bytes sent.
struct Judged {
    double seconds = 0;
    double bytes = 0;
    [[nodiscard]] bool better_than(const Judged& other) const {
        constexpr double kSame = 1e-9;
        if (seconds < other.seconds * (1 - kSame))
            return true;
        return seconds <= other.seconds && bytes < other.bytes;
    }
};

/// Moves consecutive layers of a part to another part while the step gets shorter, or stays equal
/// with fewer bytes sent.
class Mover {
public:
    Mover(const PlacementGraph& graph, const PlacementTasks& tasks) :
        graph_(graph), tasks_(tasks) {}

    /// \returns whether a local optimum was reached.
    bool improve(NodeParts& parts) {
        Judged now = judge(parts);
        while (spent_ < kMostTasks)
            if (!improve_once(parts, now))
                return spent_ < kMostTasks;
        return false;
    }
    [[nodiscard]] Judged judge(const NodeParts& parts) {
        ++estimates_;
        spent_ += tasks_.all().size();
        Judged judged{schedule_tasks(graph_, tasks_, parts).seconds, 0};
        for (const PartLoad& load : loads_of(graph_, parts))
            judged.bytes += load.bytes;
        return judged;
    }
    [[nodiscard]] std::size_t estimates() const { return estimates_; }

private:
    /// Makes the best of all moves.
    bool improve_once(NodeParts& parts, Judged& now) {
        NodeParts best = parts;
        Judged least = now;
        for (std::uint32_t part = 0; part < graph_.parts; ++part) {
            std::vector<std::uint32_t> own;
            for (std::uint32_t i = 0; i < parts.size(); ++i)
                if (parts[i] == part)
                    own.push_back(i);
            for (std::size_t from = 0; from < own.size(); ++from)
                for (std::size_t until = from; until < own.size(); ++until)
                    for (std::uint32_t to = 0; to < graph_.parts; ++to) {
                        if (to == part)
                            continue;
                        if (spent_ >= kMostTasks)
                            break;
                        NodeParts moved = parts;
                        for (std::size_t i = from; i <= until; ++i)
                            moved[own[i]] = to;
                        consider(std::move(moved), best, least);
                    }
        }
        const bool better = least.better_than(now);
        parts = std::move(best);
        now = least;
        return better;
    }
    void consider(NodeParts moved, NodeParts& best, Judged& least) {
        // Its busiest part alone takes too long.
        if (busiest(graph_, moved) > least.seconds)
            return;
        const Judged judged = judge(moved);
        if (judged.better_than(least)) {
            least = judged;
            best = std::move(moved);
        }
    }

    const PlacementGraph& graph_;
    const PlacementTasks& tasks_;
    std::size_t spent_ = 0;
    std::size_t estimates_ = 0;
};

std::optional<FoundPlacement> find_best(const PlacementGraph& graph) {
    const PlacementTasks tasks(graph);
    Mover mover(graph, tasks);
    std::optional<FoundPlacement> best;
    bool all_estimated = true;
    const auto start_from = [&](NodeParts parts) {
        all_estimated = mover.improve(parts) && all_estimated;
        FoundPlacement found = judged_placement(graph, std::move(parts));
        if (!best || found.seconds < best->seconds)
            best = std::move(found);
    };
    std::optional<ExactPlacement> exact;
    if (why_no_exact_placement(graph).empty())
        exact = exact_placement(graph);
    if (exact)
        start_from(exact->parts);
    if (auto listed = list_placement(graph))
        start_from(std::move(*listed));
    if (!best)
        return {};
    best->estimates = mover.estimates();
    best->all_estimated = all_estimated;
    if (exact) {
        best->busiest_bound = exact->bound;
        best->down_sets = exact->down_sets;
    }
    return best;
}

}  // namespace

FoundPlacement judged_placement(const PlacementGraph& graph, NodeParts parts) {
    FoundPlacement cut;
    cut.seconds = schedule_tasks(graph, PlacementTasks(graph), parts).seconds;
    cut.step_bound = step_bound(graph);
    cut.busiest = busiest(graph, parts);
    cut.parts = std::move(parts);
    return cut;
}

std::optional<FoundPlacement> find_placement(const PlacementGraph& graph, PlacementMethod method) {
    if (method == PlacementMethod::kBest)
        return find_best(graph);
    if (method == PlacementMethod::kList) {
        auto parts = list_placement(graph);
        return parts ? std::optional(judged_placement(graph, std::move(*parts))) : std::nullopt;
    }
    auto exact = exact_placement(graph);
    if (!exact)
        return {};
    FoundPlacement cut = judged_placement(graph, std::move(exact->parts));
    cut.busiest_bound = exact->bound;
    cut.down_sets = exact->down_sets;
    return cut;
}

}  // namespace switchfold
