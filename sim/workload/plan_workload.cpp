// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/plan_workload.h"

#include "sim/workload/plan_preparation.h"
#include "sim/workload/product_precision.h"
#include "training/memory/step/memory_step.h"
#include "training/placement/placed_step.h"
#include "training/plan/average/averaged_step.h"

#include <utility>

namespace switchfold {

ParallelPlan plan_without_network(const TrainingWorkloadParams& workload) {
    ParallelPlan plan;
    if (workload.plan)
        plan = *workload.plan;
    else
        plan.micro_batch = workload.batch.value_or(plan.micro_batch);
    if (workload.plan)
        plan.launch_times = workload.plan->launches.value;
    // What a gate's function computes is a tensor of its own there.
    if (workload.plan && workload.plan->memory)
        plan.gate = GateKernels::kUnfused;
    plan.bucket = workload.bucket;
    plan.first_bucket = workload.first_bucket;
    plan.gradient = workload.gradient;
    plan.datatype =
        workload.precision == Precision::kSingle ? Datatype::kFloat32 : Datatype::kBfloat16;
    plan.products = recipe_of(workload.precision);
    return plan;
}

namespace {

ParallelPlan one_replica(ParallelPlan plan) {
    plan.data = 1;
    return plan;
}

}  // namespace

ExecutionGraph PreparedPlan::graph() const {
    if (cut)
        return average ? averaged_steps(one_replica(cut->plan()), replicas_apart(), *average)
                       : placed_step_graph(*cut);
    if (divided && average)
        return averaged_steps(step->plan(), replicas_apart(), *average);
    if (divided)
        return graph_of_ranks(divided->by_rank);
    ExecutionGraph own = memory ? memory_step(*step, *memory) : plan_step(*step, devices.get());
    return average ? averaged_steps(*step, std::move(own), *average, ranks / ranks_of(step->plan()))
                   : own;
}

ExecutionGraph PreparedPlan::graph_of_ranks(const std::vector<const TrainingStep*>& by_rank) const {
    return memories.empty() ? plan_step(by_rank, devices.get()) : memory_step(by_rank, memories);
}

const StepMemory* PreparedPlan::planned() const {
    if (memory)
        return &*memory;
    if (devices)
        return &devices->busiest();
    const StepMemory* most = nullptr;
    if (divided && !memories.empty())
        for (const TrainingStep* of_rank : divided->by_rank) {
            if (of_rank == nullptr)
                continue;
            const StepMemory& planned = memories.at(of_rank);
            if (most == nullptr || planned.plan.moved_bytes() > most->plan.moved_bytes())
                most = &planned;
        }
    return most;
}

/// Replicas one by one; equal ones that follow each other together.
std::vector<ReplicaApart> PreparedPlan::replicas_apart() const {
    std::vector<ReplicaApart> apart;
    if (cut) {
        for (std::uint32_t data = 0; data < cut->plan().data; ++data)
            apart.push_back(placed_step_apart(*cut, data));
        return apart;
    }
    const RankMap replica(step->plan());
    ParallelPlan plan = step->plan();
    plan.data = ranks / replica.ranks();
    const RankMap all(plan);
    std::vector<const TrainingStep*> last;
    for (std::uint32_t data = 0; data < plan.data; ++data) {
        std::vector<const TrainingStep*> by_rank;
        for (std::uint32_t r = 0; r < replica.ranks(); ++r) {
            RankPlace place = replica.place(r);
            place.data = data;
            by_rank.push_back(divided->by_rank[all.rank(place)]);
        }
        if (by_rank == last) {
            ++apart.back().replicas;
            continue;
        }
        apart.push_back({held_weights(by_rank), graph_of_ranks(by_rank), 1});
        last = std::move(by_rank);
    }
    return apart;
}

std::optional<PreparedPlan> prepare_plan(
    const TrainingWorkloadParams& workload, const RankGpus& gpus,
    const std::filesystem::path& folder, PlanProblems& problems, MemoryCheck check) {
    PlanPreparation preparation(workload, gpus, folder, check);
    preparation.network();
    preparation.plan();
    preparation.tasks();
    problems.insert(problems.end(), preparation.problems().begin(), preparation.problems().end());
    if (!problems.empty())
        return {};
    return preparation.take();
}

}  // namespace switchfold
