// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/training/plan_builder.h"

#include "core/error.h"
#include "interconnect/topology_builder.h"
#include "sim/config/rank_gpus.h"
#include "sim/elastic/step_graphs.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/folded_probes.h"
#include "sim/workload/folded_workload.h"
#include "sim/workload/learning_plan.h"
#include "sim/workload/memory_check.h"
#include "sim/workload/plan_preparation.h"
#include "sim/workload/slow_ranks.h"
#include "sim/workload/training_workload.h"
#include "training/memory/step/step_alone.h"
#include "training/placement/placed_step.h"
#include "training/plan/fold/folded_step.h"
#include "training/plan/fold/kept_places.h"
#include "training/plan/step/plan_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

/// Ranks that take long to simulate each.
constexpr std::uint32_t kMostRanksWhole = 32;

class PlanBuilder final : public WorkloadBuilder {
public:
    PlanBuilder(
        const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) :
        WorkloadBuilder(context, out),
        w_(shared_out(planned(w, context), context.experiment().learning)),
        gpus_(context.rank_gpus()),
        preparation_(w_, gpus_, context.file().parent_path(), context.experiment().memory) {}

    void network() override {
        // Before a batch is divided among far too many.
        if (!w_.plan->placement)
            refuse_other_ranks(ranks_of(*w_.plan), false);
        preparation_.network();
        refuse("/workload/plan", preparation_.problems());
    }
    void plan() override {
        preparation_.plan();
        refuse("/workload/plan", preparation_.problems());
    }
    void tasks() override {
        preparation_.tasks();
        refuse("/workload/plan", preparation_.problems());
        prepared_ = preparation_.take();
        refuse_other_ranks(prepared_.ranks, prepared_.cut != nullptr);
        if (prepared_.cut)
            use_cut(prepared_);
        const Experiment& experiment = context().experiment();
        if (experiment.run)
            refuse("/run", why_not_run(*experiment.run, w_, context().gpus()));
        if (experiment.learning)
            refuse(
                "/learning",
                why_not_learned(
                    *experiment.learning, *prepared_.step, context().file().parent_path()));
        out().unequal = prepared_.divided.has_value();
        if (prepared_.divided)
            refuse_unequal(*prepared_.divided);
    }
    /// Folded, one rank stands for all that do the same, if some do.
    void graph() override {
        const bool folds = is_to_fold(w_, context().experiment());
        const bool many = prepared_.ranks > kMostRanksWhole;
        const std::string whole = folds || many ? why_whole(prepared_) : std::string();
        if (folds && whole.empty())
            fold(steps_of(prepared_));
        else
            out().graph = prepared_.graph();
        if (w_.plan->fold.value_or(false) && !whole.empty())
            out().report.notes.push_back(
                "every rank is simulated, although the plan says fold: " + whole);
        if (!folds && !w_.plan->fold && many && whole.empty())
            suggest_fold(prepared_.ranks);
    }
    void machine() override {
        if (prepared_.average)
            note_average(*prepared_.average);
        WorkloadResult& report = out().report;
        for (std::string& note : prepared_.notes)
            report.notes.push_back(std::move(note));
        if (w_.plan_of_strategy && !prepared_.divided)
            note_largest_batch(*prepared_.step);
        if (prepared_.memory)
            note_updates(*prepared_.step, *prepared_.memory);
        const TrainingFacts& training = out().graph.training;
        if (training.rounds > 1)
            report.notes.push_back(fmt::format(
                "the pipeline is never drained: the iteration is a mini-batch at the steady pace, "
                "without the first and the last {} of {}",
                training.warm_up, training.rounds));
        report.source = out().graph.provenance.source;
        report.synthetic = true;
        context().place(out().graph);
        if (context().experiment().learning)
            out().plan = std::move(prepared_.step);
    }

private:
    static TrainingWorkloadParams
    planned(const TrainingWorkloadParams& w, const WorkloadContext& context) {
        return w.plan ? w : with_preset(w, context.ranks_of(w.ranks));
    }

    /// With the shares of the batch that learning gives replicas.
    static TrainingWorkloadParams
    shared_out(TrainingWorkloadParams w, const Boxed<LearningParams>& learning) {
        if (learning)
            w.plan = divided_by_shares(*w.plan, *learning);
        return w;
    }

    /// Fails if there are problems, whose pointers are relative to `pointer`.
    void refuse(const std::string& pointer, PlanProblems problems) const {
        for (auto& [at, what] : problems) {
            at = written_as(pointer + at);
            if (w_.plan_of_strategy && what.find("it fits with one of") != std::string::npos)
                what += ", keys of a plan in the strategy's place";
        }
        if (!problems.empty())
            context().fail_all(problems);
    }

    /// Where the file has what the pointer to a plan's key means.
    [[nodiscard]] std::string written_as(const std::string& pointer) const {
        if (!w_.plan_of_strategy || !pointer.starts_with("/workload/plan"))
            return pointer;
        return pointer == "/workload/plan/micro_batch" ? "/workload/batch" : "/workload/strategy";
    }

    void note_largest_batch(const TrainingStep& step) {
        const GpuParams& gpu = *gpus_.kinds()[gpus_.kind(0)];
        const Bytes capacity = gpu.memory.for_plans();
        const std::uint32_t largest = most_samples(gpu, step.plan(), plan_memory(step));
        if (capacity.count() > 0 && largest >= w_.plan->micro_batch)
            out().report.notes.push_back(fmt::format(
                "batch {} is the largest that fits the {} of {}", largest, to_string(capacity),
                gpu.name));
    }

    void note_updates(const TrainingStep& step, const StepMemory& memory) {
        const auto compared = compare_with_batch(step, memory);
        if (!compared || compared->planned <= compared->batch)
            return;
        out().report.notes.push_back(fmt::format(
            "without contention updates batch would take {:.3f} ms, and {} takes {:.3f}: updates "
            "within the backward pass can be slower where data travel "
            "(docs/memory_plans.md#when-weights-are-updated)",
            to_milliseconds(to_seconds(compared->batch)), name_of(memory.choice.updates),
            to_milliseconds(to_seconds(compared->planned))));
    }

    void note_average(const AveragePlan& average) {
        if (context().experiment().run)
            context().fail(
                "/run",
                "follows steps that all replicas take together, and the plan has average; expected "
                "a plan without");
        if (context().experiment().learning)
            context().fail(
                "/learning",
                average.overlap
                    ? "follows averages after a step, and the plan's overlap the next ones; "
                      "expected average/overlap false"
                    : "has an averaging of its own, and the plan has average; expected one of the "
                      "two");
        const std::uint32_t machines = build_topology(context().system().topology).machines();
        if (average.method == AverageMethod::kElasticAsync && machines > 1)
            context().fail(
                "/workload/plan/average/method",
                fmt::format(
                    "is elastic_async, of which one host thread has the centre, and {} has {} "
                    "machines; expected elastic, or one machine",
                    context().system().name, machines));
        out().report.notes.push_back(fmt::format(
            "replicas exchange weights every {} steps: the iteration is a step with its share of "
            "the exchange{}",
            average.every, average.overlap ? ", which runs beside the steps that follow" : ""));
    }

    void refuse_other_ranks(std::uint32_t planned, bool cut) const {
        if (w_.ranks == 0 && planned > context().gpus())
            context().fail(
                "/workload/plan",
                fmt::format(
                    "is for {} ranks, {}, more than the {} GPUs of {}; expected at most those",
                    planned, product_of_ranks(cut), context().gpus(), context().system().name));
        if (context().ranks_of(w_.ranks == 0 ? planned : w_.ranks) != planned)
            context().fail(
                "/workload/ranks",
                fmt::format(
                    "is {}, and the plan is for {}: {}", w_.ranks, planned, product_of_ranks(cut)));
    }

    static const char* product_of_ranks(bool cut) {
        return cut ? "data x context x tensor x gpus of the placement"
                   : "data x context x tensor x pipeline";
    }

    /// Rejects settings that require sequential stages. Learning follows whole steps: all parts
    /// compute with the weights of the update before.
    void use_cut(PreparedPlan& prepared) const {
        if (context().experiment().run)
            context().fail(
                "/workload/plan/placement",
                "needs a fixed machine, but run changes its GPUs; expected none");
        const Boxed<LearningParams>& learning = context().experiment().learning;
        if (!learning)
            return;
        if (learning->averaging.rule != learning::AveragingRule::kNone ||
            !learning->shares.empty() || !learning->members.empty())
            context().fail(
                "/workload/plan/placement",
                "divides replicas, and learning's averages, shares and members are of whole "
                "ones; expected none");
        const PlacedStep& cut = *prepared.cut;
        ParallelPlan whole = cut.plan();
        whole.pipeline = 1;
        prepared.step = std::make_unique<TrainingStep>(
            Network(cut.network()), KernelTimes(cut.times()), std::move(whole));
    }

    /// By rank.
    static std::vector<const TrainingStep*> steps_of(const PreparedPlan& prepared) {
        if (prepared.divided)
            return prepared.divided->by_rank;
        return std::vector<const TrainingStep*>(
            ranks_of(prepared.step->plan()), prepared.step.get());
    }

    /// Why no rank stands for others; empty if some do.
    [[nodiscard]] std::string why_whole(const PreparedPlan& prepared) const {
        const Experiment& experiment = context().experiment();
        if (std::string why = why_all_are_met(context()); !why.empty())
            return why;
        if (experiment.run)
            return "its members change";
        if (prepared.cut)
            return "a placement gives GPUs parts of their own";
        if (prepared.planned() != nullptr)
            return "the memory of each is planned";
        if (prepared.average)
            return "averaged replicas exchange only now and then";
        const std::vector<const TrainingStep*> by_rank = steps_of(prepared);
        if (std::ranges::find(by_rank, nullptr) != by_rank.end())
            return "a replica has no samples";
        if (prepared.divided && by_rank.front()->plan().expert > 1)
            return "ranks of several kinds exchange tokens, and each waits for others";
        return why_not_folded(*by_rank.front(), gpus_of_machine(context().system()));
    }

    /// Rejects settings that require equal ranks.
    void refuse_unequal(const DividedPlan& divided) const {
        const Boxed<LearningParams>& learning = context().experiment().learning;
        const auto& steps = divided.by_rank;
        if (learning && !learning->shares.empty() &&
            std::find(steps.begin(), steps.end(), nullptr) != steps.end())
            context().fail(
                "/learning/shares",
                "leave a replica without a sample of the plan's step; expected more samples in the "
                "plan, or less unequal shares");
        if (learning && learning->shares.empty() && !divided.equal_samples)
            context().fail(
                "/learning",
                "assumes equal micro-batches, but the plan divides the batch into others; "
                "expected a division that names its samples, a plan without global_batch, or "
                "learning's shares");
    }

    void fold(const std::vector<const TrainingStep*>& by_rank) {
        const TrainingStep& step = *by_rank.front();
        const std::vector<std::uint32_t> kinds = kinds_of(by_rank);
        const SystemParams& system = context().system();
        const std::vector<SlowRank> slow = slow_ranks(context(), ranks_of(step.plan()));
        out().unequal = out().unequal || !slow.empty();
        out().folded = std::make_shared<const FoldedGraph>(
            folded_step(by_rank, gpus_of_machine(system), ways_out(system), slow));
        out().graph = out().folded->probe();
        const ParallelPlan& plan = step.plan();
        std::string how;
        if (!out().folded->whole().pieces.empty())
            how = "; a pass is one kernel that takes as long as with its collectives on the ranks "
                  "of a machine";
        const bool alike = slow.empty() && kinds.empty();
        if (!alike || !folds_by_passes(step))
            how += fmt::format(
                "; {}collectives take what they took alone and keep their thread blocks and memory "
                "traffic beside kernels, and what they take from each other and from messages on "
                "links is left out",
                how.empty() ? ""
                            : "where gradients are reduced, or another pass runs, beside a pass, ");
        if (step.schedule().routes.size() > 1)
            how += "; gradients of a stage that two devices hold are measured on two neighbours";
        if (plan.messages == Messages::kOverlapped && plan.pipeline > 1 &&
            !out().folded->whole().pieces.empty())
            how += "; what messages slow beside them is left out";
        const std::size_t kept = kept_places(plan, slow, kinds).size();
        std::string_view of_kinds;
        if (!kinds.empty())
            of_kinds = ", one of each kind that has other GPUs or waits for them in another way";
        else if (!slow.empty())
            of_kinds = ", one of each kind that waits in another way for slow ranks";
        out().report.notes.push_back(fmt::format(
            "folded: {} of each device {} for {}{}{}",
            kept == 1 ? "one rank" : fmt::format("{} ranks", kept), kept == 1 ? "stands" : "stand",
            plan.tensor * plan.context * plan.data, of_kinds, how));
        const std::optional<RunParts> parts = run_parts(*out().folded);
        if (parts && !whole_passes(simulate_options(context().experiment())))
            out().report.notes.push_back(fmt::format(
                "folded: of many equal blocks of a pass {} are run, and the others take as long as "
                "each of the last {} of these (/fidelity exact runs all)",
                parts->run, parts->paced));
        if (plan.data * plan.context >= kLongRing)
            out().report.notes.push_back(fmt::format(
                "folded: rings of {} ranks and more are measured on two shorter ones with as many "
                "bytes a rank, whose steps take as long",
                kLongRing));
    }

    /// Names what makes a step of many ranks fast to simulate.
    void suggest_fold(std::uint32_t ranks) {
        out().report.notes.push_back(fmt::format(
            "every one of {} ranks is simulated; {} simulates one of each pipeline device for its "
            "group and its replicas (docs/plans.md#folded-plans)",
            ranks,
            w_.plan_of_strategy ? "fold true in the strategy's plan, written in its place,"
                                : "/workload/plan/fold true"));
    }

    const TrainingWorkloadParams w_;
    const RankGpus gpus_;
    PlanPreparation preparation_;
    PreparedPlan prepared_;
};

}  // namespace

bool is_to_fold(const TrainingWorkloadParams& w, const Experiment& experiment) {
    if (!w.plan)
        return false;
    const bool fold_many = !w.plan_of_strategy && experiment.may_leave_out() != Fidelity::kExact;
    return w.plan->fold.value_or(fold_many && ranks_of(*w.plan) > kMostRanksWhole);
}

std::unique_ptr<WorkloadBuilder> plan_builder(
    const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    return std::make_unique<PlanBuilder>(w, context, out);
}

}  // namespace switchfold
