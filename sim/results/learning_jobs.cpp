// SPDX-License-Identifier: Apache-2.0
#include "sim/results/learning_jobs.h"

#include "core/byte_codec.h"
#include "core/error.h"
#include "interconnect/topology_builder.h"
#include "sim/results/learning.h"
#include "sim/results/learning_comparison.h"
#include "sim/results/training.h"
#include "training/learning/replicas/averaging.h"
#include "training/learning/replicas/members.h"
#include "training/learning/train/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>

namespace switchfold {

namespace {

using learning::TrainingRun;

constexpr double kMicroseconds = 1e6;  // per second

[[nodiscard]] bool averages(const LearningScenario& scenario) {
    return scenario.learning->averaging.rule != learning::AveragingRule::kNone;
}

/// Whether replicas come and go, or have unequal shares: they then train with weights of their own.
[[nodiscard]] bool has_members(const LearningScenario& scenario) {
    return !scenario.learning->members.empty() || !scenario.learning->shares.empty();
}

/// As the switches of the scenario add its replicas' gradients: exactly, where they do not narrow
/// them, and where no fixed, equal replicas sum them in every step.
learning::GradientSums sums_of(const LearningScenario& scenario) {
    learning::GradientSums sums;
    sums.replicas = scenario.plan->plan().data;
    if (!scenario.quantised.used() || sums.replicas < 2 || averages(scenario) ||
        has_members(scenario))
        return sums;
    const auto rounds = [quantised = scenario.quantised](std::span<float> numbers) {
        quantise(quantised, numbers);
    };
    const bool sent = scenario.quantised.at == QuantisedAt::kGpu;
    if (sent)
        sums.sent = rounds;
    if (sent && build_topology(scenario.system->topology).sums_in_elements())
        sums.added = rounds;
    else
        sums.received = rounds;
    return sums;
}

/// A scenario's trainings.
struct Followed {
    learning::ReplicaTimes replicas;  ///< for replicas that average
    std::vector<TrainedRun> runs;     ///< by seed
};

Followed followed(const LearningScenario& scenario) {
    Followed followed;
    followed.runs.resize(scenario.learning->seeds);
    if (averages(scenario))
        followed.replicas = replica_times(*scenario.plan, *scenario.graph, *scenario.outcome);
    return followed;
}

/// Reports progress, and throws SimulationError when the real time allowed is over.
learning::Watch watch_of(const LearningScenario& scenario, const JobProgress& report) {
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kBetween(20);
    const double step_s = round_us(*scenario.graph, *scenario.outcome) / kMicroseconds;
    return learning::Watch([&scenario, &report, step_s, begin = Clock::now(),
                            last = Clock::now()](double share) mutable {
        const auto now = Clock::now();
        if (now - last < kBetween)
            return;
        last = now;
        report(share, 0);
        const Time allowed = scenario.limits->real_time;
        const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(now - begin);
        if (allowed == Time() || nanoseconds(static_cast<std::uint64_t>(taken.count())) <= allowed)
            return;
        const double steps = share * scenario.learning->steps;
        constexpr double kMicro = 1e6;  // per second
        throw SimulationError(
            "learning", microseconds(static_cast<std::uint64_t>(steps * step_s * kMicro)),
            fmt::format(
                "takes longer than the {} of real time allowed by /limits/real_time; {:.0f} of {} "
                "steps are done",
                to_string(allowed), std::floor(steps), scenario.learning->steps));
    });
}

TrainedRun trained(
    const LearningScenario& scenario, const learning::ReplicaTimes& replicas, std::uint32_t seed,
    const std::filesystem::path& folder, const learning::Watch& watch) {
    const LearningParams& params = *scenario.learning;
    learning::Task task = params.task();
    if (seed > 0)
        task.most_versions = 0;  // only the first seed records them
    const ParallelPlan& plan = scenario.plan->plan();
    const std::uint64_t number = params.seed + seed;
    if (averages(scenario))
        return {learning::learn_averaged(task, replicas, number, folder, watch), 0, {}};
    if (has_members(scenario)) {
        const double step_us = round_us(*scenario.graph, *scenario.outcome);
        std::vector<double> ends;
        for (std::uint32_t step = 1; step <= params.steps; ++step)
            ends.push_back(step * step_us / kMicroseconds);
        return {
            learning::learn_with_members(task, plan.data, ends, number, folder, watch),
            step_us,
            {}};
    }
    // Made anew for each seed: it takes little of the time, and much memory for many steps.
    LearningTimes times =
        learning_times(*scenario.plan, *scenario.graph, *scenario.outcome, params.steps, watch);
    task.sums = sums_of(scenario);
    TrainedRun made{{}, times.step_us, std::move(times.notes)};
    made.run = learning::learn(task, plan.weights, times.timeline, number, folder, watch);
    return made;
}

/// Adds notes on averaging replicas.
void add_times(const Followed& followed, const LearningParams& learning, LearningResult& result) {
    const learning::ReplicaTimes& times = followed.replicas;
    const auto [fastest, slowest] = std::minmax_element(times.step.begin(), times.step.end());
    const learning::LossPoint& last = followed.runs.front().run.losses.back();
    if (last.step > 0)
        result.step_us = last.seconds / last.step * kMicroseconds;
    std::string own = fmt::format("{:.1f} us", *slowest * kMicroseconds);
    if (*fastest < *slowest)
        own = fmt::format("{:.1f} to {}", *fastest * kMicroseconds, own);
    if (learning.averaging.rule == learning::AveragingRule::kElasticAsync)
        result.notes.push_back(fmt::format(
            "learning: a local step takes {}, an exchange with the centre {:.1f} us, all weights "
            "there and the pull back at the bus bandwidth of the simulated all-reduce",
            own, times.with_centre * kMicroseconds));
    else
        result.notes.push_back(fmt::format(
            "learning: a local step takes {}, an exchange of all weights {:.1f} us, as long as "
            "that of all gradients",
            own, times.exchange * kMicroseconds));
}

/// Replicas, mean over the steps of the small network's training.
std::optional<double> mean_members(const LearningScenario& scenario, const TrainingRun& run) {
    const ParallelPlan& plan = scenario.plan->plan();
    if (plan.pipeline > 1 || scenario.learning->steps == 0)
        return {};
    double members = plan.data;
    double sum = 0;
    double from = 0;
    for (const learning::MembershipChange& change : run.membership) {
        sum += members * (change.step - from);
        from = change.step;
        members = change.members;
    }
    const double steps = scenario.learning->steps;
    return (sum + members * (steps - from)) / steps;
}

/// Of a batch, for the replica with most samples.
double largest_share(const LearningScenario& scenario) {
    const std::vector<std::uint32_t>& shares = scenario.learning->shares;
    if (shares.empty())
        return 1.0 / scenario.plan->plan().data;
    return static_cast<double>(*std::max_element(shares.begin(), shares.end())) /
           std::accumulate(shares.begin(), shares.end(), 0.0);
}

LearningResult result_of(const LearningScenario& scenario, const Followed& followed) {
    const ParallelPlan& plan = scenario.plan->plan();
    std::vector<TrainingRun> runs;
    for (const TrainedRun& each : followed.runs)
        runs.push_back(each.run);
    LearningResult result = learning_result(*scenario.learning, plan.weights, runs);
    const TrainingRun& first = runs.front();
    result.averages = averages(scenario);
    result.members = mean_members(scenario, first);
    if (result.averages) {
        add_times(followed, *scenario.learning, result);
    } else {
        result.step_us = followed.runs.front().step_us;
        result.notes = followed.runs.front().notes;
    }
    if (scenario.quantised.used())
        result.notes.push_back(
            sums_of(scenario).exact()
                ? "learning: 8-bit sums have no effect on what is learnt: no gradients of fixed, "
                  "equal replicas are added in every step"
                : fmt::format(
                      "learning: gradients of {} replicas are added as {}, quantised at the {}",
                      plan.data, enum_name(scenario.quantised.format),
                      enum_name(scenario.quantised.at)));
    if (first.versions.size() < first.passes)
        result.notes.push_back(fmt::format(
            "learning: versions.csv has the first {} of {} passes", first.versions.size(),
            first.passes));
    if (!scenario.learning->members.empty())
        result.notes.push_back(fmt::format(
            "learning: a step takes as long as with the plan's {} replicas, whatever their number",
            plan.data));
    return result;
}

}  // namespace

std::vector<LearningResult> learn_along(
    const std::vector<LearningScenario>& scenarios, const std::filesystem::path& folder,
    const RunJobs& run) {
    std::deque<Followed> all;
    std::vector<Job> jobs;
    std::vector<std::pair<std::size_t, std::size_t>> of;  // scenario and seed, by job
    for (const LearningScenario& scenario : scenarios) {
        const Followed& one = all.emplace_back(followed(scenario));
        for (std::uint32_t i = 0; i < scenario.learning->seeds; ++i) {
            of.emplace_back(all.size() - 1, i);
            jobs.push_back(
                {fmt::format("{}, seed {}", scenario.name, scenario.learning->seed + i),
                 [&scenario, &one, &folder, i](const JobProgress& report) {
                     return encode(
                         trained(scenario, one.replicas, i, folder, watch_of(scenario, report)));
                 },
                 static_cast<double>(scenario.learning->steps) * scenario.learning->batch});
        }
    }
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        all[of[job].first].runs[of[job].second] = decode_trained(result.bytes);
    });
    std::vector<LearningResult> results;
    for (std::size_t i = 0; i < scenarios.size(); ++i)
        results.push_back(result_of(scenarios[i], all[i]));
    const auto unequal = [](const LearningScenario& s) { return !s.learning->shares.empty(); };
    if (std::any_of(scenarios.begin(), scenarios.end(), unequal))
        for (std::size_t i = 0; i < scenarios.size(); ++i)
            results[i].largest_share = largest_share(scenarios[i]);
    compare(scenarios, results);
    return results;
}

std::string encode(const TrainedRun& trained) {
    return value_bytes(trained);
}

TrainedRun decode_trained(std::string_view bytes) {
    return value_of_bytes<TrainedRun>(bytes);
}

}  // namespace switchfold
