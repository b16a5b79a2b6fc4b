// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/training/read_training.h"

#include "core/error.h"
#include "interconnect/topology_builder.h"
#include "sim/config/rank_gpus.h"
#include "sim/elastic/step_graphs.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/folded_plan.h"
#include "sim/workload/folded_probes.h"
#include "sim/workload/learning_plan.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/strategy_check.h"
#include "sim/workload/training_workload.h"
#include "training/memory/step/step_alone.h"
#include "training/placement/planned_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace switchfold {

namespace {

class TrainingReader {
public:
    TrainingReader(const WorkloadContext& context, PreparedWorkload& out) :
        context_(context), out_(out) {}

    void run(const TrainingWorkloadParams& w) {
        if (w.plan)
            read_plan(w);
        else
            read_strategy(w);
        WorkloadResult& report = out_.report;
        report.source = out_.graph.provenance.source;
        report.synthetic = true;
        context_.place(out_.graph);
    }

private:
    void read_strategy(const TrainingWorkloadParams& w) {
        const RankGpus gpus = context_.rank_gpus();
        const std::uint32_t ranks = context_.ranks_of(w.ranks);
        const std::set<std::uint32_t> kinds = gpus.used(ranks);
        for (const std::uint32_t kind : kinds)
            if (const GpuParams& gpu = *gpus.kinds()[kind]; gpu.matrix_rate.count() == 0)
                context_.fail(
                    "/workload/type",
                    fmt::format(
                        "is training, and {} states no matrix_rate; expected a GPU that does",
                        gpu.name));
        out_.unequal = kinds.size() > 1;
        for (const std::uint32_t kind : kinds)
            use_ranks(
                training_step(w, *gpus.kinds()[kind], ranks, context_.file().parent_path()), gpus,
                kind);
        check_strategy(w, gpus, kinds);
        out_.report.notes.push_back(
            "a generated step: kernels take the longer of their arithmetic at the GPU's "
            "matrix_rate and of their bytes at the bandwidth that streams reach");
    }

    void check_strategy(
        const TrainingWorkloadParams& w, const RankGpus& gpus,
        const std::set<std::uint32_t>& kinds) {
        const Network network = network_of(w, context_.file().parent_path());
        const StrategyCheck check(
            w, network, out_.graph,
            channel_buffers(
                *context_.system().collectives,
                static_cast<std::uint32_t>(out_.graph.ranks.size())));
        std::string note = "the step needs up to " + check.told();
        for (const std::uint32_t kind : kinds) {
            const GpuParams& gpu = *gpus.kinds()[kind];
            if (const std::string lack = check.lack(gpu); !lack.empty())
                context_.lack_memory("/workload/batch", lack, out_);
            else if (const Bytes capacity = gpu.memory.for_plans(); capacity.count() > 0)
                note += fmt::format(
                    "; batch {} is the largest that fits the {} of {}",
                    check.largest_batch(capacity), to_string(capacity), gpu.name);
        }
        out_.report.notes.push_back(std::move(note));
    }

    /// Takes the ranks of one kind from a step whose ranks differ only in times.
    void use_ranks(ExecutionGraph of_kind, const RankGpus& gpus, std::uint32_t kind) {
        if (out_.graph.ranks.empty()) {
            out_.graph = std::move(of_kind);
            return;
        }
        SWITCHFOLD_CHECK(
            of_kind.names == out_.graph.names && of_kind.groups == out_.graph.groups,
            "a step differs on {}", gpus.kinds()[kind]->name);
        for (std::uint32_t rank = 0; rank < of_kind.ranks.size(); ++rank)
            if (gpus.kind(rank) == kind)
                out_.graph.ranks[rank] = of_kind.ranks[rank];
    }

    void read_plan(TrainingWorkloadParams w) {
        const std::optional<LearningParams>& learning = context_.experiment().learning;
        if (learning)
            w.plan = divided_by_shares(*w.plan, *learning);
        PlanProblems problems;
        const RankGpus gpus = context_.rank_gpus();
        // Before a batch is divided among far too many.
        if (!w.plan->placement)
            refuse_other_ranks(w, ranks_of(*w.plan), false);
        auto prepared = prepare_plan(
            w, gpus, context_.file().parent_path(), problems, context_.experiment().memory);
        for (auto& [pointer, what] : problems)
            pointer = "/workload/plan" + pointer;
        if (!prepared)
            context_.fail_all(problems);
        const std::uint32_t planned = prepared->ranks;
        refuse_other_ranks(w, planned, prepared->cut != nullptr);
        if (prepared->cut)
            use_cut(*prepared);
        if (context_.experiment().run) {
            PlanProblems wrong = why_not_run(*context_.experiment().run, w, context_.gpus());
            for (auto& [pointer, what] : wrong)
                pointer = "/run" + pointer;
            if (!wrong.empty())
                context_.fail_all(wrong);
        }
        if (learning)
            refuse_to_learn(*learning, *prepared);
        out_.unequal = prepared->divided.has_value();
        if (prepared->divided)
            refuse_unequal(*prepared->divided);
        constexpr std::uint32_t kMany = 64;  // ranks that take long to simulate each
        const std::string whole =
            w.plan->fold || planned > kMany ? why_whole(*prepared) : std::string();
        if (w.plan->fold && whole.empty())
            fold(*prepared->step);
        else
            out_.graph = prepared->graph();
        if (w.plan->fold && !whole.empty())
            out_.report.notes.push_back(
                "every rank is simulated, although the plan says fold: " + whole);
        if (!w.plan->fold && planned > kMany && whole.empty())
            suggest_fold(planned);
        if (prepared->average)
            note_average(*prepared->average);
        if (context_.experiment().learning)
            out_.plan = std::move(prepared->step);
        for (std::string& note : prepared->notes)
            out_.report.notes.push_back(std::move(note));
        if (prepared->memory)
            note_updates(*prepared->step, *prepared->memory);
        const TrainingFacts& training = out_.graph.training;
        if (training.rounds > 1)
            out_.report.notes.push_back(fmt::format(
                "the pipeline is never drained: the iteration is a mini-batch at the steady pace, "
                "without the first and the last {} of {}",
                training.warm_up, training.rounds));
    }

    void refuse_to_learn(const LearningParams& learning, const PreparedPlan& prepared) const {
        PlanProblems wrong =
            why_not_learned(learning, *prepared.step, context_.file().parent_path());
        for (auto& [pointer, what] : wrong)
            pointer = "/learning" + pointer;
        if (!wrong.empty())
            context_.fail_all(wrong);
    }

    void note_updates(const PlannedStep& step, const PlannedMemory& memory) {
        const auto compared = compare_with_batch(step, memory);
        if (!compared || compared->planned <= compared->batch)
            return;
        out_.report.notes.push_back(fmt::format(
            "without contention updates batch would take {:.3f} ms, and {} takes {:.3f}: updates "
            "within the backward pass can be slower where data travel "
            "(docs/memory_plans.md#when-weights-are-updated)",
            to_milliseconds(to_seconds(compared->batch)), name_of(memory.choice.updates),
            to_milliseconds(to_seconds(compared->planned))));
    }

    void note_average(const AveragePlan& average) {
        if (context_.experiment().run)
            context_.fail(
                "/run",
                "follows steps that all replicas take together, and the plan has average; expected "
                "a plan without");
        if (context_.experiment().learning)
            context_.fail(
                "/learning",
                average.overlap
                    ? "follows averages after a step, and the plan's overlap the next ones; "
                      "expected average/overlap false"
                    : "has an averaging of its own, and the plan has average; expected one of the "
                      "two");
        const std::uint32_t machines = build_topology(context_.system().topology).machines();
        if (average.method == AverageMethod::kElasticAsync && machines > 1)
            context_.fail(
                "/workload/plan/average/method",
                fmt::format(
                    "is elastic_async, of which one host thread has the centre, and {} has {} "
                    "machines; expected elastic, or one machine",
                    context_.system().name, machines));
        out_.report.notes.push_back(fmt::format(
            "replicas exchange weights every {} steps: the iteration is a step with its share of "
            "the exchange{}",
            average.every, average.overlap ? ", which runs beside the steps that follow" : ""));
    }

    void
    refuse_other_ranks(const TrainingWorkloadParams& w, std::uint32_t planned, bool cut) const {
        if (w.ranks == 0 && planned > context_.gpus())
            context_.fail(
                "/workload/plan",
                fmt::format(
                    "is for {} ranks, {}, more than the {} GPUs of {}; expected at most those",
                    planned, product_of_ranks(cut), context_.gpus(), context_.system().name));
        if (context_.ranks_of(w.ranks == 0 ? planned : w.ranks) != planned)
            context_.fail(
                "/workload/ranks",
                fmt::format(
                    "is {}, and the plan is for {}: {}", w.ranks, planned, product_of_ranks(cut)));
    }

    static const char* product_of_ranks(bool cut) {
        return cut ? "data x context x tensor x gpus of the placement"
                   : "data x context x tensor x pipeline";
    }

    /// Rejects settings that require sequential stages. Learning follows whole steps: all parts
    /// compute with the weights of the update before.
    void use_cut(PreparedPlan& prepared) const {
        if (context_.experiment().run)
            context_.fail(
                "/workload/plan/placement",
                "needs a fixed machine, but run changes its GPUs; expected none");
        const std::optional<LearningParams>& learning = context_.experiment().learning;
        if (!learning)
            return;
        if (learning->averaging.rule != learning::AveragingRule::kNone ||
            !learning->shares.empty() || !learning->members.empty())
            context_.fail(
                "/workload/plan/placement",
                "divides replicas, and learning's averages, shares and members are of whole "
                "ones; expected none");
        const PlannedPlacement& cut = *prepared.cut;
        ParallelPlan whole = cut.plan();
        whole.pipeline = 1;
        prepared.step = std::make_unique<PlannedStep>(
            Network(cut.network()), KernelTimes(cut.times()), std::move(whole));
    }

    /// Why no rank stands for others; empty if some do.
    [[nodiscard]] std::string why_whole(const PreparedPlan& prepared) const {
        const Experiment& experiment = context_.experiment();
        if (context_.is_placed())
            return "other workloads share the machine, which the ranks that are left out would "
                   "meet";
        if (!experiment.ranks.empty())
            return "the experiment's ranks are not alike";
        if (minds_congestion(*context_.system().topology))
            return "queues of the network are made by all of them (topology/congestion)";
        if (experiment.run)
            return "its members change";
        if (prepared.cut)
            return "a placement gives GPUs parts of their own";
        if (prepared.planned() != nullptr)
            return "the memory of each is planned";
        if (prepared.average)
            return "averaged replicas exchange only now and then";
        if (prepared.divided && prepared.divided->steps.size() > 1)
            return "they have different GPUs or samples, and each does what it alone does";
        return why_not_folded(*prepared.step, gpus_of_machine(context_.system()));
    }

    /// Rejects settings that require equal ranks.
    void refuse_unequal(const DividedPlan& divided) const {
        const std::optional<LearningParams>& learning = context_.experiment().learning;
        const auto& steps = divided.by_rank;
        if (learning && !learning->shares.empty() &&
            std::find(steps.begin(), steps.end(), nullptr) != steps.end())
            context_.fail(
                "/learning/shares",
                "leave a replica without a sample of the plan's step; expected more samples in the "
                "plan, or less unequal shares");
        if (learning && learning->shares.empty() && !divided.equal_samples)
            context_.fail(
                "/learning",
                "assumes equal micro-batches, but the plan divides the batch into others; "
                "expected a division that names its samples, a plan without global_batch, or "
                "learning's shares");
    }

    void fold(const PlannedStep& step) {
        out_.folded = std::make_shared<const FoldedStep>(folded_step(step, context_.system()));
        out_.graph = out_.folded->probe();
        const ParallelPlan& plan = step.plan();
        std::string how;
        if (!out_.folded->pieces().empty())
            how = "; a pass is one kernel that takes as long as with its collectives on the ranks "
                  "of a machine";
        if (!folds_by_passes(step))
            how += fmt::format(
                "; {}collectives take what they took alone and keep their thread blocks and memory "
                "traffic beside kernels, and what they take from each other and from messages on "
                "links is left out",
                how.empty() ? ""
                            : "where gradients are reduced, or another pass runs, beside a pass, ");
        if (step.schedule().routes.size() > 1)
            how += "; gradients of a stage that two devices hold are measured on two neighbours";
        if (plan.messages == Messages::kOverlapped && plan.pipeline > 1 &&
            !out_.folded->pieces().empty())
            how += "; what messages slow beside them is left out";
        out_.report.notes.push_back(fmt::format(
            "folded: one rank of each device stands for {}{}",
            plan.tensor * plan.context * plan.data, how));
        if (plan.data * plan.context >= kLongRing)
            out_.report.notes.push_back(fmt::format(
                "folded: rings of {} ranks and more are measured on two shorter ones with as many "
                "bytes a rank, whose steps take as long",
                kLongRing));
    }

    /// Names what makes a step of many ranks fast to simulate.
    void suggest_fold(std::uint32_t ranks) {
        out_.report.notes.push_back(fmt::format(
            "every one of {} ranks is simulated; /workload/plan/fold true simulates one of each "
            "pipeline device for its group and its replicas (docs/plans.md#folded-plans)",
            ranks));
    }

    const WorkloadContext& context_;
    PreparedWorkload& out_;
};

}  // namespace

void read_training(
    const TrainingWorkloadParams& w, const WorkloadContext& context, PreparedWorkload& out) {
    TrainingReader(context, out).run(w);
}

}  // namespace switchfold
