// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/network_schedule.h"

#include "core/error.h"
#include "training/network/product.h"
#include "training/plan/step/kept_tensors.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace switchfold {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Writer {
public:
    Writer(
        const Network& network, const NetworkScheduleOptions& options,
        std::span<const LayerTimes> times) :
        network_(network),
        options_(options),
        times_(times),
        blocks_(options.again),
        layers_(network.layers.size()) {}

    AccessSchedule take() {
        schedule_.name = network_.name;
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            if (const auto shared = network_.layers[i].shares)
                layers_[owner(*shared)].shared = true;
        find_what_blocks_alone_read();
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            add_items(i);
        for (micro_batch_ = 0; micro_batch_ < options_.micro_batches; ++micro_batch_)
            pass();
        --micro_batch_;
        if (!options_.update_in_backward && options_.updates_behind.empty())
            for (std::uint32_t i = 0; i < layers_.size(); ++i)
                update(i);
        if (!options_.updates_behind.empty())
            stay_over_updates();
        count_copies(schedule_);
        return std::move(schedule_);
    }

private:
    /// Forward and backward of a micro-batch.
    void pass() {
        const bool last = micro_batch_ + 1 == options_.micro_batches;
        has_gradient_.assign(layers_.size(), false);
        for (std::uint32_t i = 0; i < layers_.size(); ++i)
            forward(i);
        auto block = blocks_.rbegin();
        find_readers(block);
        for (std::uint32_t i = size(); i-- > 0;) {
            if (block != blocks_.rend() && i + 1 == block->end)
                for (std::uint32_t layer = block->first; layer < block->end; ++layer)
                    again(layer, *block);
            const bool repeated = block != blocks_.rend() && block->first <= i && i < block->end;
            backward(i, repeated ? &*block : nullptr);
            if (block != blocks_.rend() && i == block->first)
                find_readers(++block);
            if (last && !options_.updates_behind.empty())
                for (const std::uint32_t owner : options_.updates_behind[i])
                    update(owner);
        }
    }

    /// Items of a layer; kNone if it has none.
    struct Items {
        std::uint32_t input = kNone;  ///< the part of its input that is the network's own input
        std::uint32_t output = kNone;
        std::uint32_t mask = kNone;
        std::uint32_t scores = kNone;        ///< of attention through memory
        std::uint32_t output_again = kNone;  ///< of a repeated forward
        std::uint32_t mask_again = kNone;
        std::uint32_t output_gradient = kNone;
        std::uint32_t weights = kNone;
        std::uint32_t gradient = kNone;
        std::uint32_t moments = kNone;
        bool shared = false;  ///< another layer uses the same weights
        bool inside = false;  ///< of a repeated block: no layer outside of it reads the output
        std::uint32_t last_reader = 0;  ///< of the output; the layer itself: none
    };

    /// The repeated block of a layer; null: none.
    [[nodiscard]] const LayerRange* block_of(std::uint32_t layer) const {
        const auto found =
            std::find_if(blocks_.begin(), blocks_.end(), [&](const LayerRange& block) {
                return block.first <= layer && layer < block.end;
            });
        return found == blocks_.end() ? nullptr : &*found;
    }
    void find_what_blocks_alone_read() {
        for (std::uint32_t i = 0; i < layers_.size(); ++i) {
            layers_[i].inside = block_of(i) != nullptr;
            layers_[i].last_reader = i;
            for (const std::uint32_t input : network_.layers[i].inputs) {
                layers_[input].last_reader = i;
                if (block_of(input) != block_of(i))
                    layers_[input].inside = false;
            }
        }
    }

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(layers_.size()); }
    [[nodiscard]] std::uint32_t owner(std::uint32_t layer) const {
        while (const auto shared = network_.layers[layer].shares)
            layer = *shared;
        return layer;
    }
    [[nodiscard]] LayerTimes times(std::uint32_t layer) const {
        return times_.empty() ? LayerTimes{} : times_[layer];
    }

    std::uint32_t add(const std::string& name, MemoryClass kind, std::uint64_t bytes) {
        MemoryItem item{name, kind, bytes};
        item.persistent = kind == MemoryClass::kWeights || kind == MemoryClass::kMoments;
        schedule_.items.push_back(std::move(item));
        return static_cast<std::uint32_t>(schedule_.items.size() - 1);
    }

    void add_items(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        Items& items = layers_[i];
        const std::uint64_t out = layer.out_elements * options_.batch;
        std::uint64_t produced = 0;
        for (const std::uint32_t input : layer.inputs)
            produced += network_.layers[input].out_elements;
        if (layer.in_elements > produced)
            items.input =
                add("input of " + layer.name, MemoryClass::kActivations,
                    (layer.in_elements - produced) * options_.batch * options_.element);
        items.output = add(layer.name, MemoryClass::kActivations, out * options_.element);
        schedule_.items.back().scratch = items.inside;
        const bool again = block_of(i) != nullptr;
        std::uint32_t* const mask = again ? &items.mask_again : &items.mask;
        if (kept_tensors(layer).mask)
            *mask = add("mask of " + layer.name, MemoryClass::kActivations, out);
        if (again) {
            items.output_again =
                add("again " + layer.name, MemoryClass::kWorkspace, out * options_.element);
            schedule_.items.back().scratch = true;
            if (items.mask_again != kNone) {
                schedule_.items[items.mask_again].kind = MemoryClass::kWorkspace;
                schedule_.items[items.mask_again].scratch = true;
            }
        }
        if (options_.kept_of_score > 0)
            if (const auto shape = attention_of(layer)) {
                items.scores =
                    add("scores of " + layer.name, MemoryClass::kActivations,
                        scores_of(*shape) * options_.kept_of_score * options_.batch);
                schedule_.items[items.scores].scratch = again;
            }
        items.output_gradient =
            add("gradient of " + layer.name, MemoryClass::kWorkspace, out * options_.element);
        schedule_.items.back().scratch = items.inside;
        if (layer.parameters > 0)
            add_weights(i);
    }

    void add_weights(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        Items& items = layers_[i];
        if (options_.weights_travel)
            items.weights =
                add("weights of " + layer.name, MemoryClass::kWeights,
                    layer.parameters * options_.element);
        else
            schedule_.resident_bytes += layer.parameters * options_.element;
        const std::uint64_t gradient = layer.parameters * options_.gradient;
        if (options_.update_in_backward && items.shared && !options_.gradients_apart) {
            schedule_.resident_bytes += gradient;
        } else if (!options_.gradients_apart) {
            items.gradient =
                add("weight gradient of " + layer.name, MemoryClass::kGradients, gradient);
            schedule_.items.back().scratch = options_.update_in_backward;
        }
        if (options_.moments > 0)
            items.moments =
                add("moments of " + layer.name, MemoryClass::kMoments,
                    (layer.parameters * options_.moments + options_.moment_shards - 1) /
                        options_.moment_shards);
    }

    static void open(AccessStep& step, std::uint32_t item, bool writes, bool anew = false) {
        if (item == kNone)
            return;
        const auto found =
            std::find_if(step.open.begin(), step.open.end(), [&](const ItemAccess& access) {
                return access.item == item;
            });
        if (found == step.open.end())
            step.open.push_back({item, writes, anew});
        else
            found->writes = found->writes || writes;
    }

    void open_weights(AccessStep& step, std::uint32_t i, bool writes) {
        open(step, layers_[i].weights, writes);
        if (const auto shared = network_.layers[i].shares)
            open(step, layers_[owner(*shared)].weights, writes);
    }

    [[nodiscard]] AccessStep
    step_of(const char* what, StepKind kind, std::uint32_t i, double seconds) const {
        return {what + network_.layers[i].name, kind, seconds, {}, i, micro_batch_};
    }

    void forward(std::uint32_t i) {
        AccessStep step = step_of("F ", StepKind::kForward, i, times(i).forward);
        open_weights(step, i, false);
        open(step, layers_[i].input, false, true);
        for (const std::uint32_t input : network_.layers[i].inputs)
            open(step, layers_[input].output, false);
        open(step, layers_[i].output, true, true);
        open(step, layers_[i].mask, true, true);
        open(step, layers_[i].scores, true, true);
        if (const LayerRange* const block = block_of(i))
            for (std::uint32_t layer = block->first; layer < i; ++layer)
                if (layers_[layer].inside && layers_[layer].last_reader > i)
                    open(step, layers_[layer].output, false);
        schedule_.steps.push_back(std::move(step));
    }

    /// What a repeated block's backward reads of a layer's output: made again, or kept from before
    /// the block.
    [[nodiscard]] std::uint32_t output_for(const LayerRange* block, std::uint32_t layer) const {
        return block != nullptr && block->first <= layer && layer < block->end
                   ? layers_[layer].output_again
                   : layers_[layer].output;
    }

    /// Finds the readers of what the block, if there is one, makes again.
    void find_readers(std::vector<LayerRange>::const_reverse_iterator block) {
        if (block != blocks_.rend())
            read_until_ = read_until(*block);
    }

    /// By layer of a repeated block: the block's step up to which its output that was made again is
    /// read. The block's forwards ascend, then its backwards descend.
    [[nodiscard]] std::vector<std::uint32_t> read_until(const LayerRange& block) const {
        std::vector<std::uint32_t> until(block.end - block.first);
        for (std::uint32_t reader = block.first; reader < block.end; ++reader) {
            const KeptTensors kept = kept_tensors(network_.layers[reader]);
            const std::uint32_t forward = reader - block.first;
            const std::uint32_t backward = backward_step(block, reader);
            until[forward] = kept.output ? backward : forward;
            for (const std::uint32_t input : network_.layers[reader].inputs)
                if (input >= block.first) {
                    std::uint32_t& last = until[input - block.first];
                    last = std::max(last, kept.input ? backward : forward);
                }
        }
        return until;
    }
    [[nodiscard]] static std::uint32_t backward_step(const LayerRange& block, std::uint32_t layer) {
        return (block.end - block.first) + (block.end - 1 - layer);
    }

    /// What layers before `made` of the block made again, as far as this step of the block or a
    /// later one reads it.
    void open_made_again(
        AccessStep& step, const LayerRange& block, std::uint32_t made, std::uint32_t at) const {
        for (std::uint32_t layer = block.first; layer < made; ++layer) {
            if (layer < block.end && at <= read_until_[layer - block.first])
                open(step, layers_[layer].output_again, false);
            open(step, layers_[layer].mask_again, false);
            open(step, layers_[layer].scores, false);
        }
    }

    void again(std::uint32_t i, const LayerRange& block) {
        AccessStep step = step_of("again ", StepKind::kAgain, i, times(i).forward);
        open_weights(step, i, false);
        open(step, layers_[i].input, false);
        for (const std::uint32_t input : network_.layers[i].inputs)
            open(step, output_for(&block, input), false);
        open(step, layers_[i].output_again, true, true);
        open(step, layers_[i].mask_again, true, true);
        open(step, layers_[i].scores, true, true);
        open_made_again(step, block, i, i - block.first);
        schedule_.steps.push_back(std::move(step));
    }

    void backward(std::uint32_t i, const LayerRange* block) {
        const Layer& layer = network_.layers[i];
        const KeptTensors kept = kept_tensors(layer);
        const LayerTimes t = times(i);
        AccessStep step =
            step_of("B ", StepKind::kBackward, i, t.input_gradient + t.weight_gradient);
        const auto read = [&](std::uint32_t item) {
            open(step, item, false);
            if (item != kNone && layer.type == "conv")
                schedule_.items[item].read_by_convolution = true;
        };
        if (kept.input) {
            read(layers_[i].input);
            for (const std::uint32_t input : layer.inputs)
                read(output_for(block, input));
        }
        if (kept.output)
            open(step, output_for(block, i), false);
        open(step, layers_[i].mask, false);
        open(step, layers_[i].scores, false);
        if (block != nullptr)
            open_made_again(step, *block, i + 1, backward_step(*block, i));
        open_gradient(step, i, i + 1 == layers_.size());
        for (const std::uint32_t input : layer.inputs)
            open_gradient(step, input, true);
        if (block != nullptr)
            for (std::uint32_t below = block->first; below < i; ++below)
                if (layers_[below].inside && has_gradient_[below])
                    open_gradient(step, below, false);
        const bool updates = options_.update_in_backward && layer.parameters > 0;
        open_weights(step, i, updates);
        open(step, layers_[i].gradient, true);
        if (const auto shared = layer.shares)
            open(step, layers_[owner(*shared)].gradient, true);
        if (updates) {
            open(step, layers_[i].moments, true);
            step.seconds += t.update;
        }
        schedule_.steps.push_back(std::move(step));
    }

    /// The gradient of a layer's output; the first layer whose backward opens it makes it.
    void open_gradient(AccessStep& step, std::uint32_t layer, bool writes) {
        open(step, layers_[layer].output_gradient, writes, !has_gradient_[layer]);
        has_gradient_[layer] = true;
    }

    void update(std::uint32_t i) {
        if (network_.layers[i].parameters == 0)
            return;
        AccessStep step = step_of("U ", StepKind::kUpdate, i, times(i).update);
        open(step, layers_[i].weights, true);
        open(step, layers_[i].gradient, false);
        open(step, layers_[i].moments, true);
        schedule_.steps.push_back(std::move(step));
    }

    /// Keeps items open during updates that run between two steps of a pass if both steps have them
    /// open, as without updates.
    void stay_over_updates() {
        std::vector<AccessStep>& steps = schedule_.steps;
        const auto updates = [&](std::size_t at) { return steps[at].kind == StepKind::kUpdate; };
        for (std::size_t at = 1; at < steps.size(); ++at) {
            if (!updates(at))
                continue;
            std::size_t next = at;
            while (next < steps.size() && updates(next))
                ++next;
            if (next == steps.size())
                return;
            const std::vector<ItemAccess>& after = steps[next].open;
            for (const ItemAccess& before : steps[at - 1].open)
                if (std::any_of(after.begin(), after.end(), [&](const ItemAccess& access) {
                        return access.item == before.item;
                    }))
                    open(steps[at], before.item, false);
        }
    }

    const Network& network_;
    const NetworkScheduleOptions& options_;
    std::span<const LayerTimes> times_;
    const std::vector<LayerRange>& blocks_;  ///< that run again
    std::vector<Items> layers_;
    std::vector<bool> has_gradient_;  ///< by layer, of this micro-batch: its output's gradient
    std::vector<std::uint32_t> read_until_;  ///< by layer of the block that is repeated
    std::uint32_t micro_batch_ = 0;
    AccessSchedule schedule_;
};

}  // namespace

AccessSchedule network_schedule(
    const Network& network, const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times) {
    SWITCHFOLD_CHECK(
        times.empty() || times.size() == network.layers.size(), "{} times for {} layers",
        times.size(), network.layers.size());
    return Writer(network, options, times).take();
}

}  // namespace switchfold
