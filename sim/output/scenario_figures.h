// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/figure_interval.h"
#include "sim/output/slowdown_causes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Figures that a simulation counts itself. A new one is a member here and a line in kFigures; what
/// lies between hands all of them over.
struct SimulationFigures {
    double jumped_us = 0;     ///< simulated time skipped in collectives, over the whole run
    double coarse_bytes = 0;  ///< of all ranks, in packets that stand for several
    double folded_ranks = 0;  ///< not simulated, as each does what another does
};

/// Key figures of a scenario.
struct ScenarioFigures : SimulationFigures {
    std::string name;
    bool overlap = true;
    double iteration_us = 0;
    double forward_us = 0;
    double backward_us = 0;
    double optimizer_us = 0;
    double other_us = 0;  ///< kernels of no phase
    double exposed_communication_us = 0;
    double waiting_us = 0;          ///< time that resident collectives wait for late ranks
    double exposed_waiting_us = 0;  ///< part of the exposed communication
    std::optional<double> exposed_copies_us;  ///< none without copies to or from a host
    double communication_blocks = 0;          ///< mean number held by collectives over the run
    std::optional<double> backward_slowdown;  ///< none without a backward pass
    std::optional<double> forward_slowdown;   ///< none without a forward pass
    std::optional<double> optimizer_slowdown;
    std::optional<double> other_slowdown;
    /// Lower ends of the slowdowns' ranges, of which the slowdowns are the upper ends; none if the
    /// GPU was measured, or if causes were not requested.
    std::optional<double> backward_slowdown_low;
    std::optional<double> forward_slowdown_low;
    std::optional<double> optimizer_slowdown_low;
    std::optional<double> other_slowdown_low;
    std::optional<double> kernel_slowdown_low;
    std::optional<double> speedup;  ///< none without a baseline
    /// Of a kernel beside a collective, each in a loop; none for other workloads.
    std::optional<double> loop_kernels;
    std::optional<double> kernel_alone_us;
    std::optional<double> kernel_beside_us;
    std::optional<double> kernel_slowdown;
    std::optional<double> loop_collectives;
    std::optional<double> collective_alone_us;
    std::optional<double> collective_beside_us;
    std::optional<double> collective_slowdown;
    std::optional<double>
        alone_us;  ///< iteration with the machine to itself; none if it always has
    std::optional<double> lost_to_others;      ///< none if nothing else runs on the machine
    std::optional<double> rank_max_over_mean;  ///< none if all ranks are alike
    std::optional<double> rank_deviation_us;
    std::optional<double> late_rank;  ///< none if no rank waits
    std::optional<double> waiting_for_late_rank_us;
    std::optional<double> samples_per_s;   ///< for generated steps
    std::optional<double> tflops_per_gpu;  ///< of the model's own arithmetic, for generated steps
    std::optional<double>
        run_samples_per_s;                ///< without lost ones, over a run with changing members
    std::optional<double> run_training;   ///< share of a run's time spent on training that counts
    std::optional<double> run_us;         ///< of a run with changing members, as the next ones
    std::optional<double> run_steps;      ///< that count
    std::optional<double> run_paused_us;  ///< for changes
    std::optional<double> run_checkpoints_us;  ///< pauses for them, and what they add to steps
    std::optional<double> run_lost_us;         ///< training that is done again
    std::optional<double> run_gpu_seconds_held;
    std::optional<double> run_gpu_seconds_lost;  ///< to changes
    std::optional<double> run_members;    ///< mean over a run, or over the small network's training
    std::optional<double> largest_share;  ///< of a batch of the small network, for one replica
    std::optional<double> bubble_share;   ///< of the device that is busy longest
    std::optional<double> peak_memory_gib;    ///< of the fullest GPU, for plans
    std::optional<double> final_loss;         ///< of the small network
    std::optional<double> steps_to_target;    ///< of the small network
    std::optional<double> time_to_target_us;  ///< simulated time of the small network's training
    std::optional<double> seeds_at_target;    ///< of the small network
    std::optional<double> diverged_seeds;
    /// Ratios to the scenario compared with, seed by seed, each with half the width of its 95 %
    /// interval.
    std::optional<double> loss_ratio;
    std::optional<double> loss_ratio_half_width;
    std::optional<double> time_ratio;
    std::optional<double> time_ratio_half_width;
    std::optional<double> gap_closed;  ///< share of a gap between losses
    std::optional<double> gap_closed_half_width;
    /// Of the backward pass; none if causes were not requested.
    std::optional<SlowdownByCause> causes;
    std::optional<SlowdownByCause> forward_causes;
    std::optional<SlowdownByCause> optimizer_causes;
    std::optional<SlowdownByCause> other_causes;
    std::optional<SlowdownByCause> kernel_causes;
    std::uint64_t events = 0;
    FigureIntervals intervals;  ///< of the figures that Figure::has_interval names
};

/// A part of the work that communication slows, declared once like a cause.
struct SlowedPart {
    std::string_view key;  ///< in result.json, and before "_cause_" in sweeps
    std::optional<double> ScenarioFigures::*slowdown;
    std::optional<SlowdownByCause> ScenarioFigures::*causes;
    std::string_view title;  ///< in tables, charts and sentences
};
inline constexpr SlowedPart kSlowedParts[] = {
    {"forward", &ScenarioFigures::forward_slowdown, &ScenarioFigures::forward_causes,
     "forward pass"},
    {"backward", &ScenarioFigures::backward_slowdown, &ScenarioFigures::causes, "backward pass"},
    {"optimizer", &ScenarioFigures::optimizer_slowdown, &ScenarioFigures::optimizer_causes,
     "optimizer"},
    {"other", &ScenarioFigures::other_slowdown, &ScenarioFigures::other_causes,
     "kernels of no phase"},
    {"kernel", &ScenarioFigures::kernel_slowdown, &ScenarioFigures::kernel_causes, "kernel"}};
/// The backward pass, whose causes every table has in its own columns.
inline constexpr std::string_view kMainPart = "backward";

/// Whether a time of this kind deserves a table column or a sentence: more than a hundredth of the
/// scenario's iteration.
[[nodiscard]] bool is_noticeable(double us, const ScenarioFigures& scenario);

/// A row of the table of causes.
struct SlowedRow {
    const ScenarioFigures* scenario;
    const SlowedPart* part;
};
/// Parts other than kMainPart that are visibly slowed, by half a percent, where the causes are
/// known.
[[nodiscard]] std::vector<SlowedRow>
slowed_rows(const std::vector<const ScenarioFigures*>& scenarios);

}  // namespace switchfold
