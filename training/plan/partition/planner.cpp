// SPDX-License-Identifier: Apache-2.0
#include "training/plan/partition/planner.h"

#include "core/error.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace switchfold {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Costs of stages and messages on consecutive workers.
class Costs {
public:
    Costs(const std::vector<PlannerLayer>& layers, const PartitionOptions& options) :
        layers_(layers), options_(options), sums_(layers.size() + 1) {
        SWITCHFOLD_CHECK(
            !options.levels.empty() && options.levels.back().workers >= options.workers,
            "no level holds {} workers", options.workers);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            sums_[i + 1].seconds = sums_[i].seconds + layers[i].seconds;
            sums_[i + 1].weight_bytes = sums_[i].weight_bytes + layers[i].weight_bytes;
            sums_[i + 1].kept_bytes = sums_[i].kept_bytes + layers[i].kept_bytes;
            sums_[i + 1].kept_before = sums_[i].kept_before + layers[i].kept_before;
        }
    }

    /// Layers [first, end) on `replicas` workers starting with `worker`; kNever if they do not fit.
    [[nodiscard]] double
    stage(std::size_t first, std::size_t end, std::uint32_t worker, std::uint32_t replicas) const {
        const double weights = sums_[end].weight_bytes - sums_[first].weight_bytes;
        const double kept = sums_[end].kept_bytes - sums_[first].kept_bytes -
                            (sums_[end].kept_before - sums_[first + 1].kept_before);
        const std::uint32_t after = options_.workers - worker - replicas;
        const std::uint32_t in_flight = (after + replicas - 1) / replicas + 1;
        if (options_.memory > 0 && (weights + kept) * in_flight > options_.memory)
            return kNever;
        double seconds = sums_[end].seconds - sums_[first].seconds;
        if (replicas > 1) {
            const double all_reduce = 4.0 * (replicas - 1) / replicas * weights /
                                      bandwidth(worker, worker + replicas - 1);
            seconds = std::max(seconds, all_reduce);
        }
        return seconds / replicas;
    }
    /// Message behind layer `last`, from `worker` to the next worker.
    [[nodiscard]] double message(std::size_t last, std::uint32_t worker) const {
        return 2 * layers_[last].output_bytes / bandwidth(worker, worker + 1);
    }
    [[nodiscard]] std::size_t layers() const { return layers_.size(); }

private:
    /// Bandwidth of the innermost level with a unit that holds both workers.
    [[nodiscard]] double bandwidth(std::uint32_t from, std::uint32_t to) const {
        for (const PlannerLevel& level : options_.levels)
            if (from / level.workers == to / level.workers)
                return level.bandwidth;
        return options_.levels.back().bandwidth;
    }

    const std::vector<PlannerLayer>& layers_;
    const PartitionOptions& options_;
    std::vector<PlannerLayer> sums_;
};

/// For each worker, the fixed size of a stage that begins with it (0: any size), or nothing if no
/// stage may begin there.
std::vector<std::optional<std::uint32_t>> stages_at(const PartitionOptions& options) {
    if (options.replicas.empty())
        return std::vector<std::optional<std::uint32_t>>(options.workers, 0U);
    std::vector<std::optional<std::uint32_t>> stages(options.workers);
    std::uint32_t worker = 0;
    for (const std::uint32_t replicas : options.replicas) {
        SWITCHFOLD_CHECK(
            replicas > 0 && worker + replicas <= options.workers, "replicas of other workers");
        stages[worker] = replicas;
        worker += replicas;
    }
    SWITCHFOLD_CHECK(worker == options.workers, "replicas of fewer workers");
    return stages;
}

}  // namespace

std::optional<PlannedPipeline>
plan_pipeline(const std::vector<PlannerLayer>& layers, const PartitionOptions& options) {
    const Costs costs(layers, options);
    const std::size_t n = layers.size();
    const std::uint32_t workers = options.workers;
    // The best solution for the layers from i on, on the workers from w on.
    struct Best {
        double seconds = kNever;
        std::size_t end = 0;
        std::uint32_t replicas = 0;
    };
    const std::vector<std::optional<std::uint32_t>> stages = stages_at(options);
    std::vector<std::vector<Best>> best(n + 1, std::vector<Best>(workers + 1));
    best[n][workers].seconds = 0;
    for (std::size_t i = n; i-- > 0;) {
        for (std::uint32_t w = workers; w-- > 0;) {
            if (!stages[w])
                continue;
            for (std::size_t end = i + 1; end <= n; ++end) {
                for (std::uint32_t m = 1; w + m <= workers; ++m) {
                    if (*stages[w] != 0 && *stages[w] != m)
                        continue;
                    const Best& rest = best[end][w + m];
                    double seconds = std::max(rest.seconds, costs.stage(i, end, w, m));
                    if (end < n && w + m < workers)
                        seconds = std::max(seconds, costs.message(end - 1, w + m - 1));
                    if (seconds < best[i][w].seconds)
                        best[i][w] = {seconds, end, m};
                }
            }
        }
    }
    if (best[0][0].seconds == kNever)
        return {};
    PlannedPipeline plan;
    plan.seconds = best[0][0].seconds;
    std::uint32_t w = 0;
    for (std::size_t i = 0; i < n;) {
        const Best& chosen = best[i][w];
        plan.stages.push_back({static_cast<std::uint32_t>(i), chosen.replicas});
        w += chosen.replicas;
        i = chosen.end;
    }
    return plan;
}

std::optional<double> seconds_of(
    const std::vector<PlannerLayer>& layers, const PartitionOptions& options,
    const std::vector<PlannedStage>& stages) {
    const Costs costs(layers, options);
    double seconds = 0;
    std::uint32_t w = 0;
    for (std::size_t k = 0; k < stages.size(); ++k) {
        const bool last = k + 1 == stages.size();
        const std::size_t end = last ? layers.size() : stages[k + 1].first;
        seconds = std::max(seconds, costs.stage(stages[k].first, end, w, stages[k].replicas));
        w += stages[k].replicas;
        if (!last)
            seconds = std::max(seconds, costs.message(end - 1, w - 1));
    }
    if (seconds == kNever)
        return {};
    return seconds;
}

}  // namespace switchfold
