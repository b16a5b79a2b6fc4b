// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/workload.h"

#include "core/error.h"
#include "sim/config/learning_params.h"
#include "sim/config/scenario_set.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/kinds.h"
#include "sim/kinds/workload_builder.h"
#include "sim/machine/system_queries.h"
#include "sim/workload/slow_ranks.h"
#include "sim/workload/workload_context.h"
#include "workloads/graph/jitter.h"
#include "workloads/graph/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace switchfold {

WorkloadContext::WorkloadContext(
    const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run) :
    loaded_(loaded), variant_(variant), gpus_(gpus_of(*variant.experiment->system)), run_(run) {}

WorkloadContext::WorkloadContext(
    const LoadedExperiment& loaded, const Variant& variant, const PlacedWorkloadParams& placed,
    std::string pointer, const RunJobs& run) :
    loaded_(loaded),
    variant_(variant),
    placed_(&placed),
    pointer_(std::move(pointer)),
    gpus_(static_cast<std::uint32_t>(placed.on.ranks.size())),
    run_(run) {}

std::uint32_t WorkloadContext::workload_rank(std::uint32_t gpu) const {
    if (placed_ == nullptr)
        return gpu;
    const auto& gpus = placed_->on.ranks;
    const auto at = std::find(gpus.begin(), gpus.end(), gpu);
    SWITCHFOLD_CHECK(at != gpus.end(), "the workload does not run on GPU {}", gpu);
    return static_cast<std::uint32_t>(at - gpus.begin());
}

void WorkloadContext::place(ExecutionGraph& graph) const {
    if (placed_ == nullptr)
        return;
    if (graph.ranks.size() != gpus_)
        fail(
            "/workload", fmt::format(
                             "has {} ranks, and is put on {} GPUs; expected a GPU for each",
                             graph.ranks.size(), gpus_));
    graph = place_on(graph, placed_->on.ranks);
}

void WorkloadContext::fail(const std::string& pointer, const std::string& message) const {
    fail_all({{pointer, message}});
}

void WorkloadContext::fail_all(const PlanProblems& problems) const {
    const std::string file = loaded_.file.string();
    const std::size_t first = variant_.scenarios.front();
    std::vector<Problem> told;
    for (const auto& [pointer, message] : problems) {
        constexpr std::string_view kWorkload = "/workload";
        const Problem problem{
            file,
            pointer.starts_with(kWorkload) ? pointer_ + pointer.substr(kWorkload.size()) : pointer,
            message};
        if (variant_.experiment == &loaded_.experiment || pointer.starts_with("/scenarios"))
            told.push_back(problem);
        else
            told.push_back(
                blamed_on_set(problem, file, loaded_.experiment.scenarios[first].set, first));
    }
    throw ConfigError(std::move(told));
}

void WorkloadContext::lack_memory(
    const std::string& pointer, const std::string& message, PreparedWorkload& out) const {
    if (experiment().memory == MemoryCheck::kCheck)
        fail(pointer, message);
    out.report.notes.push_back(fmt::format("memory is ignored: {} {}", pointer.substr(1), message));
}

std::uint32_t WorkloadContext::ranks_of(std::uint32_t ranks) const {
    if (ranks > gpus_)
        fail(
            "/workload/ranks", fmt::format(
                                   "is {}, more than the {} GPUs of {}; expected at most those",
                                   ranks, gpus_, system().name));
    return ranks == 0 ? gpus_ : ranks;
}

namespace {

void check_named(const WorkloadContext& context, const char* pointer, const std::string& name) {
    const auto& all = context.scenarios();
    if (!name.empty() && std::none_of(all.begin(), all.end(), [&](const ScenarioParams& scenario) {
            return scenario.name == name;
        }))
        context.fail(pointer, fmt::format("is \"{}\"; expected the name of a scenario", name));
}

/// Learning requires a plan, which determines the weights that a pass uses.
void check_learning(const WorkloadContext& context) {
    const Experiment& experiment = context.experiment();
    if (!experiment.learning)
        return;
    if (plan_of(experiment) == nullptr)
        context.fail(
            "/learning", "needs the passes of a plan; expected a training workload with one");
    check_named(context, "/learning/compared_with", experiment.learning->compared_with);
    check_named(context, "/learning/gap_of", experiment.learning->gap_of);
}

/// Applies the experiment's slow or late ranks. A folded workload has them already.
void slow_down_ranks(const WorkloadContext& context, PreparedWorkload& prepared) {
    const ExecutionGraph& graph = prepared.graph;
    const std::vector<SlowRank> slow =
        slow_ranks(context, ranks_at_work(graph), [&](std::uint32_t rank) {
            return rank < graph.ranks.size() && !graph.ranks[rank]->operations.empty();
        });
    if (slow.empty())
        return;
    slow_down(prepared.graph, slow);
    prepared.unequal = true;
}

/// Applies the experiment's jitter, to a folded plan when its passes are measured.
void vary_ranks(const WorkloadContext& context, PreparedWorkload& prepared) {
    const Jitter& jitter = *context.experiment().jitter;
    if (jitter.none())
        return;
    std::string told = fmt::format(
        "GPUs differ by {:.2g} %, kernels by {:.2g} % (standard deviations), and collectives start "
        "{:.3g} us late on average (jitter, seed {})",
        100 * jitter.gpus, 100 * jitter.kernels, to_microseconds(jitter.starts),
        context.experiment().seed);
    if (prepared.folded) {
        told += "; a rank is as slow as the slowest of those it stands for in every pass, which is "
                "an upper estimate";
    } else {
        vary(prepared.graph, jitter, context.experiment().seed);
        prepared.unequal = true;
    }
    prepared.report.notes.push_back(std::move(told));
}

/// A run over steps requires a plan, which determines its members.
void check_run(const WorkloadContext& context) {
    const Experiment& experiment = context.experiment();
    if (!experiment.run)
        return;
    if (plan_of(experiment) == nullptr)
        context.fail("/run", "changes replicas of a plan; expected a training workload with one");
}

PreparedWorkload build(const WorkloadContext& context, const Workload& workload) {
    const WorkloadKind& kind = kind_of(workload);
    const GraphKind* const with_graph = kind.as_graph();
    if (with_graph == nullptr)
        context.fail(
            "/workload/type",
            fmt::format("is {}, which has no ranks; expected one on GPUs", kind.name()));
    PreparedWorkload prepared;
    prepared.report.type = kind.name();
    const std::unique_ptr<WorkloadBuilder> builder =
        with_graph->builder(workload, context, prepared);
    builder->network();
    builder->plan();
    builder->tasks();
    builder->graph();
    builder->machine();
    if (!prepared.folded)
        slow_down_ranks(context, prepared);
    vary_ranks(context, prepared);
    if (prepared.folded) {
        check(prepared.folded->probe());
        prepared.graph = prepared.folded->graph(prepared.folded->each(nanoseconds(1)));
    }
    check(prepared.graph);
    prepared.report.ranks = static_cast<std::uint32_t>(
        context.is_placed() ? ranks_at_work(prepared.graph) : prepared.graph.ranks.size());
    prepared.report.steps = prepared.graph.steps;
    return prepared;
}

PreparedWorkload prepare(const WorkloadContext& context, const Workload& workload) {
    PreparedWorkload prepared = build(context, workload);
    check_scenarios(context, prepared);
    return prepared;
}

}  // namespace

PreparedWorkload prepare_workload(
    const LoadedExperiment& loaded, const Variant& variant, const RunJobs& run,
    BuiltWorkloads* built) {
    const WorkloadContext context(loaded, variant, run);
    check_learning(context);
    check_run(context);
    if (built == nullptr)
        return prepare(context, *variant.experiment->workload);
    const auto known = built->find(variant.experiment);
    PreparedWorkload prepared =
        known != built->end() ? known->second : build(context, *variant.experiment->workload);
    if (prepared.folded)
        built->try_emplace(variant.experiment, prepared);
    check_scenarios(context, prepared);
    return prepared;
}

PreparedWorkload prepare_workload(const LoadedExperiment& loaded) {
    return prepare_workload(loaded, variants_of(loaded).front());
}

PreparedWorkload prepare_placed(
    const LoadedExperiment& loaded, const Variant& variant, std::size_t index, const RunJobs& run) {
    const PlacedWorkloadParams& placed = variant.experiment->workloads[index];
    const WorkloadContext context(
        loaded, variant, placed, fmt::format("/workloads/{}/workload", index), run);
    return prepare(context, placed.workload);
}

}  // namespace switchfold
