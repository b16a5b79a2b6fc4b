// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/learning_jobs.h"

#include "sim/run/pool/byte_codec.h"
#include "sim/run/results/learning.h"
#include "sim/run/results/learning_comparison.h"
#include "workloads/learning/replicas/averaging.h"
#include "workloads/learning/replicas/members.h"
#include "workloads/learning/train/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <deque>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace switchfold {

namespace {

using learning::TrainingRun;

constexpr double kMicroseconds = 1e6;  // per second

/// Input of a scenario's trainings.
struct Followed {
    std::optional<LearningTimes> times;  ///< none for replicas that average
    learning::ReplicaTimes replicas;     ///< for replicas that average
    std::vector<double> step_ends;       ///< for unequal shares or changing members; else empty
    std::vector<learning::TrainingRun> runs;  ///< by seed
};

Followed followed(const LearningScenario& scenario) {
    const LearningParams& params = *scenario.learning;
    Followed followed;
    followed.runs.resize(params.seeds);
    if (params.averaging.rule == learning::AveragingRule::kNone)
        followed.times =
            learning_times(*scenario.plan, *scenario.graph, *scenario.outcome, params.steps);
    else
        followed.replicas = replica_times(*scenario.plan, *scenario.graph, *scenario.outcome);
    if (followed.times && (!params.members.empty() || !params.shares.empty()))
        for (std::uint32_t step = 1; step <= params.steps; ++step)
            followed.step_ends.push_back(step * followed.times->step_us / kMicroseconds);
    return followed;
}

TrainingRun trained(
    const LearningScenario& scenario,
    const Followed& followed,
    std::uint32_t seed,
    const std::filesystem::path& folder) {
    learning::Task task = scenario.learning->task();
    if (seed > 0)
        task.most_versions = 0;  // only the first seed records them
    const ParallelPlan& plan = scenario.plan->plan();
    const std::uint64_t number = scenario.learning->seed + seed;
    if (!followed.times)
        return learning::learn_averaged(task, followed.replicas, number, folder);
    if (!followed.step_ends.empty())
        return learning::learn_with_members(task, plan.data, followed.step_ends, number, folder);
    return learning::learn(task, plan.weights, followed.times->timeline, number, folder);
}

/// Adds notes on averaging replicas.
void add_times(const Followed& followed, const LearningParams& learning, LearningResult& result) {
    const learning::ReplicaTimes& times = followed.replicas;
    const auto [fastest, slowest] = std::minmax_element(times.step.begin(), times.step.end());
    const learning::LossPoint& last = followed.runs.front().losses.back();
    if (last.step > 0)
        result.step_us = last.seconds / last.step * kMicroseconds;
    std::string own = fmt::format("{:.1f} us", *slowest * kMicroseconds);
    if (*fastest < *slowest)
        own = fmt::format("{:.1f} to {}", *fastest * kMicroseconds, own);
    if (learning.averaging.rule == learning::AveragingRule::kElasticAsync)
        result.notes.push_back(fmt::format(
            "learning: a step of one's own takes {}, an exchange with the centre {:.1f} us, all "
            "weights there and the pull back at the bus bandwidth of the simulated all-reduce",
            own,
            times.with_centre * kMicroseconds));
    else
        result.notes.push_back(fmt::format(
            "learning: a step of one's own takes {}, an exchange of all weights {:.1f} us, as long "
            "as that of all gradients",
            own,
            times.exchange * kMicroseconds));
}

LearningResult result_of(const LearningScenario& scenario, const Followed& followed) {
    const ParallelPlan& plan = scenario.plan->plan();
    LearningResult result = learning_result(*scenario.learning, plan.weights, followed.runs);
    const TrainingRun& first = followed.runs.front();
    if (followed.times) {
        result.step_us = followed.times->step_us;
        result.notes = followed.times->notes;
    } else {
        add_times(followed, *scenario.learning, result);
    }
    if (first.versions.size() < first.passes)
        result.notes.push_back(fmt::format(
            "learning: versions.csv has the first {} of {} passes",
            first.versions.size(),
            first.passes));
    if (!scenario.learning->members.empty())
        result.notes.push_back(fmt::format(
            "learning: a step takes what it takes with the plan's {} replicas, however many there "
            "are",
            plan.data));
    return result;
}

}  // namespace

std::vector<LearningResult> learn_along(
    const std::vector<LearningScenario>& scenarios,
    const std::filesystem::path& folder,
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
                 [&scenario, &one, &folder, i](const JobProgress&) {
                     return encode(trained(scenario, one, i, folder));
                 }});
        }
    }
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        all[of[job].first].runs[of[job].second] = decode_training(result.bytes);
    });
    std::vector<LearningResult> results;
    for (std::size_t i = 0; i < scenarios.size(); ++i)
        results.push_back(result_of(scenarios[i], all[i]));
    compare(scenarios, results);
    return results;
}

namespace learning {

template <class S>
requires std::same_as<std::remove_const_t<S>, TrainingRun>
auto parts(S& run) {
    return std::tie(
        run.losses, run.diverged, run.stages, run.versions, run.passes, run.membership, run.digest);
}

}  // namespace learning

std::string encode(const TrainingRun& run) {
    ByteWriter writer;
    writer.put(run);
    return writer.take();
}

TrainingRun decode_training(std::string_view bytes) {
    ByteReader reader(bytes);
    TrainingRun run;
    reader.get(run);
    reader.end();
    return run;
}

}  // namespace switchfold
