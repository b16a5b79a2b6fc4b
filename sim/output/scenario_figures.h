// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/statistics.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold {

/// Shares of a slowdown, relative to the time without overlap: 0.16 is 16 %. `other` is the rest
/// that remains when each mechanism is switched off alone; the shares add up to the whole.
struct SlowdownByCause {
    double sm = 0;
    double l2 = 0;
    double hbm = 0;
    double latency = 0;
    double clock = 0;
    double other = 0;
};

/// A cause, declared once; files, tables, databases and pages are derived from this list.
struct Cause {
    std::string_view key;
    double SlowdownByCause::*member;
    std::string_view title;  ///< in charts and sentences
    /// Hidden in tables if zero in every scenario, because its mechanism is off by default.
    bool rare = false;
};
inline constexpr Cause kCauses[] = {
    {"sm", &SlowdownByCause::sm, "SMs held by communication"},
    {"l2", &SlowdownByCause::l2, "L2 capacity"},
    {"hbm", &SlowdownByCause::hbm, "memory bandwidth"},
    {"latency", &SlowdownByCause::latency, "latency under load"},
    {"clock", &SlowdownByCause::clock, "clock", true},
    {"other", &SlowdownByCause::other, "other"}};

/// Key figures of a scenario.
struct ScenarioFigures {
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
    double jumped_us = 0;     ///< simulated time skipped in collectives, over the whole run
    double coarse_bytes = 0;  ///< of all ranks, in packets that stand for several
    double folded_ranks = 0;  ///< not simulated, as each does what another does
    std::optional<double> backward_slowdown;  ///< none without a backward pass
    std::optional<double> forward_slowdown;   ///< none without a forward pass
    std::optional<double> optimizer_slowdown;
    std::optional<double> other_slowdown;
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
        run_samples_per_s;                  ///< without lost ones, over a run with changing members
    std::optional<double> run_training;     ///< share of a run's time spent on training that counts
    std::optional<double> bubble_share;     ///< of the device that is busy longest
    std::optional<double> peak_memory_gib;  ///< of the fullest GPU, for plans
    std::optional<double> final_loss;       ///< of the small network
    std::optional<double> steps_to_target;  ///< of the small network
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
};

/// A part of the work that communication slows, declared once like a cause.
struct SlowedPart {
    std::string_view key;  ///< in result.json, and before "_cause_" in sweeps
    std::optional<double> ScenarioFigures::*slowdown;
    std::optional<SlowdownByCause> ScenarioFigures::*causes;
    std::string_view title;  ///< in tables, charts and sentences
};
inline constexpr SlowedPart kSlowedParts[] = {
    {"forward",
     &ScenarioFigures::forward_slowdown,
     &ScenarioFigures::forward_causes,
     "forward pass"},
    {"backward", &ScenarioFigures::backward_slowdown, &ScenarioFigures::causes, "backward pass"},
    {"optimizer",
     &ScenarioFigures::optimizer_slowdown,
     &ScenarioFigures::optimizer_causes,
     "optimizer"},
    {"other",
     &ScenarioFigures::other_slowdown,
     &ScenarioFigures::other_causes,
     "kernels of no phase"},
    {"kernel", &ScenarioFigures::kernel_slowdown, &ScenarioFigures::kernel_causes, "kernel"}};
/// The backward pass, whose causes every table has in its own columns.
inline constexpr std::string_view kMainPart = "backward";

/// One of these figures, declared once; result.json and its reader, the printed table, and a
/// sweep's records, database and pages are derived from this list.
struct Figure {
    std::string_view key;
    std::variant<double ScenarioFigures::*, std::optional<double> ScenarioFigures::*> member;
    Unit unit = Unit::kMicroseconds;  ///< or kBytes, kShare, kFactor, kCount
    std::string_view title;           ///< of its table column
    std::string_view meaning;
    unsigned table_place = 0;        ///< position among a table's columns; 0: not shown
    std::string_view chart_title{};  ///< in reports of sweeps; empty: not shown
    /// Key of the figure on which a table column depends: it is hidden if that figure is noticeable
    /// in no scenario or missing in all; empty: always shown.
    std::string_view shown_by{};
    int decimals = 3;  ///< of a count in files, because means over seeds or ranks are fractional
    bool more_is_better = false;  ///< factors are always better when larger
    bool of_gpus = false;         ///< not shown for other devices
    /// Position among the columns of a kernel beside a collective, each in a loop; 0: not shown.
    unsigned loop_place = 0;

    [[nodiscard]] std::optional<double> of(const ScenarioFigures& figures) const {
        return std::visit(
            [&](auto where) { return std::optional<double>(figures.*where); }, member);
    }
    void set(ScenarioFigures& figures, std::optional<double> value) const {
        if (const auto* always = std::get_if<double ScenarioFigures::*>(&member))
            figures.** always = value.value_or(0);
        else
            figures.*std::get<std::optional<double> ScenarioFigures::*>(member) = value;
    }
    /// Whether a scenario may lack it.
    [[nodiscard]] bool is_optional() const { return member.index() == 1; }
};
inline constexpr Figure kFigures[] = {
    {"iteration_us",
     &ScenarioFigures::iteration_us,
     Unit::kMicroseconds,
     "iteration",
     "Simulated time per step.",
     5,
     "iteration",
     {},
     3,
     false,
     false,
     9},
    {"forward_us",
     &ScenarioFigures::forward_us,
     Unit::kMicroseconds,
     "forward",
     "Time per step in which kernels of the forward pass run on a GPU, mean over the ranks.",
     1},
    {"backward_us",
     &ScenarioFigures::backward_us,
     Unit::kMicroseconds,
     "backward",
     "The same for the backward pass.",
     2},
    {"optimizer_us",
     &ScenarioFigures::optimizer_us,
     Unit::kMicroseconds,
     "optimizer",
     "The same for the optimizer."},
    {"other_us",
     &ScenarioFigures::other_us,
     Unit::kMicroseconds,
     "other kernels",
     "The same for kernels of no phase."},
    {"exposed_communication_us",
     &ScenarioFigures::exposed_communication_us,
     Unit::kMicroseconds,
     "exposed comm",
     "Time per step in which only collectives, sends and receives run on a GPU, mean over the "
     "ranks.",
     3,
     "exposed communication",
     {},
     3,
     false,
     true},
    {"waiting_for_late_ranks_us",
     &ScenarioFigures::waiting_us,
     Unit::kMicroseconds,
     "waiting",
     "Time per step in which resident collectives, sends and receives wait for late ranks, mean "
     "over the ranks."},
    {"exposed_waiting_us",
     &ScenarioFigures::exposed_waiting_us,
     Unit::kMicroseconds,
     "of it waiting",
     "Part of the exposed communication spent waiting for late ranks.",
     4,
     {},
     "waiting_for_late_ranks_us"},
    {"exposed_copies_us",
     &ScenarioFigures::exposed_copies_us,
     Unit::kMicroseconds,
     "exposed copies",
     "Time per step in which copies between a GPU and its host run but no kernel, mean over the "
     "ranks; none without such copies.",
     6,
     "exposed copies",
     "exposed_copies_us"},
    {"communication_blocks",
     &ScenarioFigures::communication_blocks,
     Unit::kCount,
     "comm blocks",
     "Resident thread blocks of collectives, sends and receives on a GPU, mean over the step and "
     "the ranks; on large GPUs each occupies its own SM.",
     7,
     {},
     {},
     3,
     false,
     true,
     10},
    {"jumped_us",
     &ScenarioFigures::jumped_us,
     Unit::kMicroseconds,
     "jumped",
     "Simulated time of the whole run that collectives skipped, because they repeat themselves or "
     "an earlier one; 0 if every transfer was simulated."},
    {"coarse_bytes",
     &ScenarioFigures::coarse_bytes,
     Unit::kBytes,
     "coarse",
     "Of the whole run, over all ranks: payload of long all-reduces through switches that "
     "travelled in packets of several rounds; 0 where every packet is one round."},
    {"folded_ranks",
     &ScenarioFigures::folded_ranks,
     Unit::kCount,
     "folded",
     "Ranks that were not simulated, because each does what a simulated one does: in rings and "
     "long all-reduces through the switches, of at least 32 ranks; 0 if every rank was simulated."},
    {"backward_slowdown",
     &ScenarioFigures::backward_slowdown,
     Unit::kShare,
     "slowdown",
     "backward_us over that of the run without overlap, minus one; none without a backward pass.",
     9,
     "slowdown of the backward pass",
     {},
     3,
     false,
     true},
    {"forward_slowdown",
     &ScenarioFigures::forward_slowdown,
     Unit::kShare,
     "forward slowdown",
     "forward_us over that of the run without overlap, minus one; none without a forward pass.",
     0,
     "slowdown of the forward pass"},
    {"optimizer_slowdown",
     &ScenarioFigures::optimizer_slowdown,
     Unit::kShare,
     "optimizer slowdown",
     "The same of optimizer_us."},
    {"other_slowdown",
     &ScenarioFigures::other_slowdown,
     Unit::kShare,
     "other slowdown",
     "The same of other_us."},
    {"speedup",
     &ScenarioFigures::speedup,
     Unit::kFactor,
     "speed-up",
     "iteration_us of the baseline, the first scenario without overlap, over this one's (plans: "
     "time per sample; workloads that share a machine: the same workload alone without overlap; "
     "a kernel beside a collective: one loop after the other); none for a single collective.",
     8,
     "speed-up",
     {},
     3,
     false,
     false,
     11},
    {"loop_kernels",
     &ScenarioFigures::loop_kernels,
     Unit::kCount,
     "kernels",
     "Kernels in their loop; none unless a kernel loops beside a collective.",
     0,
     {},
     {},
     0,
     false,
     true,
     1},
    {"kernel_alone_us",
     &ScenarioFigures::kernel_alone_us,
     Unit::kMicroseconds,
     "alone",
     "Time of a kernel in its loop alone; none likewise.",
     0,
     {},
     {},
     3,
     false,
     true,
     2},
    {"kernel_beside_us",
     &ScenarioFigures::kernel_beside_us,
     Unit::kMicroseconds,
     "beside",
     "The same beside the collectives.",
     0,
     "kernel beside the collectives",
     {},
     3,
     false,
     true,
     3},
    {"kernel_slowdown",
     &ScenarioFigures::kernel_slowdown,
     Unit::kShare,
     "slowdown",
     "kernel_beside_us over kernel_alone_us, minus one.",
     0,
     "slowdown of the kernel",
     {},
     3,
     false,
     true,
     4},
    {"loop_collectives",
     &ScenarioFigures::loop_collectives,
     Unit::kCount,
     "collectives",
     "Collectives in their loop; none likewise.",
     0,
     {},
     {},
     0,
     false,
     true,
     5},
    {"collective_alone_us",
     &ScenarioFigures::collective_alone_us,
     Unit::kMicroseconds,
     "alone",
     "Time of a collective in its loop alone; none likewise.",
     0,
     {},
     {},
     3,
     false,
     true,
     6},
    {"collective_beside_us",
     &ScenarioFigures::collective_beside_us,
     Unit::kMicroseconds,
     "beside",
     "The same beside the kernels.",
     0,
     "collective beside the kernels",
     {},
     3,
     false,
     true,
     7},
    {"collective_slowdown",
     &ScenarioFigures::collective_slowdown,
     Unit::kShare,
     "slowdown",
     "collective_beside_us over collective_alone_us, minus one.",
     0,
     "slowdown of the collective",
     {},
     3,
     false,
     true,
     8},
    {"alone_us",
     &ScenarioFigures::alone_us,
     Unit::kMicroseconds,
     "alone",
     "iteration_us of the same workload on the same GPUs with the rest of the machine idle; none "
     "if no other workload shares the machine.",
     14,
     "iteration with the machine to itself",
     "alone_us"},
    {"lost_to_others",
     &ScenarioFigures::lost_to_others,
     Unit::kShare,
     "lost to others",
     "iteration_us over alone_us, minus one.",
     15,
     "lost to other workloads",
     "lost_to_others"},
    {"rank_max_over_mean",
     &ScenarioFigures::rank_max_over_mean,
     Unit::kFactor,
     "rank max/mean",
     "Busy time of the rank whose kernels run longest, over the mean of all ranks with work; none "
     "unless ranks differ in their GPUs, their samples, or by `ranks` of the experiment.",
     16,
     "busiest rank over the mean",
     "rank_max_over_mean"},
    {"rank_deviation_us",
     &ScenarioFigures::rank_deviation_us,
     Unit::kMicroseconds,
     "rank deviation",
     "Standard deviation of that time per step over the ranks; none likewise.",
     17,
     {},
     "rank_max_over_mean"},
    {"late_rank",
     &ScenarioFigures::late_rank,
     Unit::kCount,
     "late rank",
     "The rank for which the others wait longest in collectives as the last arrival, without "
     "computing meanwhile; none likewise, or if they wait for less than a thousandth of the "
     "iteration.",
     0,
     {},
     {},
     0},
    {"waiting_for_late_rank_us",
     &ScenarioFigures::waiting_for_late_rank_us,
     Unit::kMicroseconds,
     "wait for it",
     "Time per step for which they wait, mean over the others.",
     18,
     "waiting for the latest rank",
     "rank_max_over_mean"},
    {"samples_per_s",
     &ScenarioFigures::samples_per_s,
     Unit::kCount,
     "samples/s",
     "Samples per second of all ranks together; none for traces and collectives.",
     10,
     "samples a second",
     "samples_per_s",
     3,
     true},
    {"tflops_per_gpu",
     &ScenarioFigures::tflops_per_gpu,
     Unit::kCount,
     "TFLOP/s a GPU",
     "Arithmetic of the model per second and GPU, in 10^12 operations: three times the forward "
     "pass's, not counting recomputation; none for traces and collectives.",
     11,
     {},
     "samples_per_s",
     3,
     false,
     true},
    {"run_samples_per_s",
     &ScenarioFigures::run_samples_per_s,
     Unit::kCount,
     "goodput",
     "Samples per second that count towards training, over a whole run in which members join and "
     "leave; none without a run.",
     0,
     "goodput, samples a second",
     {},
     3,
     true},
    {"run_training",
     &ScenarioFigures::run_training,
     Unit::kShare,
     "of it training",
     "Share of such a run's time in which members train samples that count; none without a run.",
     0,
     "share of the time that trains what counts",
     {},
     3,
     true},
    {"bubble_share",
     &ScenarioFigures::bubble_share,
     Unit::kShare,
     "bubble",
     "Share of a step in which GPUs run no pass, on average, relative to the longest time of any "
     "device from its first pass to its last; none without a plan.",
     12,
     {},
     "bubble_share"},
    {"peak_memory_gib",
     &ScenarioFigures::peak_memory_gib,
     Unit::kCount,
     "memory GiB",
     "Peak memory of the fullest GPU: weights, moments, gradients and their buckets, activations "
     "of the micro-batches in flight, recomputed activations, and buffers for tensors from the "
     "host; none without a plan. Excludes workspaces of libraries and frameworks.",
     13,
     {},
     "peak_memory_gib"},
    {"final_loss",
     &ScenarioFigures::final_loss,
     Unit::kCount,
     "final loss",
     "Loss of the small network after the last step, mean over the seeds; none without learning, "
     "or if a seed diverged.",
     0,
     "final loss",
     {},
     9},
    {"steps_to_target",
     &ScenarioFigures::steps_to_target,
     Unit::kCount,
     "steps to target",
     "Steps until its loss reaches the target, mean over the seeds; none if a seed does not reach "
     "it.",
     0,
     "steps to the target"},
    {"time_to_target_us",
     &ScenarioFigures::time_to_target_us,
     Unit::kMicroseconds,
     "time to target",
     "Simulated time until then, likewise.",
     0,
     "time to the target"},
    {"seeds_at_target",
     &ScenarioFigures::seeds_at_target,
     Unit::kCount,
     "seeds at target",
     "Number of seeds with which the small network reaches the target; none without one.",
     0,
     "seeds that reach the target"},
    {"diverged_seeds",
     &ScenarioFigures::diverged_seeds,
     Unit::kCount,
     "seeds diverged",
     "Number of seeds with which the small network's training diverged; none without learning.",
     0,
     "seeds that diverged"},
    {"loss_ratio",
     &ScenarioFigures::loss_ratio,
     Unit::kFactor,
     "loss ratio",
     "Final loss over that of the compared scenario, seed by seed, mean; none if a seed diverged.",
     0,
     "final loss over that compared with"},
    {"loss_ratio_half_width",
     &ScenarioFigures::loss_ratio_half_width,
     Unit::kFactor,
     "loss ratio +-",
     "Half the width of its 95 % interval; none with one seed."},
    {"time_ratio",
     &ScenarioFigures::time_ratio,
     Unit::kFactor,
     "time ratio",
     "Simulated time to the target likewise; none if a seed of either does not reach it.",
     0,
     "time to the target over that compared with"},
    {"time_ratio_half_width",
     &ScenarioFigures::time_ratio_half_width,
     Unit::kFactor,
     "time ratio +-",
     "Half the width of its 95 % interval; none with one seed."},
    {"gap_closed",
     &ScenarioFigures::gap_closed,
     Unit::kShare,
     "gap closed",
     "Share of the gap in final loss between the scenarios gap_of and compared_with that this one "
     "closes: its mean distance to gap_of over the mean gap.",
     0,
     "share of the gap closed"},
    {"gap_closed_half_width",
     &ScenarioFigures::gap_closed_half_width,
     Unit::kShare,
     "gap closed +-",
     "Half the width of its 95 % interval; none with one seed."}};

/// Whether a time of this kind deserves a table column or a sentence: more than a hundredth of the
/// scenario's iteration.
[[nodiscard]] bool is_noticeable(double us, const ScenarioFigures& scenario);

/// The figures in a table of these scenarios, in column order.
[[nodiscard]] std::vector<const Figure*>
shown_figures(const std::vector<const ScenarioFigures*>& scenarios, bool of_gpus = true);
/// The same of a kernel beside a collective.
[[nodiscard]] std::vector<const Figure*> loop_figures();
/// The causes in a table of these.
[[nodiscard]] std::vector<const Cause*>
shown_causes(const std::vector<const SlowdownByCause*>& all);

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
