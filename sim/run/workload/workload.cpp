// SPDX-License-Identifier: Apache-2.0
#include "sim/run/workload/workload.h"

#include "models/collectives/choice/kernels.h"
#include "models/collectives/choice/machine_view.h"
#include "sim/core/error.h"
#include "sim/run/changes/step_graphs.h"
#include "sim/run/config/scenario_set.h"
#include "sim/run/machine/system_queries.h"
#include "sim/run/workload/collective_sizes.h"
#include "sim/run/workload/experts_workload.h"
#include "sim/run/workload/folded_plan.h"
#include "sim/run/workload/late_peers.h"
#include "sim/run/workload/learning_plan.h"
#include "sim/run/workload/plan_workload.h"
#include "sim/run/workload/training_workload.h"
#include "workloads/graph/collective.h"
#include "workloads/graph/extrapolate.h"
#include "workloads/plan/step/plan_step.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

class Preparer {
public:
    Preparer(const LoadedExperiment& loaded, const Variant& variant) :
        loaded_(loaded),
        variant_(variant),
        experiment_(*variant.experiment),
        gpus_(build_topology(experiment_.system->topology).gpus()) {}

    PreparedWorkload run() {
        check_plan_is_there();
        std::visit([&](const auto& workload) { read(workload); }, experiment_.workload);
        check(prepared_.graph);
        check_scenarios();
        if (prepared_.folded && prepared_.left_out.empty()) {
            // The step has collectives that the probe has not: what devices agree on.
            const std::vector<Time> any(prepared_.folded->pieces().size(), nanoseconds(1));
            prepared_.graph = prepared_.folded->graph(any);
            check(prepared_.graph);
            check_scenarios();
        }
        prepared_.report.ranks = static_cast<std::uint32_t>(prepared_.graph.ranks.size());
        prepared_.report.steps = prepared_.graph.steps;
        return std::move(prepared_);
    }

private:
    [[noreturn]] void fail(const std::string& pointer, const std::string& message) const {
        fail_all({{pointer, message}});
    }
    [[noreturn]] void fail_all(const PlanProblems& problems) const {
        const std::string file = loaded_.file.string();
        const std::size_t first = variant_.scenarios.front();
        std::vector<Problem> told;
        for (const auto& [pointer, message] : problems) {
            const Problem problem{file, pointer, message};
            if (&experiment_ == &loaded_.experiment || pointer.starts_with("/scenarios"))
                told.push_back(problem);
            else
                told.push_back(
                    blamed_on_set(problem, file, loaded_.experiment.scenarios[first].set, first));
        }
        throw ConfigError(std::move(told));
    }

    /// As many as the workload says; all for 0.
    [[nodiscard]] std::uint32_t ranks_of(std::uint32_t ranks) const {
        if (ranks > gpus_)
            fail(
                "/workload/ranks",
                fmt::format(
                    "is {}, more than the {} GPUs of {}; expected at most those",
                    ranks,
                    gpus_,
                    experiment_.system->name));
        return ranks == 0 ? gpus_ : ranks;
    }

    /// Which weights a pass sees, and who its members are, a plan says.
    void check_plan_is_there() const {
        const auto* training = std::get_if<TrainingWorkloadParams>(&experiment_.workload);
        const bool planned = training != nullptr && training->plan;
        if (experiment_.learning && !planned)
            fail("/learning", "needs the passes of a plan; expected a training workload with one");
        if (experiment_.run && !planned)
            fail("/run", "changes replicas of a plan; expected a training workload with one");
    }

    void read(const TrainingWorkloadParams& w) {
        if (w.plan)
            read_plan(w);
        else
            read_strategy(w);
        WorkloadResult& report = prepared_.report;
        report.type = "training";
        report.source = prepared_.graph.provenance.source;
        report.synthetic = true;
    }

    void read_strategy(const TrainingWorkloadParams& w) {
        const SystemParams& system = *experiment_.system;
        if (system.gpu->matrix_rate.count() == 0)
            fail(
                "/workload/type",
                fmt::format(
                    "is training, and {} states no matrix_rate; expected a GPU that does",
                    system.gpu->name));
        prepared_.graph =
            training_step(w, *system.gpu, ranks_of(w.ranks), loaded_.file.parent_path());
        prepared_.report.notes.push_back(
            "a generated step: kernels take the longer of their arithmetic at the GPU's "
            "matrix_rate and of their bytes at the bandwidth that streams reach");
    }

    void read_plan(const TrainingWorkloadParams& w) {
        PlanProblems problems;
        auto prepared =
            prepare_plan(w, *experiment_.system->gpu, loaded_.file.parent_path(), problems);
        for (auto& [pointer, what] : problems)
            pointer = "/workload/plan" + pointer;
        if (!prepared)
            fail_all(problems);
        const std::uint32_t planned = switchfold::ranks_of(prepared->step->plan());
        if (w.ranks == 0 && planned > gpus_)
            fail(
                "/workload/plan",
                fmt::format(
                    "is for {} ranks, data x context x tensor x pipeline, more than the {} GPUs of "
                    "{}; expected at most those",
                    planned,
                    gpus_,
                    experiment_.system->name));
        if (ranks_of(w.ranks == 0 ? planned : w.ranks) != planned)
            fail(
                "/workload/ranks",
                fmt::format(
                    "is {}, and the plan is for {}: data x context x tensor x pipeline",
                    w.ranks,
                    planned));
        if (experiment_.run) {
            PlanProblems wrong = why_not_run(*experiment_.run, w, gpus_);
            for (auto& [pointer, what] : wrong)
                pointer = "/run" + pointer;
            if (!wrong.empty())
                fail_all(wrong);
        }
        if (w.plan->fold)
            fold(*prepared->step);
        else
            prepared_.graph = prepared->graph();
        if (experiment_.learning) {
            if (prepared->memory)
                fail(
                    "/learning",
                    "follows passes and updates, and a plan of memory updates within passes; "
                    "expected a plan without memory");
            PlanProblems wrong = why_not_learned(*experiment_.learning, *prepared->step);
            for (auto& [pointer, what] : wrong)
                pointer = "/learning" + pointer;
            if (!wrong.empty())
                fail_all(wrong);
            prepared_.plan = std::move(prepared->step);
        }
        for (std::string& note : prepared->notes)
            prepared_.report.notes.push_back(std::move(note));
        const TrainingFacts& training = prepared_.graph.training;
        if (training.rounds > 1)
            prepared_.report.notes.push_back(fmt::format(
                "never drained: the iteration is a mini-batch at the steady pace, without the "
                "first and the last {} of {}",
                training.warm_up,
                training.rounds));
    }

    void fold(const PlannedStep& step) {
        const std::uint32_t machine = gpus_of_machine(*experiment_.system);
        if (const std::string why = why_not_folded(step, machine); !why.empty())
            fail("/workload/plan/fold", "folds no such plan: " + why);
        prepared_.folded =
            std::make_shared<const FoldedStep>(folded_step(step, *experiment_.system));
        prepared_.graph = prepared_.folded->probe();
        const ParallelPlan& plan = step.plan();
        prepared_.report.notes.push_back(fmt::format(
            "folded: one rank of each device stands for {}; a pass is one kernel that takes what "
            "it "
            "took with its collectives on the ranks of a machine{}",
            plan.tensor * plan.context * plan.data,
            plan.messages == Messages::kBlocking || plan.pipeline == 1
                ? ""
                : "; what messages slow beside them is left out"));
    }

    void read(const CollectiveWorkloadParams& w) {
        const std::uint32_t ranks = ranks_of(w.ranks);
        if (w.size.count() % size_of(w.datatype).count() != 0)
            fail(
                "/workload/size",
                "is no whole number of elements; expected a multiple of the element's size");
        prepared_.graph = single_collective(w.collective, w.size, w.datatype, ranks);
        prepared_.report.type = "collective";
        prepared_.report.source = prepared_.graph.names.front();
    }

    void read(const ExpertsWorkloadParams& w) {
        const SystemParams& system = *experiment_.system;
        const std::uint32_t ranks = ranks_of(w.ranks);
        if (ranks < 2)
            fail("/workload/ranks", "is 1, and nothing is exchanged; expected at least 2");
        if (w.experts % ranks != 0)
            fail(
                "/workload/experts",
                fmt::format(
                    "is {}, which {} ranks cannot share evenly; expected a multiple of {}",
                    w.experts,
                    ranks,
                    ranks));
        constexpr std::uint64_t kMostChoices = 1ULL << 26U;
        if (std::uint64_t{w.tokens} * w.top_k * ranks > kMostChoices)
            fail(
                "/workload/tokens",
                fmt::format(
                    "is {}: with top_k {} and {} ranks more than {} choices of experts; expected "
                    "fewer tokens",
                    w.tokens,
                    w.top_k,
                    ranks,
                    kMostChoices));
        const ExpertExchange exchange = exchange_of(w, experiment_.seed);
        const ExpertsMachine machine = experts_machine(system, ranks);
        const auto& scenarios = loaded_.experiment.scenarios;
        for (const std::size_t i : variant_.scenarios) {
            const ExpertsPolicy& policy = scenarios[i].collectives.experts;
            const ExpertsRefusal refusal =
                why_no_experts(system.collectives->experts, policy, exchange, machine);
            if (refusal.why.empty())
                continue;
            const std::string pointer = fmt::format("/scenarios/{}/collectives/experts", i);
            if (!refusal.pointer.empty())
                fail(pointer + refusal.pointer, refusal.why);
            fail(
                pointer + "/library",
                fmt::format(
                    "is {}, which {} cannot run: {}",
                    enum_name(library_of(policy)),
                    system.name,
                    refusal.why));
        }
        prepared_.graph = experts_step(w.operation, exchange, ranks);
        prepared_.report.type = "experts";
        prepared_.report.source = prepared_.graph.names.front();
    }

    void read(const TraceWorkloadParams& w) {
        ReadOptions options;
        for (const std::string& file : w.files) {
            const std::filesystem::path path = file;
            options.files.push_back(
                path.is_absolute() ? path : (loaded_.file.parent_path() / path).lexically_normal());
        }
        TraceWorkload trace = read_traces(options);
        const std::uint32_t world = trace.graph.provenance.world_size;
        const std::uint32_t ranks = w.ranks == 0 ? world : w.ranks;
        if (ranks > gpus_)
            fail(
                "/workload",
                fmt::format(
                    "is a run of {} ranks and {} has {} GPUs; expected at most those",
                    ranks,
                    experiment_.system->name,
                    gpus_));
        WorkloadResult& report = prepared_.report;
        const bool stands_for_all = trace.files.size() == 1;
        complete_ranks(w, trace, ranks);
        if (!stands_for_all && w.peers == Peers::kTogether)
            fail(
                "/workload/peers",
                fmt::format(
                    "is together, and {} ranks were traced, which come when their traces say; "
                    "expected as_traced, or one trace that stands for all ranks",
                    trace.files.size()));
        for (const Group& group : trace.graph.groups)
            for (const std::uint32_t rank : group.ranks)
                if (rank >= ranks)
                    fail(
                        "/workload",
                        fmt::format(
                            "group {} holds rank {} of a run of {} ranks; expected ranks below "
                            "that",
                            group.name,
                            rank,
                            ranks));
        prepared_.graph = std::move(trace.graph);
        report.type = "trace";
        report.source = joined(w.files);  // as the user wrote them
        report.synthetic = prepared_.graph.provenance.synthetic;
        report.traced_ranks = prepared_.graph.provenance.traced_ranks;
        if (!report.synthetic)
            report.measured_iteration_us =
                to_microseconds(prepared_.graph.provenance.measured_iteration);
        for (const TraceFileReport& file : trace.files)
            add_report(file);
        const std::uint32_t estimated =
            estimate_collective_sizes(*experiment_.system, prepared_.graph);
        if (stands_for_all && ranks > 1)
            set_peers(w.peers, trace.files.front());
        if (estimated > 0)
            report.notes.push_back(fmt::format(
                "the trace does not say how large {} collectives are: sizes were estimated from "
                "their shortest "
                "durations on this machine",
                estimated));
        const auto overlapped = report.duration_sources.find("measured_overlapped");
        if (overlapped != report.duration_sources.end())
            report.notes.push_back(fmt::format(
                "{} kernels never ran without communication beside them: their measured durations "
                "stand for isolated ones",
                overlapped->second));
    }

    /// A rank that was not traced is made up only when the user asks for it.
    void complete_ranks(const TraceWorkloadParams& w, TraceWorkload& trace, std::uint32_t ranks) {
        const auto traced = static_cast<std::uint32_t>(trace.files.size());
        std::vector<std::string>& notes = prepared_.report.notes;
        if (traced == 1 && (w.ranks != 0 || ranks == 1)) {
            spread_over_ranks(trace.graph, ranks);
            return;
        }
        const bool whole_run = trace.files.back().rank + 1 == traced;
        if (traced < ranks && ranks % traced == 0 && whole_run &&
            trace.graph.provenance.world_size == traced) {
            for (std::string& assumption : extrapolate(trace.graph, ranks))
                notes.push_back(std::move(assumption));
            return;
        }
        if (traced != ranks)
            fail_missing(trace, ranks);
    }

    /// How late the ranks come for which one trace stands.
    void set_peers(std::optional<Peers> asked, const TraceFileReport& traced) {
        // A benchmark's times are of all ranks together, and nobody waited in a made-up run.
        const bool waits = has_residences(*prepared_.graph.ranks.front()) && !traced.synthetic &&
                           traced.format != "nccl-tests";
        if (asked == Peers::kAsTraced && !waits)
            fail(
                "/workload/peers",
                "is as_traced, and the trace says of no collective how long it was resident in a "
                "real run; expected together");
        const std::string whose = fmt::format(
            "rank {}'s trace stands for all {} ranks", traced.rank, prepared_.graph.ranks.size());
        std::vector<std::string>& notes = prepared_.report.notes;
        if (asked.value_or(waits ? Peers::kAsTraced : Peers::kTogether) == Peers::kTogether) {
            notes.push_back(whose + ": no rank is ever late");
            return;
        }
        const LatePeers late = derive_late_peers(*experiment_.system, prepared_.graph);
        prepared_.peers_late = late.waited > 0;
        notes.push_back(fmt::format(
            "{}, and the others are as late as it saw: of {} collectives {} were resident for "
            "longer than this machine needs for the transfer, by {:.0f} us each; the others come "
            "as late again in every scenario",
            whose,
            late.collectives,
            late.waited,
            late.waited > 0 ? to_microseconds(late.waiting) / static_cast<double>(late.waited)
                            : 0.0));
    }

    [[noreturn]] void fail_missing(const TraceWorkload& trace, std::uint32_t ranks) const {
        std::string missing;
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
            if (std::none_of(trace.files.begin(), trace.files.end(), [&](const auto& f) {
                    return f.rank == rank;
                }))
                missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
        fail(
            "/workload/files",
            fmt::format(
                "give {} of {} ranks, without rank {}; expected {}",
                trace.files.size(),
                ranks,
                missing,
                trace.files.size() == 1
                    ? fmt::format(
                          "one a rank, or \"ranks\": {} if this one may stand for all", ranks)
                    : "one a rank"));
    }

    static std::string joined(const std::vector<std::string>& files) {
        std::string all;
        for (const std::string& file : files)
            all += (all.empty() ? "" : ", ") + file;
        return all;
    }

    void add_report(const TraceFileReport& file) {
        WorkloadResult& report = prepared_.report;
        const auto add = [](auto& to, const auto& from) {
            for (const auto& [key, value] : from)
                to[key] += value;
        };
        add(report.used, file.used);
        add(report.dropped, file.dropped);
        add(report.duration_sources, file.durations);
        add(report.byte_sources, file.bytes);
        add(report.size_sources, file.sizes);
        for (const std::string& warning : file.warnings)
            report.notes.push_back(warning);
    }

    /// What collectives of one kind are over: a group, and the type of what moves.
    using Over = std::set<std::pair<std::uint32_t, Datatype>>;

    [[nodiscard]] std::map<CollectiveKind, Over> collectives_by_kind() const {
        std::map<CollectiveKind, Over> found;
        const RankGraph* last = nullptr;
        for (const auto& rank : prepared_.graph.ranks) {
            if (rank.get() == last)
                continue;  // ranks that share a graph
            last = rank.get();
            for (const Operation& operation : rank->operations) {
                const auto* c = std::get_if<CollectiveOperation>(&operation.body);
                if (c != nullptr && prepared_.graph.groups[c->group].ranks.size() > 1)
                    found[c->kind].emplace(c->group, c->datatype);
            }
        }
        return found;
    }

    /// Why the machine cannot run the workload's collectives of this kind so; empty if it can.
    [[nodiscard]] std::string why_not_all(
        Algorithm algorithm,
        CollectiveKind kind,
        const Over& over,
        const Topology& topology) const {
        for (const auto& [group, datatype] : over) {
            std::string reason =
                why_not(algorithm, kind, datatype, topology, prepared_.graph.groups[group].ranks);
            if (!reason.empty())
                return reason;
        }
        return {};
    }

    /// Why the machine cannot run them with the policy's kernels.
    [[nodiscard]] std::string why_not_all(
        const CollectivePolicy& policy,
        CollectiveKind kind,
        const Over& over,
        const Topology& topology) const {
        const CollectiveParams& params = *experiment_.system->collectives;
        for (const auto& [group, datatype] : over) {
            const GroupView view =
                view_group(topology, params.transfer_unit, prepared_.graph.groups[group].ranks);
            std::string reason =
                why_not_kernels(params, policy, view.machine, {kind, Bytes(0), datatype});
            if (!reason.empty())
                return reason;
        }
        return {};
    }

    /// An algorithm that the machine cannot do is bad input, not a failure half way through.
    void check_scenarios() {
        const auto& scenarios = loaded_.experiment.scenarios;
        const std::map<CollectiveKind, Over> collectives = collectives_by_kind();
        const Topology topology = build_topology(experiment_.system->topology);
        for (const std::size_t i : variant_.scenarios)
            for (const auto& [kind, over] : collectives) {
                const bool all_reduce = kind == CollectiveKind::kAllReduce;
                if (!all_reduce && !scenarios[i].collectives.named(kind))
                    continue;  // it follows all-reduces as far as it can
                const CollectivePolicy policy = scenarios[i].policies().of(kind);
                const bool classic = policy.kernels == Kernels::kClassic;
                const std::string reason = classic
                                               ? why_not_all(policy.algorithm, kind, over, topology)
                                               : why_not_all(policy, kind, over, topology);
                if (reason.empty())
                    continue;
                if (loaded_.default_scenarios) {
                    prepared_.left_out.insert(scenarios[i].name);
                    prepared_.report.notes.push_back(fmt::format(
                        "{} was left out: {} cannot do it: {}",
                        scenarios[i].name,
                        experiment_.system->name,
                        reason));
                    break;
                }
                const bool shorthand = !scenarios[i].collectives.named(kind);
                fail(
                    fmt::format(
                        "/scenarios/{}/{}{}/{}",
                        i,
                        shorthand ? "" : "collectives/",
                        to_string(kind),
                        classic ? "algorithm" : "kernels"),
                    fmt::format(
                        "is {}, which {} cannot do: {}; expected {}",
                        classic ? enum_name(policy.algorithm) : enum_name(policy.kernels),
                        experiment_.system->name,
                        reason,
                        !classic     ? "classic"
                        : all_reduce ? "ring, tree or auto"
                                     : "ring or auto"));
            }
    }

    const LoadedExperiment& loaded_;
    const Variant& variant_;
    const Experiment& experiment_;
    std::uint32_t gpus_;
    PreparedWorkload prepared_;
};

}  // namespace

PreparedWorkload prepare_workload(const LoadedExperiment& loaded, const Variant& variant) {
    return Preparer(loaded, variant).run();
}

PreparedWorkload prepare_workload(const LoadedExperiment& loaded) {
    return prepare_workload(loaded, variants_of(loaded).front());
}

}  // namespace switchfold
