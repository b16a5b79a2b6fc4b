// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"
#include "training/plan/step/rounded_layers.h"
#include "training/plan/step/work_item.h"
#include "workloads/kernels/attention.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/kernels/layer_products.h"
#include "workloads/kernels/memory_kernel.h"
#include "workloads/kernels/winograd.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold {

/// Work of one rank for each layer and one micro-batch: kernels with their times, and the
/// collectives by which tensor-, context- and expert-parallel ranks share the layer (Megatron-LM:
/// Shoeybi et al. 2019, Korthikanti et al. 2022).
class LayerWork {
public:
    LayerWork(const Network& network, const KernelTimes& times, const ParallelPlan& plan);

    void forward(std::uint32_t layer, Work& work) const;
    /// Adds gradients of the inputs, and of the weights of layers that are not products.
    void input_gradient(std::uint32_t layer, Work& work) const;
    /// Adds gradients of a product's weights.
    void weight_gradient(std::uint32_t layer, Work& work) const;
    /// Adds both. Tensor-parallel ranks sum the input gradient while the weight gradient is
    /// computed.
    void backward(std::uint32_t layer, Work& work) const;

    /// Number of parameters that this rank holds.
    [[nodiscard]] double parameters(std::uint32_t layer) const;
    /// Bytes of a layer's output on this rank, for one micro-batch; partial sums once they are
    /// summed.
    [[nodiscard]] double output_bytes(std::uint32_t layer) const;
    /// Bytes of the scores that the backward of attention reads: zero if fused, otherwise the
    /// outputs of softmax and dropout and dropout's mask.
    [[nodiscard]] double scores(std::uint32_t layer) const;
    /// Bytes of the copies of keys and values that an attention keeps (ParallelPlan::repeat_keys);
    /// queries are views into what they were copied from, which is kept too.
    [[nodiscard]] double copied_keys(std::uint32_t layer) const;
    /// Bytes that the backward of a loss takes beside what it keeps (LossKernels::kEager).
    [[nodiscard]] double loss_workspace(std::uint32_t layer) const;
    [[nodiscard]] bool is_product(std::uint32_t layer) const;
    /// Whether the layer is a gate's function that the product behind it computes: it has no
    /// kernel, and its output is never in memory (GateKernels::kFused).
    [[nodiscard]] bool is_fused_gate(std::uint32_t layer) const { return fused_gates_[layer]; }
    /// Parameters of a layer whose products round weights to 8 bits; 0 of other layers.
    [[nodiscard]] double rounded_parameters(std::uint32_t layer) const;
    /// Bytes of a layer's weights where ranks that share them gather them.
    [[nodiscard]] double gathered_bytes(std::uint32_t layer) const;
    /// Bytes of an element that was rounded to 8 bits, with its part of a scale.
    [[nodiscard]] double rounded_element() const;
    /// Whether the layer's products read operands of 8 bits.
    [[nodiscard]] bool rounds(std::uint32_t layer) const { return rounded_[layer].product; }
    /// Whether ranks of an expert-parallel group hold different parameters of the layer.
    [[nodiscard]] bool shared_by_experts(std::uint32_t layer) const;

private:
    /// `divided`: tensor-parallel ranks hold parts of what they then gather. With a scale of their
    /// own tensor they first agree on the largest value of all.
    void round(
        std::uint32_t layer, const char* what, double elements, bool divided, Work& work) const;
    void round_input(std::uint32_t layer, Work& work) const;
    void round_gradient(std::uint32_t layer, Work& work) const;
    void round_weights(std::uint32_t layer, Work& work) const;
    /// Gathers what tensor-parallel ranks have parts of, `bytes` in the type of activations, with 8
    /// bits if a product reads it so. `copies`: in so many directions.
    void gather(
        std::uint32_t layer, const char* what, double bytes, Work& work, std::uint32_t copies = 1,
        bool beside = false) const;
    [[nodiscard]] bool closes_experts(std::uint32_t layer) const;
    [[nodiscard]] bool has_partial_sums(std::uint32_t layer) const;
    [[nodiscard]] std::uint32_t
    alignment_of_outputs(std::uint32_t layer, std::uint64_t columns) const;
    [[nodiscard]] double share_of(std::uint32_t layer) const;
    [[nodiscard]] double in_elements(std::uint32_t layer) const;
    [[nodiscard]] double out_elements(std::uint32_t layer) const;
    [[nodiscard]] double full_input_bytes(std::uint32_t layer) const;
    [[nodiscard]] double full_output_bytes(std::uint32_t layer) const;
    [[nodiscard]] bool gathers_input(std::uint32_t layer) const;
    [[nodiscard]] bool sums_output(std::uint32_t layer) const;
    /// The collective that combines partial sums of tensor-parallel ranks.
    [[nodiscard]] CollectiveKind summing() const;
    void kernel(
        std::uint32_t layer, std::string_view what, const KernelEstimate& estimate,
        Work& work) const;
    /// `pieces`: into so many its rows are divided; one of them.
    void product(std::uint32_t layer, LayerPass which, Work& work, std::uint32_t pieces = 1) const;
    /// Whether messages of tensor-parallel ranks run beside pieces of the layer's products.
    [[nodiscard]] bool in_pieces(std::uint32_t layer) const;
    /// The same where pieces are waves of the whole product's kernel: so many, and one of them.
    [[nodiscard]] Work waves(std::uint32_t layer, LayerPass which) const;
    [[nodiscard]] std::uint32_t pieces_of(const Work& product) const;
    void
    add_piece(const Work& product, std::uint32_t piece, std::uint32_t pieces, Work& work) const;
    void exchange_piece(
        std::uint32_t layer, const char* what, CollectiveKind kind, double bytes, bool beside,
        Work& work) const;
    void
    pass_on(std::uint32_t layer, const char* what, double bytes, bool to_round, Work& work) const;
    void gathered_product(
        std::uint32_t layer, LayerPass which, const char* what, double bytes, Work& work) const;
    void summed_product(std::uint32_t layer, Work& work) const;
    /// The kernels of Winograd's algorithm, if it applies.
    [[nodiscard]] std::optional<std::vector<WinogradKernel>>
    winograd(std::uint32_t layer, LayerPass which, std::uint32_t summed_bytes) const;
    void attention(std::uint32_t layer, bool backward, Work& work) const;
    void
    unfused_attention(std::uint32_t layer, const Attention& shape, bool backward, Work& work) const;
    void repeated_keys(std::uint32_t layer, bool backward, Work& work) const;
    void unfused_loss(std::uint32_t layer, bool backward, Work& work) const;
    void eager_loss(std::uint32_t layer, bool backward, Work& work) const;
    void other(std::uint32_t layer, bool backward, Work& work) const;
    void dense_table(std::uint32_t layer, MemoryKernel rows, Work& work) const;
    void measured(std::uint32_t layer, double microseconds, const char* what, Work& work) const;
    void collective(
        std::uint32_t layer, const char* what, CollectiveKind kind, double bytes, Sharing sharing,
        Work& work, bool beside = false) const;
    /// What a collective carries.
    struct Carried {
        double bytes = 0;
        Datatype datatype = Datatype::kBfloat16;
    };
    void collective(
        std::uint32_t layer, const char* what, CollectiveKind kind, const Carried& carried,
        Sharing sharing, Work& work, bool beside = false) const;
    /// As much with 8 bits and scales. `bytes`: in the type of activations.
    [[nodiscard]] Carried rounded(double bytes, ProductRecipe recipe) const;
    [[nodiscard]] double experts_of_token(std::uint32_t layer) const;
    void exchange(std::uint32_t layer, const char* what, bool to_experts, Work& work) const;
    void before_products(std::uint32_t layer, Work& work) const;
    void sum_of_squares(std::uint32_t layer, Work& work) const;
    void gather_again(std::uint32_t layer, bool beside, Work& work) const;
    void own_input_gradient(std::uint32_t layer, Work& work) const;
    void accumulate(std::uint32_t layer, Work& work) const;
    void own_weight_gradient(std::uint32_t layer, Work& work) const;
    void bias_gradient_of(std::uint32_t layer, Work& work) const;
    void after_input_gradient(std::uint32_t layer, bool beside, Work& work) const;

    const Network& network_;
    const KernelTimes& times_;
    const ParallelPlan& plan_;
    double element_;  ///< bytes per weight or activation
    /// For each layer, the first column-parallel layer with the same input: it gathers and sums for
    /// all of them.
    std::vector<std::uint32_t> leader_;
    std::vector<bool> fused_gates_;
    std::vector<RoundedLayer> rounded_;
};

}  // namespace switchfold
