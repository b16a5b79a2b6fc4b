// SPDX-License-Identifier: Apache-2.0
#include "sim/results/whole_runs.h"

#include <algorithm>
#include <optional>

namespace switchfold {

namespace {

constexpr double kUsPerSecond = 1e6;  // per second

void scale_figure(std::optional<double>& figure, double by) {
    if (figure)
        *figure *= by;
}

void set_mean(
    const std::optional<SeedMean>& value, std::optional<double>& mean,
    std::optional<double>& half_width) {
    if (!value)
        return;
    mean = value->mean;
    half_width = value->half_width;
}

/// From a step with an exchange to the mean step of a training. Averages change nothing but when
/// replicas exchange, and while they do nothing else runs: what the mean step is shorter is exposed
/// communication that it lacks, and all that communication does shrinks alike.
void to_mean_step(double step_us, ScenarioFigures& figures) {
    if (step_us <= 0 || figures.iteration_us <= 0)
        return;
    const double shorter = figures.iteration_us - step_us;
    const double exposed = std::max(0.0, figures.exposed_communication_us - shorter);
    const double less =
        figures.exposed_communication_us > 0 ? exposed / figures.exposed_communication_us : 1.0;
    const double faster = figures.iteration_us / step_us;
    figures.iteration_us = step_us;
    figures.exposed_communication_us = exposed;
    figures.waiting_us *= less;
    figures.exposed_waiting_us *= less;
    figures.communication_blocks *= less * faster;
    scale_figure(figures.samples_per_s, faster);
    scale_figure(figures.tflops_per_gpu, faster);
}

}  // namespace

void tell_run(const ChangesResult& run, ScenarioFigures& figures) {
    figures.run_us = run.end_s * kUsPerSecond;
    figures.run_steps = static_cast<double>(run.steps);
    figures.run_samples_per_s = run.samples_per_s;
    figures.run_training = run.share_of_training;
    figures.run_paused_us = run.paused_s * kUsPerSecond;
    figures.run_checkpoints_us = run.checkpoints_s * kUsPerSecond;
    figures.run_lost_us = run.lost_s * kUsPerSecond;
    figures.run_gpu_seconds_held = run.gpu_seconds_held;
    figures.run_gpu_seconds_lost = run.gpu_seconds_lost;
    double member_seconds = 0;
    for (const RunStretchResult& stretch : run.stretches)
        member_seconds += stretch.members * (stretch.end_s - stretch.begin_s);
    if (run.end_s > 0)
        figures.run_members = member_seconds / run.end_s;
    // Arithmetic of a sample, from the step's figures, times the samples of a GPU's second.
    if (figures.samples_per_s.value_or(0) > 0 && run.gpu_seconds_held > 0 && !run.stretches.empty())
        scale_figure(
            figures.tflops_per_gpu, run.stretches.front().members / *figures.samples_per_s *
                                        run.samples_per_s * run.end_s / run.gpu_seconds_held);
    figures.samples_per_s = run.samples_per_s;
}

void tell_learning(const LearningResult& learning, ScenarioFigures& figures) {
    if (learning.averages)
        to_mean_step(learning.step_us, figures);
    figures.diverged_seeds = learning.diverged;
    figures.largest_share = learning.largest_share;
    if (!figures.run_members)
        figures.run_members = learning.members;
    if (learning.target)
        figures.seeds_at_target = learning.reached;
    if (learning.final_loss)
        figures.final_loss = learning.final_loss->mean;
    if (learning.steps_to_target)
        figures.steps_to_target = learning.steps_to_target->mean;
    if (learning.seconds_to_target)
        figures.time_to_target_us = learning.seconds_to_target->mean * kUsPerSecond;
    if (!learning.comparison)
        return;
    const LearningComparison& comparison = *learning.comparison;
    set_mean(comparison.loss_ratio, figures.loss_ratio, figures.loss_ratio_half_width);
    set_mean(comparison.seconds_ratio, figures.time_ratio, figures.time_ratio_half_width);
    set_mean(comparison.gap_closed, figures.gap_closed, figures.gap_closed_half_width);
}

}  // namespace switchfold
