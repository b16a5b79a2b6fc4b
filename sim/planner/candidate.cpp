// SPDX-License-Identifier: Apache-2.0
#include "sim/planner/candidate.h"

#include "core/error.h"
#include "core/gibibytes.h"
#include "models/collectives/choice/named_policies.h"
#include "sim/config/planner_params.h"
#include "sim/config/rank_gpus.h"
#include "sim/machine/system_queries.h"
#include "sim/planner/judge.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "training/plan/schedule/generators.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

const TrainingWorkloadParams& workload_of(const Experiment& experiment) {
    return *switchfold::workload_of<TrainingWorkloadParams>(experiment);
}

class SpaceMaker {
public:
    SpaceMaker(const LoadedExperiment& loaded, unsigned jobs, const JudgeProgress& progress) :
        loaded_(loaded), experiment_(loaded.experiment), jobs_(jobs), progress_(progress) {}

    CandidateSpace run() {
        check();
        enumerate();
        judge();
        if (space_.candidates.empty())
            fail_empty();
        std::stable_sort(
            space_.candidates.begin(), space_.candidates.end(),
            [](const PlanCandidate& a, const PlanCandidate& b) {
                return a.bound.seconds() < b.bound.seconds();
            });
        return std::move(space_);
    }

private:
    [[noreturn]] void fail(const std::string& pointer, const std::string& message) const {
        throw ConfigError(loaded_.file.string(), pointer, message);
    }

    void check() {
        if (!experiment_.planner)
            fail("/planner", "is missing; expected the space that plans are chosen from");
        if (switchfold::workload_of<TrainingWorkloadParams>(experiment_) == nullptr)
            fail("/workload/type", "has no plans to choose from; expected training");
        if (experiment_.learning)
            fail("/learning", "trains along a plan that is given; expected none beside a planner");
        if (!experiment_.system->gpus.empty() && !experiment_.planner->memory.empty())
            fail(
                "/planner/memory",
                "plans the memory of one kind of GPU, and /system/gpus has others; expected none "
                "beside them");
        if (!experiment_.jitter->none())
            fail("/jitter", "makes ranks unequal; expected none beside a planner");
        if (const auto& plan = workload_of(experiment_).plan) {
            if (plan->placement)
                fail(
                    "/workload/plan/placement",
                    "cannot be compared with other plans; expected none beside a planner");
            if (plan->global_batch > 0)
                fail(
                    "/workload/plan/global_batch",
                    "is divided by the planner itself; expected none beside a planner");
            if (plan->average)
                fail(
                    "/workload/plan/average",
                    "needs replicas that train independently; expected none beside a planner");
        }
        const RankGpus gpus(*experiment_.system);
        for (const GpuParams* gpu : gpus.kinds())
            if (const std::string why = why_no_kernel_times(*gpu); !why.empty())
                fail("/system", fmt::format("names {}, which {}", gpu->name, why));
        const PlannerParams& planner = *experiment_.planner;
        for (std::size_t i = 0; i < planner.schedule.size(); ++i) {
            const ScheduleGenerator* generator = find_schedule(planner.schedule[i]);
            std::vector<std::string_view> names;
            for (const ScheduleGenerator& known : schedule_generators())
                if (!known.never_flushes)
                    names.push_back(known.name);
            if (generator == nullptr || generator->never_flushes)
                fail(
                    fmt::format("/planner/schedule/{}", i),
                    fmt::format(
                        "is \"{}\", {}; expected one of: {}", planner.schedule[i],
                        generator == nullptr ? "which is not a schedule"
                                             : "which never flushes and trains with other weights",
                        fmt::join(names, ", ")));
        }
        const std::uint32_t there = gpus_of(*experiment_.system);
        space_.gpus = planner.gpus == 0 ? there : planner.gpus;
        if (space_.gpus > there)
            fail(
                "/planner/gpus", fmt::format(
                                     "is {}, and {} has {} GPUs; expected at most those",
                                     space_.gpus, experiment_.system->name, there));
        check_slow_ranks();
        choose_scenarios();
    }

    void check_slow_ranks() const {
        for (std::size_t i = 0; i < experiment_.ranks.size(); ++i) {
            const SlowRankParams& slow = experiment_.ranks[i];
            if (slow.compute < 1)
                fail(
                    fmt::format("/ranks/{}/compute", i),
                    fmt::format(
                        "is {}, and no plan is faster than its bound on GPUs that are not; "
                        "expected at least 1 beside a planner",
                        slow.compute));
            if (slow.rank >= space_.gpus)
                fail(
                    fmt::format("/ranks/{}/rank", i),
                    fmt::format(
                        "is {}, and plans are for {} GPUs; expected one of these", slow.rank,
                        space_.gpus));
        }
    }

    void choose_scenarios() {
        const auto& scenarios = experiment_.scenarios;
        const std::vector<std::string>& wanted = experiment_.planner->scenarios;
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (std::none_of(scenarios.begin(), scenarios.end(), [&](const ScenarioParams& s) {
                    return s.name == wanted[i];
                }))
                fail(
                    fmt::format("/planner/scenarios/{}", i),
                    fmt::format(
                        "names \"{}\", which is not a scenario; expected the name of one",
                        wanted[i]));
        for (std::size_t i = 0; i < scenarios.size(); ++i) {
            const ScenarioParams& s = scenarios[i];
            const bool named = std::find(wanted.begin(), wanted.end(), s.name) != wanted.end();
            if (wanted.empty() ? !s.overlap : !named)
                continue;
            if (!s.overlap)
                fail(
                    fmt::format("/scenarios/{}/overlap", i),
                    "is false, and the planner compares steps that overlap; expected true");
            if (!s.set.empty())
                fail(
                    fmt::format("/scenarios/{}/set", i),
                    "changes the experiment that plans are chosen for; expected none in a scenario "
                    "of the planner");
            const CollectivePolicy policy = s.policies().of(CollectiveKind::kAllReduce);
            const bool across = asks_for_switches_across(policy);
            // Plans have groups inside machines too, which such an algorithm does not serve.
            if (loaded_.default_scenarios && across)
                continue;
            if (asks_for_switches(policy) && !across &&
                !can_reduce_in_switch(*experiment_.system, space_.gpus)) {
                if (!loaded_.default_scenarios)
                    fail(
                        fmt::format("/scenarios/{}/all_reduce/algorithm", i),
                        fmt::format(
                            "is in_switch, which {} cannot do; expected ring, tree or auto",
                            experiment_.system->name));
                space_.notes.push_back(fmt::format(
                    "{} was left out: {} cannot do it", s.name, experiment_.system->name));
                continue;
            }
            chosen_.push_back(i);
        }
        if (chosen_.empty())
            fail("/scenarios", "have none that overlaps; expected one");
    }

    void enumerate() {
        const TrainingWorkloadParams& workload = workload_of(experiment_);
        const Network network = network_of(workload, loaded_.file.parent_path());
        ParallelPlan base;
        if (workload.plan)
            base = plan_without_network(workload);
        else {
            TrainingWorkloadParams planned = workload;
            planned.plan = PlanParams{};
            base = plan_without_network(planned);
        }
        base.expert = workload.plan ? workload.plan->expert : 1;
        base.node_ranks = gpus_of_machine(*experiment_.system);
        PlanSpace axes = *experiment_.planner;
        axes.gpus = space_.gpus;
        EnumeratedPlans found = enumerate_plans(axes, base, network);
        space_.combinations = found.combinations;
        space_.refused = std::move(found.refused);
        for (const ParallelPlan& plan : found.plans) {
            for (const std::size_t scenario : chosen_)
                all_.push_back({plan, {}, scenario, false, {}, 0});
            for (const MemoryChoiceParams& memory : experiment_.planner->memory)
                if (problems_of(memory, plan).empty())
                    for (const std::size_t scenario : chosen_)
                        all_.push_back({plan, memory, scenario, false, {}, 0});
        }
    }

    void judge() {
        const std::vector<Judged> judged = judge_all(loaded_, all_, jobs_, progress_);
        for (std::size_t i = 0; i < all_.size(); ++i)
            take(std::move(all_[i]), judged[i]);
    }

    void take(PlanCandidate candidate, const Judged& judged) {
        if (!judged.refused.empty()) {
            EnumeratedPlans::Refused& refused =
                space_.refused[judged.refused.substr(0, judged.refused.find(' '))];
            if (refused.plans++ == 0)
                refused.example =
                    fmt::format("{}: {}", name_of(candidate, experiment_), judged.refused);
            return;
        }
        candidate.memory_bytes = judged.memory_bytes;
        if (!judged.fits) {
            ++space_.too_large;
            if (space_.closest_miss.empty() || judged.lacks < space_.closest_miss_bytes) {
                space_.closest_miss = name_of(candidate, experiment_);
                space_.closest_miss_bytes = judged.lacks;
                space_.closest_miss_needs = judged.needs;
                space_.closest_miss_on = judged.lacks_on;
            }
            return;
        }
        candidate.bound = judged.bound;
        candidate.fold = judged.fold;
        space_.candidates.push_back(std::move(candidate));
    }

    [[noreturn]] void fail_empty() const {
        if (space_.too_large > 0) {
            const double needs = space_.closest_miss_needs;
            fail(
                "/planner",
                fmt::format(
                    "leaves no plan that fits in memory: the closest of {}, {}, needs {:.1f} GiB "
                    "on its fullest GPU, {:.1f} more than the {:.0f} of {}; expected more GPUs, a "
                    "smaller micro_batch, more sharding or recompute, or plans of memory",
                    space_.too_large, space_.closest_miss, in_gibibytes(needs),
                    in_gibibytes(space_.closest_miss_bytes),
                    in_gibibytes(needs - space_.closest_miss_bytes), space_.closest_miss_on));
        }
        std::string why;
        for (const auto& [reason, refused] : space_.refused)
            why += fmt::format(
                "{}{} refuses {} ({})", why.empty() ? "" : "; ", reason, refused.plans,
                refused.example);
        fail(
            "/planner", fmt::format(
                            "leaves no plan{}; expected values that go together",
                            why.empty() ? ": its lists name none" : ": " + why));
    }

    const LoadedExperiment& loaded_;
    const Experiment& experiment_;
    unsigned jobs_;
    const JudgeProgress& progress_;
    std::vector<std::size_t> chosen_;  ///< indices of scenarios
    std::vector<PlanCandidate> all_;
    CandidateSpace space_;
};

}  // namespace

PlanParams params_of(const PlanCandidate& candidate, const TrainingWorkloadParams& workload) {
    PlanParams params = workload.plan.value_or(PlanParams{});
    static_cast<ParallelPlan&>(params) = candidate.plan;
    params.memory = candidate.memory;
    params.fold = candidate.fold;
    return params;
}

std::string name_of(const PlanCandidate& candidate, const Experiment& experiment) {
    std::string name = name_of(candidate.plan);
    if (candidate.memory)
        name += fmt::format(
            ", memory by {} with {}", enum_name(candidate.memory->planner),
            enum_name(candidate.memory->staging));
    return fmt::format("{}, {}", name, experiment.scenarios[candidate.scenario].name);
}

LoadedExperiment experiment_of(const PlanCandidate& candidate, const LoadedExperiment& loaded) {
    Experiment experiment = loaded.experiment;
    auto& workload = *switchfold::workload_of<TrainingWorkloadParams>(experiment);
    workload.plan = params_of(candidate, workload);
    workload.ranks = 0;
    experiment.scenarios = {loaded.experiment.scenarios[candidate.scenario]};
    experiment.planner.reset();
    experiment.causes = false;
    return complete_experiment(std::move(experiment), loaded.file);
}

CandidateSpace
candidate_space(const LoadedExperiment& loaded, unsigned jobs, const JudgeProgress& progress) {
    return SpaceMaker(loaded, jobs, progress).run();
}

}  // namespace switchfold
