// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/simulated_gradients.h"

#include "sim/config/load.h"
#include "sim/machine/simulate.h"
#include "sim/results/memory_over_time.h"
#include "sim/workload/kernel_model.h"
#include "training/memory/step/memory_step.h"
#include "training/network/zoo/zoo.h"
#include "validation/harness/number_jobs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace switchfold::validation {

namespace {

constexpr double kPoints = 0.1;
constexpr std::string_view kOneBuffer = "delayed, one buffer of the largest layer";
constexpr std::string_view kSharedEmbedding =
    "delayed, one buffer, the shared embedding's gradient alive from the head to the last backward";

std::optional<Network> network_of_row(const MemoryRow& row) {
    const bool shared = row.policy == kSharedEmbedding;
    if (!row.known || (!shared && row.policy != kOneBuffer))
        return {};
    auto network = find_network(row.network);
    if (!network)
        return {};
    const bool shares =
        std::any_of(network->layers.begin(), network->layers.end(), [](const Layer& layer) {
            return layer.shares.has_value();
        });
    if (shares != shared)
        return {};
    return network;
}

double saved(const Network& network, const SystemParams& system, const JobProgress& progress) {
    const TrainingStep step(network, KernelTimes(gpu_rates(*system.gpu)), ParallelPlan());
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    choice.updates = UpdatePolicy::kDelayed;
    choice.bytes = mebibytes(1ULL << 20U);  // ample for everything else
    PlanProblems problems;
    const StepMemory planned = planned_memory(step, choice, problems);
    SimulateOptions options;
    options.progress = progress;
    const ExecutionGraph graph = memory_step(step, planned);
    const Outcome outcome = simulate(system, graph, {}, options);
    double most = 0;
    for (const switchfold::MemoryRow& row : memory_over_time(graph, outcome, 0))
        most = std::max(most, row.bytes[MemoryClass::kGradients]);
    return 100 * (1 - most / static_cast<double>(sum_of_bytes(planned.groups)));
}

}  // namespace

void compare_simulated_gradients(
    const std::vector<MemoryRow>& rows, const SuiteOptions& options, SuiteResult& result) {
    std::vector<const MemoryRow*> compared;
    std::vector<NumberJob> jobs;
    for (const MemoryRow& row : rows) {
        const auto network = network_of_row(row);
        if (!network)
            continue;
        compared.push_back(&row);
        jobs.push_back({row.id, [&options, network](const JobProgress& progress) {
                            const SystemParams system =
                                load_system(options.root / "configs/systems/hgx_h100.json", {});
                            return saved(*network, system, progress);
                        }});
    }
    const std::vector<double> found = run_number_jobs(jobs, options);
    double worst = 0;
    for (std::size_t i = 0; i < compared.size(); ++i) {
        Case c;
        c.id = compared[i]->id + "/simulated";
        c.group = "gradients by update policy, from the simulated timeline";
        c.quantity = compared[i]->quantity;
        c.unit = compared[i]->unit;
        c.measured = compared[i]->value;
        c.simulated = found[i];
        worst = std::max(worst, std::abs(c.simulated - c.measured));
        result.cases.push_back(std::move(c));
    }
    if (!compared.empty())
        result.verdicts.push_back(
            {"one buffer of gradients, simulated: largest difference of a share", worst / 100,
             kPoints / 100});
}

}  // namespace switchfold::validation
