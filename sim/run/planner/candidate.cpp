// SPDX-License-Identifier: Apache-2.0
#include "sim/run/planner/candidate.h"

#include "sim/core/error.h"
#include "sim/core/gibibytes.h"
#include "sim/core/json.h"
#include "sim/run/machine/system_queries.h"
#include "sim/run/planner/machine_links.h"
#include "sim/run/pool/pool.h"
#include "sim/run/workload/kernel_model.h"
#include "sim/run/workload/plan_workload.h"
#include "sim/run/workload/training_workload.h"
#include "workloads/memory/step/memory_step.h"
#include "workloads/plan/fold/folded_step.h"
#include "workloads/plan/schedule/generators.h"
#include "workloads/plan/step/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace switchfold {

namespace {

const TrainingWorkloadParams& workload_of(const Experiment& experiment) {
    return std::get<TrainingWorkloadParams>(*experiment.workload);
}

PlanParams params_of(const PlanCandidate& candidate, const TrainingWorkloadParams& workload) {
    PlanParams params = workload.plan.value_or(PlanParams{});
    static_cast<ParallelPlan&>(params) = candidate.plan;
    params.memory = candidate.memory;
    params.fold = candidate.fold;
    return params;
}

/// A worker's evaluation of a candidate.
struct Judged {
    std::string refused;  ///< reason for rejection: key, space, sentence
    double memory_bytes = 0;
    bool fits = false;
    bool fold = false;
    PlanBound bound;
};

std::string encode(const std::vector<Judged>& all) {
    Json json = Json::array();
    for (const Judged& j : all)
        json.push_back(
            {j.refused,
             j.memory_bytes,
             j.fits,
             j.fold,
             j.bound.arithmetic,
             j.bound.links,
             j.bound.path});
    std::string bytes;
    Json::to_msgpack(json, bytes);
    return bytes;
}

std::vector<Judged> decode_judged(const std::string& bytes) {
    std::vector<Judged> all;
    for (const Json& one : Json::from_msgpack(bytes.begin(), bytes.end()))
        all.push_back(
            {one[0].get<std::string>(),
             one[1].get<double>(),
             one[2].get<bool>(),
             one[3].get<bool>(),
             {one[4].get<double>(), one[5].get<double>(), one[6].get<double>()}});
    return all;
}

/// Evaluates candidates in sequence.
class Judge {
public:
    explicit Judge(const LoadedExperiment& loaded) :
        loaded_(loaded),
        experiment_(loaded.experiment),
        gpu_(*experiment_.system->gpu),
        roomy_(gpu_),
        cuts_(std::make_shared<MachineCuts>(*experiment_.system)),
        machine_gpus_(gpus_of_machine(*experiment_.system)) {
        // The planner compares the needs with the memory itself, to report the difference.
        roomy_.memory.capacity = roomy_.memory.reserve = Bytes(0);
    }

    Judged operator()(const PlanCandidate& candidate) {
        // Candidates that differ only in their scenario are adjacent.
        const std::string name = name_of(candidate.plan);
        if (candidate.memory || name != name_) {
            name_ = candidate.memory ? "" : name;
            judged_ = {};
            prepare(candidate);
        }
        Judged judged = judged_;
        if (judged.fits && judged.refused.empty() && !candidate.memory)
            judged.bound = plan_bound(
                *prepared_->step,
                MachineLinks(cuts_, experiment_.scenarios[candidate.scenario].policies()));
        return judged;
    }

private:
    void prepare(const PlanCandidate& candidate) {
        TrainingWorkloadParams workload = workload_of(experiment_);
        workload.plan = params_of(candidate, workload);
        // Plans with equal work per stage have the same partition.
        const std::string stages = stages_key(candidate.plan);
        const bool balanced = workload.plan->cut.first.empty() && !workload.plan->cut.equal &&
                              !workload.plan->cut.planner && !workload.plan->cut.replicated;
        if (const auto known = cuts_of_.find(stages); balanced && known != cuts_of_.end())
            workload.plan->cut.first = known->second;
        PlanProblems problems;
        prepared_ = prepare_plan(
            workload, candidate.memory ? gpu_ : roomy_, loaded_.file.parent_path(), problems);
        if (!prepared_) {
            const auto& [pointer, what] = problems.front();
            judged_.refused =
                fmt::format("{} {}", pointer.empty() ? "plan" : pointer.substr(1), what);
            return;
        }
        const PlannedStep& step = *prepared_->step;
        if (balanced) {
            std::vector<std::string>& first = cuts_of_[stages];
            first.clear();
            for (const std::uint32_t layer : step.plan().partition)
                first.push_back(std::to_string(layer));
        }
        for (const MemoryBytes& device : plan_memory(step))
            judged_.memory_bytes = std::max(judged_.memory_bytes, device.all());
        const auto capacity = static_cast<double>(gpu_.memory.for_plans().count());
        judged_.fits =
            candidate.memory.has_value() || capacity == 0 || judged_.memory_bytes <= capacity;
        judged_.fold = ranks_of(step.plan()) > experiment_.planner->fold_above &&
                       !candidate.memory && why_not_folded(step, machine_gpus_).empty();
        if (candidate.memory) {
            judged_.memory_bytes = static_cast<double>(
                std::min(prepared_->memory->choice.bytes, gpu_.memory.for_plans()).count());
            judged_.bound = of_copies(*prepared_);
        }
    }

    /// Everything that the times of a plan's stages depend on.
    static std::string stages_key(const ParallelPlan& plan) {
        return fmt::format(
            "{} {} {} {} {} {}",
            plan.tensor,
            plan.context,
            schedule_of(plan).stages(),
            plan.micro_batch,
            plan.sequence,
            static_cast<int>(plan.recompute));
    }

    /// Bound for a step with host copies: its kernels, or its copies in one direction.
    [[nodiscard]] PlanBound of_copies(const PreparedPlan& prepared) const {
        const StageWork& work = prepared.step->work();
        PlanBound bound;
        for (std::uint32_t stage = 0; stage < work.stages(); ++stage)
            bound.arithmetic +=
                work.seconds(PassKind::kForward, stage) + work.seconds(PassKind::kBackward, stage);
        const auto rate = static_cast<double>(gpu_.copy.host_bandwidth.count());
        const PinningPlan& plan = prepared.memory->plan;
        if (rate > 0)
            bound.links = static_cast<double>(plan.bytes_in) / rate;
        return bound;
    }

    const LoadedExperiment& loaded_;
    const Experiment& experiment_;
    const GpuParams& gpu_;
    GpuParams roomy_;
    std::shared_ptr<const MachineCuts> cuts_;
    std::uint32_t machine_gpus_;
    std::string name_;  ///< name of the prepared plan
    std::optional<PreparedPlan> prepared_;
    Judged judged_;  ///< its evaluation without the bound by links
    std::map<std::string, std::vector<std::string>>
        cuts_of_;  ///< first layers of stages, by stages_key()
};

class SpaceMaker {
public:
    SpaceMaker(const LoadedExperiment& loaded, unsigned jobs) :
        loaded_(loaded), experiment_(loaded.experiment), jobs_(jobs) {}

    CandidateSpace run() {
        check();
        enumerate();
        judge();
        if (space_.candidates.empty())
            fail_empty();
        std::stable_sort(
            space_.candidates.begin(),
            space_.candidates.end(),
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
        // A bound examines one rank per device, which represents all.
        if (!experiment_.system->gpus.empty())
            fail("/system/gpus", "has GPUs of other kinds; expected one kind for a planner");
        if (!experiment_.ranks.empty())
            fail("/ranks", "makes ranks unequal; expected none beside a planner");
        if (const auto& plan = workload_of(experiment_).plan) {
            if (plan->layer_cut)
                fail(
                    "/workload/plan/cut",
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
        const GpuParams& gpu = *experiment_.system->gpu;
        if (const std::string why = why_no_kernel_times(gpu); !why.empty())
            fail("/system", fmt::format("names {}, which {}", gpu.name, why));
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
                        "is \"{}\", {}; expected one of: {}",
                        planner.schedule[i],
                        generator == nullptr ? "which is no schedule"
                                             : "which never flushes and trains with other weights",
                        fmt::join(names, ", ")));
        }
        const std::uint32_t there = gpus_of(*experiment_.system);
        space_.gpus = planner.gpus == 0 ? there : planner.gpus;
        if (space_.gpus > there)
            fail(
                "/planner/gpus",
                fmt::format(
                    "is {}, and {} has {} GPUs; expected at most those",
                    space_.gpus,
                    experiment_.system->name,
                    there));
        choose_scenarios();
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
            const Algorithm algorithm = s.policies().of(CollectiveKind::kAllReduce).algorithm;
            const bool in_switch = algorithm == Algorithm::kInSwitch;
            // Plans have groups inside machines too, which such an algorithm does not serve.
            if (loaded_.default_scenarios && reduces_in_switch(algorithm) && !in_switch)
                continue;
            if (in_switch && !can_reduce_in_switch(*experiment_.system, space_.gpus)) {
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
        constexpr std::size_t kPiece = 48;
        std::vector<Job> jobs;
        for (std::size_t from = 0; from < all_.size(); from += kPiece) {
            const std::size_t end = std::min(all_.size(), from + kPiece);
            jobs.push_back({"bounds", [this, from, end](const JobProgress& /*progress*/) {
                                Judge judge(loaded_);
                                std::vector<Judged> judged;
                                for (std::size_t i = from; i < end; ++i)
                                    judged.push_back(judge(all_[i]));
                                return encode(judged);
                            }});
        }
        std::vector<std::vector<Judged>> pieces(jobs.size());
        run_jobs(jobs, jobs_, {}, [&](std::size_t job, const JobResult& result) {
            if (result.code != ExitCode::kDone)
                rethrow(jobs[job], result);
            pieces[job] = decode_judged(result.bytes);
        });
        std::size_t at = 0;
        for (const std::vector<Judged>& piece : pieces)
            for (const Judged& judged : piece)
                take(std::move(all_[at++]), judged);
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
            const double miss =
                judged.memory_bytes -
                static_cast<double>(experiment_.system->gpu->memory.for_plans().count());
            if (space_.closest_miss.empty() || miss < space_.closest_miss_bytes) {
                space_.closest_miss = name_of(candidate, experiment_);
                space_.closest_miss_bytes = miss;
            }
            return;
        }
        candidate.bound = judged.bound;
        candidate.fold = judged.fold;
        space_.candidates.push_back(std::move(candidate));
    }

    [[noreturn]] void fail_empty() const {
        if (space_.too_large > 0) {
            const GpuParams& gpu = *experiment_.system->gpu;
            const auto capacity = static_cast<double>(gpu.memory.for_plans().count());
            fail(
                "/planner",
                fmt::format(
                    "leaves no plan that fits in memory: the closest of {}, {}, needs {:.1f} GiB "
                    "on its fullest GPU, {:.1f} more than the {:.0f} of {}; expected more GPUs, a "
                    "smaller micro_batch, more sharding or recompute, or plans of memory",
                    space_.too_large,
                    space_.closest_miss,
                    in_gibibytes(capacity + space_.closest_miss_bytes),
                    in_gibibytes(space_.closest_miss_bytes),
                    in_gibibytes(capacity),
                    gpu.name));
        }
        std::string why;
        for (const auto& [reason, refused] : space_.refused)
            why += fmt::format(
                "{}{} refuses {} ({})",
                why.empty() ? "" : "; ",
                reason,
                refused.plans,
                refused.example);
        fail(
            "/planner",
            fmt::format(
                "leaves no plan{}; expected values that go together",
                why.empty() ? ": its lists name none" : ": " + why));
    }

    const LoadedExperiment& loaded_;
    const Experiment& experiment_;
    unsigned jobs_;
    std::vector<std::size_t> chosen_;  ///< indices of scenarios
    std::vector<PlanCandidate> all_;
    CandidateSpace space_;
};

}  // namespace

std::string name_of(const PlanCandidate& candidate, const Experiment& experiment) {
    std::string name = name_of(candidate.plan);
    if (candidate.memory)
        name += fmt::format(
            ", memory by {} with {}",
            enum_name(candidate.memory->planner),
            enum_name(candidate.memory->staging));
    return fmt::format("{}, {}", name, experiment.scenarios[candidate.scenario].name);
}

LoadedExperiment experiment_of(const PlanCandidate& candidate, const LoadedExperiment& loaded) {
    Experiment experiment = loaded.experiment;
    auto& workload = std::get<TrainingWorkloadParams>(*experiment.workload);
    workload.plan = params_of(candidate, workload);
    workload.ranks = 0;
    experiment.scenarios = {loaded.experiment.scenarios[candidate.scenario]};
    experiment.planner.reset();
    experiment.causes = false;
    return complete_experiment(std::move(experiment), loaded.file);
}

CandidateSpace candidate_space(const LoadedExperiment& loaded, unsigned jobs) {
    return SpaceMaker(loaded, jobs).run();
}

}  // namespace switchfold
