// SPDX-License-Identifier: Apache-2.0
#include "sim/run/results/learning_jobs.h"

#include "sim/core/error.h"
#include "sim/run/results/learning.h"
#include "workloads/learning/train/learn.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <optional>
#include <type_traits>
#include <utility>

namespace switchfold {

namespace {

using learning::TrainingRun;

template <class T>
void put(std::string& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <class T>
void put_all(std::string& bytes, const std::vector<T>& values) {
    put(bytes, std::uint64_t{values.size()});
    for (const T& value : values)
        put(bytes, value);
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}
    template <class T>
    void get(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        SWITCHFOLD_CHECK(bytes_.size() >= sizeof(T), "a training's bytes end early");
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_.remove_prefix(sizeof(T));
    }
    template <class T>
    void get_all(std::vector<T>& values) {
        std::uint64_t count = 0;
        get(count);
        SWITCHFOLD_CHECK(count <= bytes_.size() / sizeof(T), "a training's bytes end early");
        values.resize(count);
        for (T& value : values)
            get(value);
    }
    [[nodiscard]] bool done() const { return bytes_.empty(); }

private:
    std::string_view bytes_;
};

/// What the trainings of a scenario follow.
struct Followed {
    std::optional<LearningTimes> times;  ///< of a pipeline; none where replicas average
    learning::ReplicaTimes replicas;
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
    return followed;
}

LearningResult result_of(const LearningScenario& scenario, const Followed& followed) {
    const ParallelPlan& plan = scenario.plan->plan();
    LearningResult result = learning_result(*scenario.learning, plan.weights, followed.runs);
    constexpr double kMicroseconds = 1e6;  // in a second
    if (followed.times) {
        result.step_us = followed.times->step_us;
        result.notes = followed.times->notes;
    } else {
        const learning::ReplicaTimes& times = followed.replicas;
        const double exchanges =
            scenario.learning->averaging.rule == learning::AveragingRule::kOneShot
                ? 0
                : 1.0 / scenario.learning->averaging.every;
        result.step_us = (times.step + exchanges * times.exchange) * kMicroseconds;
        result.notes.push_back(fmt::format(
            "learning: a step of one's own takes {:.1f} us, an exchange of all weights {:.1f} us, "
            "as long as that of all gradients",
            times.step * kMicroseconds,
            times.exchange * kMicroseconds));
    }
    return result;
}

}  // namespace

std::vector<LearningResult> learn_along(
    const std::vector<LearningScenario>& scenarios,
    const std::filesystem::path& folder,
    const RunJobs& run) {
    std::deque<Followed> all;
    std::vector<Job> jobs;
    std::vector<std::pair<std::size_t, std::size_t>> of;  // scenario, seed by job
    for (const LearningScenario& scenario : scenarios) {
        const Followed& one = all.emplace_back(followed(scenario));
        for (std::uint32_t i = 0; i < scenario.learning->seeds; ++i) {
            of.emplace_back(all.size() - 1, i);
            jobs.push_back(
                {fmt::format("{}, seed {}", scenario.name, scenario.learning->seed + i),
                 [&scenario, &one, &folder, i](const JobProgress&) {
                     const learning::Task task = scenario.learning->task();
                     const std::uint64_t seed = scenario.learning->seed + i;
                     return encode(
                         one.times ? learning::learn(
                                         task,
                                         scenario.plan->plan().weights,
                                         one.times->timeline,
                                         seed,
                                         folder)
                                   : learning::learn_averaged(task, one.replicas, seed, folder));
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
    return results;
}

std::string encode(const TrainingRun& run) {
    std::string bytes;
    put_all(bytes, run.losses);
    put(bytes, run.diverged);
    put_all(bytes, run.stages);
    put_all(bytes, run.versions);
    put(bytes, run.digest);
    return bytes;
}

TrainingRun decode_training(std::string_view bytes) {
    Reader reader(bytes);
    TrainingRun run;
    reader.get_all(run.losses);
    reader.get(run.diverged);
    reader.get_all(run.stages);
    reader.get_all(run.versions);
    reader.get(run.digest);
    SWITCHFOLD_CHECK(reader.done(), "bytes behind a training");
    return run;
}

}  // namespace switchfold
