// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/stage_memory.h"

#include "training/plan/step/kept_tensors.h"
#include "training/plan/step/recomputed_layers.h"

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

/// A tensor, identified by the layer that produces it, as that wrote it or rounded to 8 bits.
struct Tensor {
    std::uint32_t layer = 0;
    bool rounded = false;
    auto operator<=>(const Tensor&) const = default;
};
/// One read by several layers is kept once.
using Tensors = std::set<Tensor>;

class StageReads {
public:
    StageReads(
        const Network& network, const LayerWork& layers, const ParallelPlan& plan,
        std::uint32_t first, std::uint32_t end) :
        network_(network), layers_(layers), plan_(plan), first_(first), end_(end) {}

    [[nodiscard]] StageMemory memory() const {
        StageMemory memory;
        memory.again = recomputed();
        Tensors kept;
        double masks = 0;
        std::vector<bool> made_again(end_ - first_, false);
        if (plan_.recompute == Recompute::kFull)
            for (const RecomputedLayers& part : memory.again)
                for (std::uint32_t i = part.first; i < part.end; ++i)
                    made_again[i - first_] = true;
        for (std::uint32_t i = first_; i < end_; ++i)
            if (!made_again[i - first_]) {
                add_read(i, kept);
                masks += mask(i) + layers_.copied_keys(i);
                if (plan_.recompute != Recompute::kSelective)
                    masks += layers_.scores(i);
            }
        if (plan_.recompute == Recompute::kFull)
            for (const RecomputedLayers& part : memory.again)
                add_inputs(part, kept);
        const auto is_kept = [&](const Tensor& tensor) { return kept.contains(tensor); };
        Tensors for_weights = read_for_weights(first_, end_);
        std::erase_if(for_weights, [&](const Tensor& tensor) { return !is_kept(tensor); });
        memory.kept.until_input_gradient = bytes(kept) + masks;
        memory.kept.until_weight_gradient = bytes(for_weights);
        for (RecomputedLayers& part : memory.again) {
            Tensors read;
            for (std::uint32_t i = part.first; i < part.end; ++i) {
                add_read(i, read);
                part.workspace += layers_.scores(i);
                if (plan_.recompute == Recompute::kFull)
                    part.workspace += mask(i) + layers_.copied_keys(i);
            }
            std::erase_if(read, is_kept);
            part.workspace += bytes(read);
            Tensors later = read_for_weights(part.first, part.end);
            std::erase_if(later, is_kept);
            part.for_weights = bytes(later);
            memory.kept.until_weight_gradient += part.for_weights;
        }
        for (std::uint32_t i = first_; i < end_; ++i) {
            Kept& most = memory.kept;
            most.again = std::max(most.again, layers_.loss_workspace(i));
            most.again_before_weights = std::max(most.again_before_weights, most.again);
        }
        // Backward visits the layers in reverse.
        double made = 0;
        for (auto part = memory.again.rbegin(); part != memory.again.rend(); ++part) {
            Kept& most = memory.kept;
            most.again = std::max(most.again, part->workspace);
            most.again_before_weights = std::max(most.again_before_weights, made + part->workspace);
            made += part->for_weights;
        }
        return memory;
    }

private:
    [[nodiscard]] std::vector<RecomputedLayers> recomputed() const {
        std::vector<RecomputedLayers> parts;
        for (const LayerRange& range : recomputed_layers(network_, plan_, first_, end_))
            parts.push_back({range.first, range.end});
        return parts;
    }

    /// Adds the tensors that a layer's backward reads.
    void add_read(std::uint32_t layer, Tensors& tensors) const {
        const Layer& l = network_.layers[layer];
        KeptTensors keeps = kept_tensors(l);
        if (layers_.is_fused_gate(layer))  // the kernel of the product behind it reads its input
            keeps = {true, false, false};
        if (plan_.norm_keeps == NormKeeps::kOutput &&
            (l.type == "rmsnorm" || l.type == "layernorm"))
            keeps = {false, true, false};
        if (keeps.input)
            for (const std::uint32_t input : l.inputs)
                if (!layers_.is_fused_gate(input))
                    tensors.insert({input, layers_.rounds(layer)});
        if (keeps.output)
            tensors.insert({layer});
    }

    /// Bytes of a layer's mask: one per element.
    [[nodiscard]] double mask(std::uint32_t layer) const {
        const Layer& l = network_.layers[layer];
        return kept_tensors(l).mask || (plan_.residual_dropout && l.type == "add")
                   ? layers_.output_bytes(layer) / element_bytes(plan_.datatype)
                   : 0;
    }

    /// Adds tensors that the layers read but none of them produces.
    void add_inputs(const RecomputedLayers& part, Tensors& tensors) const {
        for (std::uint32_t i = part.first; i < part.end; ++i)
            for (const std::uint32_t input : network_.layers[i].inputs)
                if (input < part.first)
                    tensors.insert({input});
    }

    [[nodiscard]] Tensors read_for_weights(std::uint32_t first, std::uint32_t end) const {
        Tensors tensors;
        for (std::uint32_t i = first; i < end; ++i)
            if (layers_.is_product(i))
                for (const std::uint32_t input : network_.layers[i].inputs)
                    tensors.insert({input, layers_.rounds(i)});
        return tensors;
    }

    [[nodiscard]] double bytes(const Tensors& tensors) const {
        double sum = 0;
        for (const Tensor& tensor : tensors)
            sum += layers_.output_bytes(tensor.layer) *
                   (tensor.rounded ? layers_.rounded_element() / element_bytes(plan_.datatype) : 1);
        return sum;
    }

    const Network& network_;
    const LayerWork& layers_;
    const ParallelPlan& plan_;
    std::uint32_t first_;
    std::uint32_t end_;
};

}  // namespace

StageMemory stage_memory(
    const Network& network, const LayerWork& layers, const ParallelPlan& plan, std::uint32_t first,
    std::uint32_t end) {
    return StageReads(network, layers, plan, first, end).memory();
}

}  // namespace switchfold
