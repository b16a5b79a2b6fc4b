// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/task/task.h"
#include "training/learning/timeline/weight_timeline.h"
#include "training/learning/train/stage_weights.h"
#include "training/plan/step/parallel_plan.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold::learning {

/// The weights that a pass reads.
struct Chosen {
    std::shared_ptr<const Vector> weights;
    StageWeights::Shared begun_with;  ///< before any prediction or correction
    double ahead = 0;                 ///< updates predicted on top
};

/// Selects the weights that passes read, according to a policy. `version` is the newest version of
/// the pass's holder at its begin.
class WeightChoice {
public:
    WeightChoice(const Task& task, WeightPolicy policy, const WeightTimeline& timeline);

    [[nodiscard]] Chosen forward(const Pass& pass, std::uint32_t version, const StageWeights& all);
    /// `forward`: what the micro-batch's forward read.
    [[nodiscard]] Chosen backward(
        const Pass& pass, std::uint32_t version, const StageWeights& all, const Chosen& forward);
    /// Whether backward needs the forward's weights.
    [[nodiscard]] bool keeps_forward() const;
    /// Factor on the learning rate for the given update of a stage (PipeMare's first technique).
    [[nodiscard]] double rate_scale(std::uint32_t stage, std::uint32_t update) const;
    /// Share of the average of updates that each update keeps; 0: no average is needed.
    [[nodiscard]] double keep_of_average(std::uint32_t stage) const;

private:
    [[nodiscard]] Chosen as_it_is(const StageWeights& all, std::uint32_t version) const;
    [[nodiscard]] Chosen
    predicted_by(const StageWeights& all, std::uint32_t version, double ahead) const;
    [[nodiscard]] double ahead_of(const Pass& pass, std::uint32_t version) const;
    [[nodiscard]] Chosen
    once_a_step(const Pass& pass, std::uint32_t version, const StageWeights& all);

    const Task& task_;
    WeightPolicy policy_;
    const WeightTimeline& timeline_;
    std::vector<double> delays_;  ///< by stage: updates between forward and update
    /// Predictions shared by the micro-batches of a step, by stage and direction.
    std::map<std::pair<std::uint32_t, bool>, std::pair<std::uint32_t, Chosen>> shared_;
};

}  // namespace switchfold::learning
