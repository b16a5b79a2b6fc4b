// SPDX-License-Identifier: Apache-2.0
#include "training/memory/accounting/strategy_memory.h"

#include "core/error.h"
#include "training/memory/accounting/caching_allocator.h"
#include "training/plan/step/kept_tensors.h"

#include <algorithm>
#include <variant>
#include <vector>

namespace switchfold {

namespace {

constexpr std::uint64_t kSingle = 4;  // bytes of a moment

class StrategyTensors {
public:
    StrategyTensors(
        const Network& network, const ExecutionGraph& step, const StrategyMemoryOptions& options) :
        network_(network), step_(step), options_(options) {}

    StrategyMemory memory() {
        if (options_.shards == StateShards::kAll)
            sharded_units();
        else
            whole_layers();
        activations();
        memory_.channels = options_.channel_buffers;
        memory_.allocator = allocator_.lost();
        return memory_;
    }

private:
    void add(std::uint64_t StrategyMemory::*part, std::uint64_t bytes) {
        memory_.*part += bytes;
        allocator_.allocate(bytes);
    }
    [[nodiscard]] std::uint64_t shared(std::uint64_t elements) const {
        return (elements + options_.ranks - 1) / options_.ranks;
    }
    void moments(std::uint64_t parameters) {
        add(&StrategyMemory::moments, kSingle * parameters);
        add(&StrategyMemory::moments, kSingle * parameters);
        if (options_.element < kSingle)
            add(&StrategyMemory::moments, kSingle * parameters);
    }

    /// Bytes of the step's collectives of a kind and phase, in order.
    [[nodiscard]] std::vector<std::uint64_t> sizes(CollectiveKind kind, Phase phase) const {
        std::vector<std::uint64_t> bytes;
        for (const Operation& operation : step_.ranks.front()->operations)
            if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
                if (collective->kind == kind && operation.phase == phase)
                    bytes.push_back(collective->bytes.count());
        return bytes;
    }

    void whole_layers() {
        for (const Layer& layer : network_.layers) {
            add(&StrategyMemory::weights, layer.parameters * options_.element);
            add(&StrategyMemory::gradients, layer.parameters * options_.element);
            moments(
                options_.shards == StateShards::kOptimizer ? shared(layer.parameters)
                                                           : layer.parameters);
        }
        for (const CollectiveKind kind :
             {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter})
            for (const std::uint64_t bytes : sizes(kind, Phase::kBackward))
                add(&StrategyMemory::buckets, bytes);
    }

    void sharded_units() {
        const std::vector<std::uint64_t> weights =
            sizes(CollectiveKind::kAllGather, Phase::kForward);
        std::vector<std::uint64_t> gradients =
            sizes(CollectiveKind::kReduceScatter, Phase::kBackward);
        std::reverse(gradients.begin(), gradients.end());
        SWITCHFOLD_CHECK(
            !weights.empty() && weights.size() == gradients.size(), "units are gathered otherwise");
        for (const std::uint64_t bytes : weights) {
            const std::uint64_t parameters = shared(bytes / options_.element);
            add(&StrategyMemory::weights, parameters * options_.element);
            add(&StrategyMemory::gradients, parameters * options_.element);
            moments(parameters);
        }
        std::vector<std::uint64_t> fullest;
        std::uint64_t most = 0;
        for (std::size_t u = 0; u < weights.size(); ++u) {
            std::vector<std::uint64_t> open{weights[u], gradients[u]};
            if (u > 0)
                open.push_back(weights[u - 1]);
            if (u + 1 < gradients.size())
                open.push_back(gradients[u + 1]);
            std::uint64_t bytes = 0;
            for (const std::uint64_t one : open)
                bytes += one;
            if (bytes > most) {
                most = bytes;
                fullest = open;
            }
        }
        for (const std::uint64_t bytes : fullest)
            add(&StrategyMemory::buckets, bytes);
    }

    void activations() {
        const std::vector<Layer>& layers = network_.layers;
        std::vector<bool> kept(layers.size(), false);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const KeptTensors keeps = kept_tensors(layers[i]);
            if (keeps.input)
                for (const std::uint32_t input : layers[i].inputs)
                    kept[input] = true;
            kept[i] = kept[i] || keeps.output;
        }
        for (std::size_t i = 0; i < layers.size(); ++i) {
            const std::uint64_t elements = layers[i].out_elements * options_.batch;
            if (kept[i])
                add(&StrategyMemory::activations, elements * options_.element);
            if (kept_tensors(layers[i]).mask)
                add(&StrategyMemory::activations, elements);
        }
    }

    const Network& network_;
    const ExecutionGraph& step_;
    const StrategyMemoryOptions& options_;
    StrategyMemory memory_;
    CachingAllocator allocator_;
};

}  // namespace

StrategyMemory strategy_memory(
    const Network& network, const ExecutionGraph& step, const StrategyMemoryOptions& options) {
    return StrategyTensors(network, step, options).memory();
}

}  // namespace switchfold
