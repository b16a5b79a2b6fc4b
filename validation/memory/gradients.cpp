// SPDX-License-Identifier: Apache-2.0
#include "core/units.h"
#include "sim/config/load.h"
#include "sim/machine/simulate.h"
#include "sim/results/memory_over_time.h"
#include "sim/workload/kernel_model.h"
#include "training/memory/step/memory_step.h"
#include "training/memory/update/update_policy.h"
#include "training/network/table.h"
#include "training/network/zoo/zoo.h"
#include "validation/harness/data.h"
#include "validation/memory/memory_row.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

namespace {

constexpr std::uint64_t kBucket = mebibytes(25).count();
constexpr std::uint64_t kFirstBucket = mebibytes(1).count();

/// Updates take longer than the preceding layers, so that a ring becomes as full as possible.
UpdateLayer layer_of(const Layer& layer) {
    return {
        layer.name,  1, 1, 10, sizeof(float) * layer.parameters, sizeof(float) * layer.parameters,
        layer.shares};
}

std::vector<UpdateLayer> layers_of(const Network& network) {
    std::vector<UpdateLayer> layers;
    for (const Layer& layer : network.layers)
        layers.push_back(layer_of(layer));
    return layers;
}

/// One unit per residual block, and per layer outside blocks.
std::vector<UpdateLayer> blocks_of(const Network& network) {
    std::vector<UpdateLayer> blocks;
    std::uint32_t last = kNoBlock;
    for (const Layer& layer : network.layers) {
        if (blocks.empty() || layer.block == kNoBlock || layer.block != last) {
            blocks.push_back(layer_of(layer));
        } else {
            blocks.back().gradient += sizeof(float) * layer.parameters;
            blocks.back().weights += sizeof(float) * layer.parameters;
        }
        last = layer.block;
    }
    return blocks;
}

/// Adds a head to networks without their pre-training head. \returns whether it was missing.
bool add_head(std::vector<UpdateLayer>& layers, const Network& network) {
    const auto shares = [](const UpdateLayer& layer) { return layer.shares.has_value(); };
    if (std::any_of(layers.begin(), layers.end(), shares))
        return false;
    UpdateLayer head{"head", 1, 1, 0, 0, 0};
    for (std::uint32_t i = 0; i < network.layers.size() && !head.shares; ++i)
        if (network.layers[i].type == "embedding")
            head.shares = i;
    layers.push_back(head);
    return true;
}

/// Whether the row's map sets a value.
bool is_set(const MemoryRow& row, const char* pointer) {
    return row.values.find(pointer) != nullptr;
}

}  // namespace

MemoryAnswer gradient_memory(const MemoryRow& row, const SuiteOptions& suite) {
    MemoryAnswer answer{{}, "", "gradients by update policy", MemoryVerdict::kGradients};
    const bool shared = is_set(row, "/shared");
    const bool block = is_set(row, "/blocks");
    std::vector<UpdateLayer> layers;
    if (shared || block) {
        // Only built-in networks state which layers share weights or form a block.
        const auto network = find_network(row.network);
        if (!network)
            return {{}, "no network " + row.network};
        layers = block ? blocks_of(*network) : layers_of(*network);
        if (shared && add_head(layers, *network))
            answer.how = "with a head that shares the first table, which our network does not have";
    } else {
        const auto table = find_data(suite, fmt::format("models/{}.csv", row.network));
        if (!table)
            return {{}, fmt::format("no table models/{}.csv", row.network)};
        layers = layers_of(read_network_table(*table));
    }
    const auto groups = is_set(row, "/buckets") ? bucket_groups(layers, kFirstBucket, kBucket)
                                                : layer_groups(layers);
    const Json* const buffers = row.values.find("/fixed_buffers");
    UpdateOptions options;
    options.policy =
        is_set(row, "/overlapped") ? UpdatePolicy::kOverlapped : UpdatePolicy::kDelayed;
    options.fixed_buffers = buffers == nullptr ? 0 : buffers->get<std::uint32_t>();
    options.ring = is_set(row, "/pair") ? largest_pair(groups) : 0;
    const UpdateReplay replay = replay_update(layers, groups, options);
    // Fixed-size buffers count in full, whatever they hold.
    const std::uint64_t bytes = buffers != nullptr ? replay.reserved : replay.peak;
    answer.value =
        100 * (1 - static_cast<double>(bytes) / static_cast<double>(sum_of_bytes(groups)));
    return answer;
}

bool simulates_gradients(const MemoryRow& row) {
    if (!row.known || !is_set(row, "/one_buffer"))
        return false;
    const auto network = find_network(row.network);
    return network &&
           is_set(row, "/shared") == std::ranges::any_of(network->layers, [](const Layer& layer) {
               return layer.shares.has_value();
           });
}

MemoryAnswer simulated_gradients(const MemoryRow& row, const SuiteOptions& suite) {
    const SystemParams system = load_system(suite.root / "configs/systems/hgx_h100.json", {});
    const TrainingStep step(
        *find_network(row.network), KernelTimes(gpu_rates(*system.gpu)), ParallelPlan());
    MemoryChoice choice;
    choice.planner = OffloadPlanner::kNone;
    choice.updates = UpdatePolicy::kDelayed;
    choice.bytes = mebibytes(1ULL << 20U);  // ample for everything else
    PlanProblems problems;
    const StepMemory planned = planned_memory(step, choice, problems);
    const ExecutionGraph graph = memory_step(step, planned);
    const Outcome outcome = simulate(system, graph, {});
    double most = 0;
    for (const switchfold::MemoryRow& at : memory_over_time(graph, outcome, 0))
        most = std::max(most, at.bytes[MemoryClass::kGradients]);
    return {
        100 * (1 - most / static_cast<double>(sum_of_bytes(planned.groups))), "",
        "gradients by update policy, from the simulated timeline", MemoryVerdict::kTimeline};
}

}  // namespace switchfold::validation
