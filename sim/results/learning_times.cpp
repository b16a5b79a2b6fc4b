// SPDX-License-Identifier: Apache-2.0
#include "sim/results/learning_times.h"

#include "core/error.h"
#include "sim/output/schedule_chart.h"
#include "sim/results/training.h"
#include "sim/workload/learning_plan.h"
#include "training/plan/step/rank_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace switchfold {

namespace {

using learning::RanPass;
using learning::RanPasses;

constexpr double kSecond = 1e-12;  // per picosecond

PassKind pass_kind(const std::string& word) {
    if (word == "F")
        return PassKind::kForward;
    if (word == "BW")
        return PassKind::kBackward;
    if (word == "B")
        return PassKind::kInputGradient;
    return word == "W" ? PassKind::kWeightGradient : PassKind::kUpdate;
}

RanPass
ran_pass(const Span& span, const std::string& name, const std::vector<OperationTimes>& times) {
    const auto pass = parse_pass_name(name);
    SWITCHFOLD_CHECK(pass.has_value(), "{} is not a pass", name);
    return {
        {pass_kind(pass->kind), pass->micro_batch, pass->stage},
        0,
        static_cast<double>(times[span.first].start.count()) * kSecond,
        static_cast<double>(times[span.last].end.count()) * kSecond};
}

double end_of(const std::vector<OperationTimes>& times) {
    double end = 0;
    for (const OperationTimes& one : times)
        end = std::max(end, static_cast<double>(one.end.count()) * kSecond);
    return end;
}

/// Whether a step's spans are of layers: a placement divides the network by these.
bool in_parts(const ExecutionGraph& graph) {
    return std::any_of(graph.ranks.begin(), graph.ranks.end(), [&](const auto& rank) {
        return std::any_of(rank->spans.begin(), rank->spans.end(), [&](const Span& span) {
            const std::string& name = graph.names[span.name];
            return name != "U0" && !parse_pass_name(name);
        });
    });
}

/// Passes of a network that a placement divides. All parts compute with the weights of the update
/// before, so that their order within a step changes nothing: they share its time evenly.
void whole_passes(
    const PipelineSchedule& schedule, const std::vector<OperationTimes>& times,
    std::vector<RanPass>& passes) {
    const std::vector<Slot>& order = schedule.order.front();
    const double end = std::max(passes.empty() ? 0 : passes.back().end, end_of(times));
    const double each = end / static_cast<double>(order.size());
    passes.clear();
    for (std::size_t at = 0; at < order.size(); ++at)
        passes.push_back(
            {order[at].pass, 0, static_cast<double>(at) * each,
             static_cast<double>(at + 1) * each});
}

/// Updates of a device's stages, if they run within passes and have no span. Their weights are
/// those of updates behind the passes (UpdatePolicy), so they count at the end of the step.
void add_updates(
    const PipelineSchedule& schedule, std::uint32_t device,
    const std::vector<OperationTimes>& times, std::vector<RanPass>& passes) {
    const bool there = std::any_of(passes.begin(), passes.end(), [&](const RanPass& ran) {
        return ran.holder == device && ran.pass.kind == PassKind::kUpdate;
    });
    if (there)
        return;
    const double end = end_of(times);
    for (const std::uint32_t stage : schedule.stages_on(device))
        passes.push_back(
            {{PassKind::kUpdate, schedule.micro_batches - 1, stage}, device, end, end});
}

/// Passes by replica. Ranks that share a layer or a sample run the same passes; the first
/// represents them. A folded plan simulates one replica, which represents all.
std::vector<RanPasses>
passes_of(const TrainingStep& step, const ExecutionGraph& graph, const Outcome& outcome) {
    const ParallelPlan& plan = step.plan();
    const PipelineSchedule& schedule = step.schedule();
    const RankMap map(plan);
    std::vector<RanPasses> replicas(
        plan.data, {schedule.stages(),
                    schedule.micro_batches,
                    schedule.asynchronous ? plan.update_every : schedule.micro_batches,
                    {}});
    if (in_parts(graph)) {
        for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank)
            whole_passes(schedule, outcome.times[rank], replicas[map.place(rank).data].passes);
        return replicas;
    }
    for (std::uint32_t rank = 0; rank < graph.ranks.size(); ++rank) {
        const RankPlace place = map.place(rank);
        if (place.tensor != 0 || place.context != 0)
            continue;
        std::vector<RanPass>& passes = replicas[place.data].passes;
        const std::size_t before = passes.size();
        for (const Span& span : graph.ranks[rank]->spans) {
            RanPass ran = ran_pass(span, graph.names[span.name], outcome.times[rank]);
            ran.holder = place.device;
            passes.push_back(ran);
        }
        if (passes.size() > before && !schedule.asynchronous)
            add_updates(schedule, place.device, outcome.times[rank], passes);
    }
    SWITCHFOLD_CHECK(!replicas.front().passes.empty(), "no pass of a plan ran");
    for (RanPasses& replica : replicas)
        if (replica.passes.empty())
            replica.passes = replicas.front().passes;
    return replicas;
}

/// The schedule with enough mini-batches for the steps, in whole turns beyond those simulated.
PipelineSchedule longer_schedule(const TrainingStep& step, std::uint32_t steps) {
    ParallelPlan plan = step.plan();
    // Not more than the plan's mini-batches: why_not_learned().
    const auto turn = static_cast<std::uint32_t>(mini_batches_a_turn(plan));
    const std::uint64_t needed = std::uint64_t{steps} * plan.update_every;
    const std::uint64_t more = needed > plan.mini_batches ? needed - plan.mini_batches : 0;
    plan.mini_batches += static_cast<std::uint32_t>((more + turn - 1) / turn * turn);
    return schedule_of(plan);
}

}  // namespace

LearningTimes learning_times(
    const TrainingStep& step, const ExecutionGraph& graph, const Outcome& outcome,
    std::uint32_t steps, const learning::Watch& watch) {
    std::vector<RanPasses> replicas = passes_of(step, graph, outcome);
    const ParallelPlan& plan = step.plan();
    const double round = round_us(graph, outcome);
    constexpr double kMicro = 1e-6;
    if (!step.schedule().asynchronous)
        return {
            learning::WeightTimeline(
                learning::repeated(
                    learning::side_by_side(std::move(replicas), false), steps, round * kMicro,
                    watch),
                watch),
            round,
            {}};
    const PipelineSchedule longer = longer_schedule(step, steps);
    double moved = 0;
    double pace = 0;
    for (RanPasses& replica : replicas) {
        auto made = learning::extended(
            replica, longer, rounds_to_fill(plan),
            static_cast<std::uint32_t>(mini_batches_a_turn(plan)), watch);
        SWITCHFOLD_CHECK(made.has_value(), "{} mini-batches show no pace", plan.mini_batches);
        moved = std::max(moved, made->moved);
        pace = std::max(pace, made->a_period);
        replica = std::move(made->passes);
    }
    LearningTimes times{
        learning::WeightTimeline(learning::side_by_side(std::move(replicas), true), watch),
        pace * plan.update_every / kMicro,
        {}};
    if (longer.micro_batches > plan.mini_batches)
        times.notes.push_back(fmt::format(
            "learning: the times of {} simulated mini-batches repeat at their steady pace; to keep "
            "the order, passes moved by at most {:.1f} % of a mini-batch",
            plan.mini_batches, pace > 0 ? 100 * moved / pace : 0.0));
    return times;
}

learning::ReplicaTimes
replica_times(const TrainingStep& step, const ExecutionGraph& graph, const Outcome& outcome) {
    const std::vector<RanPasses> replicas = passes_of(step, graph, outcome);
    // Gradients are reduced between the last pass and the update; weights have the same size.
    const double round = round_us(graph, outcome) * 1e-6;
    learning::ReplicaTimes times{{}, std::numeric_limits<double>::infinity(), 0};
    for (const RanPasses& replica : replicas) {
        double passes = 0;
        double update = std::numeric_limits<double>::infinity();
        for (const RanPass& ran : replica.passes)
            if (ran.pass.kind == PassKind::kUpdate)
                update = std::min(update, ran.begin);
            else
                passes = std::max(passes, ran.end);
        // The last replica waits for nobody: its time in between is the exchange alone.
        times.exchange = std::min(times.exchange, update - passes);
        times.step.push_back(round - (update - passes));
    }
    // An all-reduce moves 2 (K - 1) / K times the weights in each direction at its bus bandwidth;
    // exchanging with a centre moves the weights twice.
    const auto replicas_there = static_cast<double>(times.replicas());
    if (times.replicas() > 1)
        times.with_centre = times.exchange * replicas_there / (replicas_there - 1);
    return times;
}

}  // namespace switchfold
