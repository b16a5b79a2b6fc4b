// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/network_schedule.h"

#include "core/error.h"
#include "training/memory/access/layer_items.h"
#include "training/plan/step/kept_tensors.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

class Writer : private LayerItemTable {
public:
    Writer(
        const Network& network, const NetworkScheduleOptions& options,
        std::span<const LayerTimes> times) :
        LayerItemTable(network, options), times_(times), blocks_(options.again) {}

    TensorUses take() {
        schedule_.name = network_.name;
        if (options_.passes.empty())
            whole_network();
        else
            passes_of_device();
        count_copies(schedule_);
        return std::move(schedule_);
    }

private:
    void whole_network() {
        end_ = size();
        for (std::uint32_t i = 0; i < size(); ++i) {
            add_activations(i);
            if (network_.layers[i].parameters > 0)
                add_weights(i);
        }
        for (micro_batch_ = 0; micro_batch_ < options_.micro_batches; ++micro_batch_) {
            forward_pass();
            backward_pass(Gradients::kBoth);
        }
        --micro_batch_;
        if (!options_.update_in_backward && options_.updates_behind.empty())
            for (std::uint32_t i = 0; i < size(); ++i)
                update(i);
        if (!options_.updates_behind.empty())
            stay_over_updates();
    }

    /// Passes of a device's stages; each buffer has activations and their gradients of its own.
    void passes_of_device() {
        add_buffers();
        for (const DevicePass& pass : options_.passes) {
            first_ = pass.first;
            end_ = pass.end;
            micro_batch_ = pass.micro_batch;
            if (pass.kind == PassKind::kUpdate) {
                for (const std::uint32_t layer : updated_layers(network_, first_, end_))
                    update(layer);
                continue;
            }
            Buffer& buffer = buffers_[pass.buffer];
            std::swap(layers_, buffer.layers);
            std::swap(has_gradient_, buffer.has_gradient);
            if (pass.kind == PassKind::kForward)
                forward_pass();
            else
                backward_pass(
                    pass.kind == PassKind::kBackward        ? Gradients::kBoth
                    : pass.kind == PassKind::kInputGradient ? Gradients::kOfInputs
                                                            : Gradients::kOfWeights);
            std::swap(layers_, buffer.layers);
            std::swap(has_gradient_, buffer.has_gradient);
        }
    }

    /// Weights of the device's layers, and what each of its buffers holds.
    void add_buffers() {
        std::vector<bool> held(size(), false);
        const auto add_weights_of = [&](std::uint32_t layer) {
            if (!held[layer])
                add_weights(layer);
            held[layer] = true;
        };
        std::vector<const DevicePass*> first_use;
        for (const DevicePass& pass : options_.passes) {
            for (const std::uint32_t layer : updated_layers(network_, pass.first, pass.end))
                add_weights_of(layer);
            if (pass.kind == PassKind::kUpdate)
                continue;
            first_use.resize(std::max<std::size_t>(first_use.size(), pass.buffer + 1U), nullptr);
            if (first_use[pass.buffer] == nullptr)
                first_use[pass.buffer] = &pass;
        }
        const std::vector<LayerItems> weights = layers_;
        for (const DevicePass* pass : first_use) {
            SWITCHFOLD_CHECK(pass != nullptr, "a buffer that no pass uses");
            for (std::uint32_t i = pass->first; i < pass->end; ++i) {
                add_activations(i);
                for (const std::uint32_t input : network_.layers[i].inputs)
                    if (input < pass->first && layers_[input].output == kNoItem)
                        add_output(input);
            }
            buffers_.push_back({std::exchange(layers_, weights), {}});
        }
    }

    void forward_pass() {
        has_gradient_.assign(size(), false);
        arrived_.assign(size(), false);
        for (std::uint32_t i = first_; i < end_; ++i)
            forward(i);
    }

    /// Which gradients a backward pass computes.
    enum class Gradients : std::uint8_t { kBoth, kOfInputs, kOfWeights };

    void backward_pass(Gradients which) {
        const bool last = micro_batch_ + 1 == options_.micro_batches;
        auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const LayerRange& range) {
            return range.end <= end_;
        });
        const auto within = [&] { return block != blocks_.rend() && block->first >= first_; };
        find_readers(block);
        for (std::uint32_t i = end_; i-- > first_;) {
            if (which == Gradients::kOfWeights) {
                weight_gradient(i);
                continue;
            }
            if (within() && i + 1 == block->end)
                for (std::uint32_t layer = block->first; layer < block->end; ++layer)
                    again(layer, *block);
            const bool repeated = within() && block->first <= i && i < block->end;
            backward(i, repeated ? &*block : nullptr, which);
            if (within() && i == block->first)
                find_readers(++block);
            if (last && !options_.updates_behind.empty())
                for (const std::uint32_t owner : options_.updates_behind[i])
                    update(owner);
        }
    }

    /// What a micro-batch in flight on a stage occupies.
    struct Buffer {
        std::vector<LayerItems> layers;
        std::vector<bool> has_gradient;
    };

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(layers_.size()); }
    [[nodiscard]] LayerTimes times(std::uint32_t layer) const {
        return times_.empty() ? LayerTimes{} : times_[layer];
    }

    static void open(LayerUse& step, std::uint32_t item, bool writes, bool anew = false) {
        if (item == kNoItem)
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

    void open_weights(LayerUse& step, std::uint32_t i, bool writes) {
        open(step, layers_[i].weights, writes);
        if (const auto shared = network_.layers[i].shares)
            open(step, layers_[owner(*shared)].weights, writes);
    }

    [[nodiscard]] LayerUse
    step_of(const char* what, UseKind kind, std::uint32_t i, double seconds) const {
        return {what + network_.layers[i].name, kind, seconds, {}, i, micro_batch_};
    }

    void forward(std::uint32_t i) {
        LayerUse step = step_of("F ", UseKind::kForward, i, times(i).forward);
        open_weights(step, i, false);
        open(step, layers_[i].input, false, true);
        for (const std::uint32_t input : network_.layers[i].inputs) {
            // The message of another stage writes it.
            const bool arrives = input < first_ && !arrived_[input];
            open(step, layers_[input].output, arrives, arrives);
            arrived_[input] = true;
        }
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
        LayerUse& step, const LayerRange& block, std::uint32_t made, std::uint32_t at) const {
        for (std::uint32_t layer = block.first; layer < made; ++layer) {
            if (layer < block.end && at <= read_until_[layer - block.first])
                open(step, layers_[layer].output_again, false);
            open(step, layers_[layer].mask_again, false);
            open(step, layers_[layer].scores, false);
        }
    }

    void again(std::uint32_t i, const LayerRange& block) {
        LayerUse step = step_of("again ", UseKind::kAgain, i, times(i).forward);
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

    /// A pass of its own for the gradients of weights.
    void weight_gradient(std::uint32_t i) {
        const Layer& layer = network_.layers[i];
        LayerUse step = step_of("W ", UseKind::kBackward, i, times(i).weight_gradient);
        if (step.seconds > 0 && kept_tensors(layer).input) {
            open(step, layers_[i].input, false);
            for (const std::uint32_t input : layer.inputs)
                open(step, layers_[input].output, false);
            open(step, layers_[i].output_gradient, false);
        }
        schedule_.steps.push_back(std::move(step));
    }

    void backward(std::uint32_t i, const LayerRange* block, Gradients which) {
        const Layer& layer = network_.layers[i];
        const KeptTensors kept = kept_tensors(layer);
        const LayerTimes t = times(i);
        LayerUse step = step_of(
            "B ", UseKind::kBackward, i,
            t.input_gradient + (which == Gradients::kBoth ? t.weight_gradient : 0));
        const auto read = [&](std::uint32_t item) {
            open(step, item, false);
            if (item != kNoItem && layer.type == "conv")
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
        // The loss makes its own, and the next stage's message that of a stage's last layer.
        const bool is_cut = first_ > 0 || end_ < size();
        open_gradient(step, i, i + 1 == end_ || (is_cut && !has_gradient_[i]));
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
    void open_gradient(LayerUse& step, std::uint32_t layer, bool writes) {
        open(step, layers_[layer].output_gradient, writes, !has_gradient_[layer]);
        has_gradient_[layer] = true;
    }

    void update(std::uint32_t i) {
        if (network_.layers[i].parameters == 0)
            return;
        LayerUse step = step_of("U ", UseKind::kUpdate, i, times(i).update);
        open(step, layers_[i].weights, true);
        open(step, layers_[i].gradient, false);
        open(step, layers_[i].moments, true);
        schedule_.steps.push_back(std::move(step));
    }

    /// Keeps items open during updates that run between two steps of a pass if both steps have them
    /// open, as without updates.
    void stay_over_updates() {
        std::vector<LayerUse>& steps = schedule_.steps;
        const auto updates = [&](std::size_t at) { return steps[at].kind == UseKind::kUpdate; };
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

    std::span<const LayerTimes> times_;
    const std::vector<LayerRange>& blocks_;  ///< that run again
    std::vector<bool> has_gradient_;  ///< by layer, of this micro-batch: its output's gradient
    std::vector<std::uint32_t> read_until_;  ///< by layer of the block that is repeated
    std::vector<bool> arrived_;              ///< by layer of another stage: its output is there
    std::vector<Buffer> buffers_;
    std::uint32_t first_ = 0;  ///< layers of the pass
    std::uint32_t end_ = 0;    ///< one past the last
    std::uint32_t micro_batch_ = 0;
};

}  // namespace

TensorUses network_schedule(
    const Network& network, const NetworkScheduleOptions& options,
    std::span<const LayerTimes> times) {
    SWITCHFOLD_CHECK(
        times.empty() || times.size() == network.layers.size(), "{} times for {} layers",
        times.size(), network.layers.size());
    return Writer(network, options, times).take();
}

}  // namespace switchfold
