// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/training_workload.h"

#include "core/error.h"
#include "core/named_path.h"
#include "sim/workload/kernel_model.h"
#include "training/network/table.h"
#include "training/strategies/data_parallel.h"
#include "training/strategies/fully_sharded.h"
#include "training/strategies/optimizer_sharded.h"
#include "training/strategies/transformer.h"

#include <fmt/format.h>

namespace switchfold {

namespace {

std::string network_name(const TrainingWorkloadParams& workload, const Network& network) {
    if (workload.transformer)
        return fmt::format(
            "transformer of {} blocks, width {}", workload.transformer->blocks,
            workload.transformer->hidden);
    if (!workload.table.empty())
        return workload.table;
    return workload.network->shape ? network.name : workload.network->text;
}

/// These strategies derive kernel times from the GPU's rates; measured layer times are rejected.
void check_times(const Network& network) {
    for (const Layer& layer : network.layers)
        if (layer.forward_us || layer.backward_us)
            throw ConfigError(
                network.name, "",
                fmt::format(
                    "has a measured time of {}, which the strategies without a plan do not use; "
                    "expected a network without",
                    layer.name));
}

}  // namespace

Network network_of(const TrainingWorkloadParams& workload, const std::filesystem::path& folder) {
    if (workload.transformer) {
        const TransformerParams& t = *workload.transformer;
        Network network;
        network.name = "transformer";
        network.layers =
            transformer_layers({t.blocks, t.hidden, t.sequence, t.vocabulary, t.feed_forward});
        network.tokens = t.sequence;
        return network;
    }
    if (workload.network)
        return make_network(*workload.network, folder);
    return read_network_table(path_from(folder, workload.table));
}

ExecutionGraph training_step(
    const TrainingWorkloadParams& workload, const GpuParams& gpu, std::uint32_t ranks,
    const std::filesystem::path& folder) {
    SWITCHFOLD_CHECK(gpu.matrix_rate.count() > 0, "{} states no matrix_rate", gpu.name);
    const Network network = network_of(workload, folder);
    check_times(network);
    const std::vector<Layer>& layers = network.layers;
    TrainingOptions options;
    options.name = network_name(workload, network);
    options.ranks = ranks;
    options.batch = workload.batch;
    options.sms = gpu.sms;
    const GpuRates rates = gpu_rates(gpu);
    options.flops = rates.matrix;
    options.bytes = rates.mixed_bandwidth;
    options.activation_bytes = workload.precision == Precision::kSingle ? 4 : 2;
    options.gradient = workload.gradient;
    if (workload.strategy == TrainingStrategy::kFullySharded)
        return fully_sharded_step(layers, {options, workload.unit});
    if (workload.strategy == TrainingStrategy::kOptimizerSharded)
        return optimizer_sharded_step(layers, {options, workload.bucket, workload.first_bucket});
    return data_parallel_step(layers, {options, workload.bucket, workload.first_bucket});
}

}  // namespace switchfold
