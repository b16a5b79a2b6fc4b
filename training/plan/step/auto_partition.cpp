// SPDX-License-Identifier: Apache-2.0
// Partitions of plans that name none.
#include "training/plan/schedule/replay.h"
#include "training/plan/step/plan_step.h"

#include <algorithm>
#include <limits>
#include <map>

namespace switchfold {

namespace {

/// Squares of times are added up for at most so many choices of a stage's ends.
constexpr std::size_t kMostChoices = 50'000'000;

/// Layers at which a stage may begin: where blocks begin, or also where what follows the blocks
/// does, if there are enough; otherwise all layers.
std::vector<std::uint32_t>
places_to_cut(const Network& network, std::uint32_t stages, bool behind_blocks) {
    std::vector<std::uint32_t> places{0};
    for (std::uint32_t i = 1; i < network.layers.size(); ++i) {
        const std::uint32_t block = network.layers[i].block;
        if (block != network.layers[i - 1].block && (behind_blocks || block != kNoBlock))
            places.push_back(i);
    }
    if (places.size() >= stages)
        return places;
    if (!behind_blocks)
        return places_to_cut(network, stages, true);
    places.clear();
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        places.push_back(i);
    return places;
}

/// Times of the layers between two places, on each GPU of a stage; the slowest counts.
class Pieces {
public:
    Pieces(
        const Network& network, const GpusOfStages& gpus, const ParallelPlan& plan,
        std::vector<std::uint32_t> places) :
        gpus_(gpus), places_(std::move(places)) {
        for (const auto& of_stage : gpus)
            for (const KernelTimes* gpu : of_stage)
                if (!until_.contains(gpu))
                    until_[gpu] = sums(StageWork(network, *gpu, plan, places_));
    }

    [[nodiscard]] const std::vector<std::uint32_t>& places() const { return places_; }

    [[nodiscard]] StageTimes times(std::size_t stage, std::size_t from, std::size_t to) const {
        StageTimes slowest;
        for (const KernelTimes* gpu : gpus_[stage]) {
            const std::vector<StageTimes>& until = until_.at(gpu);
            StageTimes own;
            own.forward = until[to].forward - until[from].forward;
            own.input_gradient = until[to].input_gradient - until[from].input_gradient;
            own.weight_gradient = until[to].weight_gradient - until[from].weight_gradient;
            if (all(own) > all(slowest))
                slowest = own;
        }
        return slowest;
    }
    [[nodiscard]] double seconds(std::size_t stage, std::size_t from, std::size_t to) const {
        return all(times(stage, from, to));
    }
    [[nodiscard]] std::vector<StageTimes> times(const std::vector<std::uint32_t>& first) const {
        std::vector<std::size_t> at;
        for (const std::uint32_t layer : first)
            at.push_back(std::lower_bound(places_.begin(), places_.end(), layer) - places_.begin());
        at.push_back(places_.size());
        std::vector<StageTimes> stages;
        for (std::size_t stage = 0; stage < first.size(); ++stage)
            stages.push_back(times(stage, at[stage], at[stage + 1]));
        return stages;
    }

private:
    static double all(const StageTimes& times) {
        return times.forward + times.input_gradient + times.weight_gradient;
    }
    /// By place, the times of all layers before it.
    static std::vector<StageTimes> sums(const StageWork& pieces) {
        std::vector<StageTimes> until(pieces.stages() + 1);
        for (std::uint32_t i = 0; i < pieces.stages(); ++i) {
            until[i + 1] = until[i];
            until[i + 1].forward += pieces.seconds(PassKind::kForward, i);
            until[i + 1].input_gradient += pieces.seconds(PassKind::kInputGradient, i);
            until[i + 1].weight_gradient += pieces.seconds(PassKind::kWeightGradient, i);
        }
        return until;
    }

    const GpusOfStages& gpus_;
    std::vector<std::uint32_t> places_;
    std::map<const KernelTimes*, std::vector<StageTimes>> until_;
};

double longest_of(double before, double stage) {
    return std::max(before, stage);
}
double squares_of(double before, double stage) {
    return before + stage * stage;
}

/// The partition that costs least, where `cost` adds a stage to those before it.
std::vector<std::uint32_t> cheapest(const Pieces& pieces, std::size_t stages, auto cost) {
    const std::size_t n = pieces.places().size();
    // least[k][i]: the cost of the best division of the first i pieces into k stages.
    constexpr double kUnreached = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> least(stages + 1, std::vector<double>(n + 1, kUnreached));
    std::vector<std::vector<std::size_t>> begins(stages + 1, std::vector<std::size_t>(n + 1, 0));
    least[0][0] = 0;
    for (std::size_t k = 1; k <= stages; ++k) {
        for (std::size_t i = k; i <= n; ++i) {
            for (std::size_t j = k - 1; j < i; ++j) {
                const double found = cost(least[k - 1][j], pieces.seconds(k - 1, j, i));
                if (found < least[k][i]) {
                    least[k][i] = found;
                    begins[k][i] = j;
                }
            }
        }
    }
    std::vector<std::uint32_t> first(stages);
    std::size_t end = n;
    for (std::size_t k = stages; k > 0; --k) {
        end = begins[k][end];
        first[k - 1] = pieces.places()[end];
    }
    return first;
}

}  // namespace

std::vector<std::uint32_t>
balanced_partition(const Network& network, const GpusOfStages& gpus, const ParallelPlan& plan) {
    const auto stages = static_cast<std::uint32_t>(gpus.size());
    return cheapest(
        Pieces(network, gpus, plan, places_to_cut(network, stages, false)), stages, longest_of);
}

std::vector<std::uint32_t> balanced_partition(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    std::uint32_t stages) {
    return balanced_partition(network, GpusOfStages(stages, {&times}), plan);
}

std::vector<std::uint32_t> best_partition(
    const Network& network, const GpusOfStages& gpus, const ParallelPlan& plan,
    const PipelineSchedule& schedule) {
    const std::uint32_t stages = schedule.stages();
    std::vector<std::uint32_t> best = balanced_partition(network, gpus, plan);
    if (stages == 1 || schedule.asynchronous)  // its longest stage is what counts
        return best;
    const Pieces pieces(network, gpus, plan, places_to_cut(network, stages, true));
    std::vector<std::vector<std::uint32_t>> others{
        equal_partition(network, stages), cheapest(pieces, stages, longest_of)};
    const std::size_t n = pieces.places().size();
    if (n * n * stages <= kMostChoices)
        others.push_back(cheapest(pieces, stages, squares_of));
    const auto seconds = [&](const std::vector<std::uint32_t>& first) {
        return replay(schedule, {pieces.times(first)}).makespan;
    };
    double least = seconds(best);
    for (const std::vector<std::uint32_t>& other : others) {
        if (other.empty() || other == best)
            continue;
        if (const double found = seconds(other); found < least) {
            least = found;
            best = other;
        }
    }
    return best;
}

std::vector<std::uint32_t> best_partition(
    const Network& network, const KernelTimes& times, const ParallelPlan& plan,
    const PipelineSchedule& schedule) {
    return best_partition(network, GpusOfStages(schedule.stages(), {&times}), plan, schedule);
}

}  // namespace switchfold
