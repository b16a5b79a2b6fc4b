// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/memory_plans.h"

#include "core/error.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/kernel_model.h"
#include "sim/workload/plan_workload.h"
#include "sim/workload/training_workload.h"
#include "training/memory/recompute/fastest_recompute.h"
#include "training/memory/recompute/network_chain.h"
#include "training/memory/step/memory_facts.h"
#include "training/plan/step/plan_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace switchfold {

namespace {

void refuse_shared_layers(
    const LoadedExperiment& loaded, const TrainingWorkloadParams& workload,
    bool update_in_backward) {
    if (!workload.plan)
        return;
    const PlanParams& plan = *workload.plan;
    std::vector<Problem> problems;
    const auto refuse = [&](const char* pointer, bool wrong, const char* what) {
        if (wrong)
            problems.push_back(
                {loaded.file.string(),
                 workload.plan_of_strategy ? "/workload/strategy"
                                           : std::string("/workload/plan/") + pointer,
                 fmt::format(
                     "{}, and memory is planned for a GPU that has a part of every layer", what)});
    };
    refuse("context", plan.context > 1, "shares samples among ranks; expected 1");
    refuse("pipeline", plan.pipeline > 1, "cuts the network; expected 1");
    refuse("expert", plan.expert > 1, "shares experts among ranks; expected 1");
    refuse(
        "sharding", plan.sharding == Sharding::kGradients || plan.sharding == Sharding::kParameters,
        "keeps a part only; expected none or optimizer");
    if (plan.recompute == Recompute::kExact)
        problems.push_back(
            {loaded.file.string(), "/workload/plan/recompute",
             "is exact, which depends on the size of memory; expected none, selective or full, "
             "beside which exact plans are compared"});
    if (update_in_backward && plan.accumulate > 1)
        problems.push_back(
            {loaded.file.string(), "/workload/plan/accumulate",
             "is above 1, and gradients of several micro-batches add up before the update; "
             "expected "
             "1, or --updates batch"});
    if (!problems.empty())
        throw ConfigError(std::move(problems));
}

}  // namespace

MemoryChoice memory_choice_of(const LoadedExperiment& loaded, std::optional<UpdatePolicy> updates) {
    MemoryChoice choice;
    const auto* workload = workload_of<TrainingWorkloadParams>(loaded.experiment);
    if (workload != nullptr && workload->plan && workload->plan->memory)
        choice = *workload->plan->memory;
    choice.updates = updates.value_or(choice.updates);
    if (choice.updates == UpdatePolicy::kBatch)
        choice.gradient_ring = Bytes();
    return choice;
}

MemoryWorkload memory_workload(const LoadedExperiment& loaded, const MemoryChoice& choice) {
    const bool update_in_backward = choice.updates != UpdatePolicy::kBatch;
    const auto* workload = workload_of<TrainingWorkloadParams>(loaded.experiment);
    if (workload == nullptr)
        throw ConfigError(
            loaded.file.string(), "/workload/type", "is not training; expected training");
    refuse_shared_layers(loaded, *workload, update_in_backward);
    const RankGpus gpus(*loaded.experiment.system);
    const GpuParams& gpu = gpus.of(0);
    if (const std::string why = why_no_kernel_times(gpu); !why.empty())
        throw ConfigError(loaded.file.string(), "/system/gpu", fmt::format("{} {}", gpu.name, why));
    const std::filesystem::path folder = loaded.file.parent_path();
    const Network network = network_of(*workload, folder);
    ParallelPlan plan = plan_without_network(*workload);
    plan.node_ranks = gpus.in_order_on_machines();
    plan.gate = GateKernels::kUnfused;
    if (workload->plan) {
        std::vector<Problem> problems;
        for (auto& [pointer, what] : problems_of(plan, network))
            problems.push_back({loaded.file.string(), "/workload/plan" + pointer, std::move(what)});
        if (!problems.empty())
            throw ConfigError(std::move(problems));
    }
    PlanProblems found;
    const StepMemory planned = memory_before_planning(
        memory_facts(network, kernel_times(gpu, workload->kernel_times, folder), plan), plan,
        choice, found);
    if (!found.empty()) {
        std::vector<Problem> problems;
        for (auto& [pointer, what] : found)
            problems.push_back(
                {loaded.file.string(), "/workload/plan/memory" + pointer, std::move(what)});
        throw ConfigError(std::move(problems));
    }
    const MemoryFacts& facts = planned.facts;
    MemoryWorkload made;
    made.network = network.name;
    made.gpu = gpu.name;
    made.batch = plan.micro_batch;
    made.capacity = gpu.memory.for_plans().count();
    made.rates = {
        static_cast<double>(gpu.copy.host_bandwidth.count()),
        static_cast<double>(gpu.copy.rate_to_host().count())};
    made.schedule = planned.schedule;
    made.schedule_of = [planned](std::uint32_t batch) {
        return schedule_with_batch(planned, batch);
    };
    made.layers = facts.layers;
    made.chain = network_chain(
        facts.held, {plan.micro_batch, facts.options.element, facts.options.kept_of_score},
        facts.times);
    made.hidden_copies = hidden_copies(facts.times, made.rates);
    made.bucket = workload->bucket.count();
    made.first_bucket = workload->first_bucket.count();
    return made;
}

}  // namespace switchfold
