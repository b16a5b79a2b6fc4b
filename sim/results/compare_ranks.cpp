// SPDX-License-Identifier: Apache-2.0
#include "sim/results/compare_ranks.h"

#include "training/plan/division/batch_division.h"
#include "workloads/profile/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr double kPicosecond = 1e-6;  // in microseconds

/// A rank's part in a collective.
struct Part {
    std::uint32_t rank = 0;
    std::uint64_t start = 0;
};

class RankComparison {
public:
    RankComparison(const ExecutionGraph& graph, const Outcome& outcome) :
        graph_(graph), kernels_(graph.ranks.size()) {
        for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
            add(rank, graph.ranks[rank]->operations, outcome.times[rank]);
    }

    /// Busy picoseconds, by active rank and those that it stands for.
    [[nodiscard]] std::vector<double> busy() const {
        std::vector<double> times;
        for (std::uint32_t rank = 0; rank < kernels_.size(); ++rank) {
            std::uint64_t sum = 0;
            for (const Interval& interval : kernels_[rank])
                sum += interval.end - interval.start;
            if (sum > 0)
                times.insert(
                    times.end(), static_cast<std::size_t>(represented(rank)),
                    static_cast<double>(sum));
        }
        return times;
    }

    /// Picoseconds, by active rank, during which all others compute nothing and wait for it, the
    /// last to arrive at a collective.
    [[nodiscard]] std::vector<double> waited_for() const {
        std::vector<double> waited(kernels_.size(), 0);
        for (const auto& [key, parts] : collectives_) {
            const Part& last =
                *std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
                    return a.start < b.start;
                });
            for (const Part& part : parts)
                waited[last.rank] += static_cast<double>(
                                         last.start - part.start -
                                         covered(kernels_[part.rank], part.start, last.start)) *
                                     represented(part.rank) / represented(last.rank);
        }
        return waited;
    }
    /// Of all ranks.
    [[nodiscard]] double sum(const std::vector<double>& waited) const {
        double all = 0;
        for (std::uint32_t rank = 0; rank < waited.size(); ++rank)
            all += represented(rank) * waited[rank];
        return all;
    }

private:
    [[nodiscard]] double represented(std::uint32_t rank) const {
        return graph_.represents.empty() ? 1 : graph_.represents[rank];
    }
    template <class Operations>
    void
    add(std::uint32_t rank, const Operations& operations,
        const std::vector<OperationTimes>& times) {
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const OperationBody& body = operations[i].body;
            if (std::holds_alternative<KernelOperation>(body))
                kernels_[rank].push_back({times[i].start.count(), times[i].end.count()});
            else if (const auto* collective = std::get_if<CollectiveOperation>(&body))
                collectives_[{collective->group, collective->sequence}].push_back(
                    {rank, times[i].start.count()});
        }
        merge_intervals(kernels_[rank]);
    }

    const ExecutionGraph& graph_;
    std::vector<std::vector<Interval>> kernels_;  ///< by rank, merged
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Part>> collectives_;
};

}  // namespace

void compare_ranks(const ExecutionGraph& graph, const Outcome& outcome, ScenarioResult& out) {
    const RankComparison ranks(graph, outcome);
    const std::vector<double> busy = ranks.busy();
    if (busy.size() < 2)
        return;
    const double share = kPicosecond / graph.steps / graph.training.rounds;
    const StepSpread spread = spread_of(busy);
    out.rank_max_over_mean = spread.longest_over_mean();
    out.rank_deviation_us = spread.deviation * share;
    const std::vector<double> waited = ranks.waited_for();
    const auto late = std::max_element(waited.begin(), waited.end());
    const double each = *late * share / static_cast<double>(busy.size() - 1);
    out.waiting_for_late_rank_us = each;
    constexpr double kWorthTelling = 0.001;  // share of an iteration worth reporting
    if (each <= kWorthTelling * out.iteration_us)
        return;
    out.late_rank = static_cast<double>(late - waited.begin());
    out.notes.push_back(fmt::format(
        "the others wait {:.3f} ms a step, on average, for rank {} and compute nothing meanwhile: "
        "{:.0f} % of all such waiting",
        each * 1e-3, late - waited.begin(), 100 * *late / ranks.sum(waited)));
}

}  // namespace switchfold
