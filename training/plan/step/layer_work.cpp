// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/layer_work.h"

#include "training/network/product.h"
#include "training/plan/step/kept_tensors.h"
#include "training/plan/step/layer_split.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace switchfold {

namespace {

/// Functions of a gate: those that one product of two tensors alone reads.
std::vector<bool> gates_of(const Network& network) {
    std::vector<std::uint32_t> readers(network.layers.size(), 0);
    std::vector<bool> gates(network.layers.size(), false);
    for (const Layer& layer : network.layers)
        for (const std::uint32_t input : layer.inputs)
            ++readers[input];
    for (const Layer& layer : network.layers) {
        if (layer.type != "mul" || layer.inputs.size() != 2)
            continue;
        const std::uint32_t gate = layer.inputs.front();
        const std::string& type = network.layers[gate].type;
        gates[gate] = (type == "silu" || type == "gelu" || type == "relu") && readers[gate] == 1;
    }
    return gates;
}

}  // namespace

LayerWork::LayerWork(const Network& network, const KernelTimes& times, const ParallelPlan& plan) :
    network_(network),
    times_(times),
    plan_(plan),
    element_(element_bytes(plan.datatype)),
    leader_(network.layers.size()),
    fused_gates_(
        plan.gate == GateKernels::kFused ? gates_of(network)
                                         : std::vector<bool>(network.layers.size(), false)),
    rounded_(rounded_layers(network, plan.products)) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> first;
    for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
        leader_[i] = i;
        if (splits_by_columns(network.layers[i]))
            leader_[i] = first.try_emplace(network.layers[i].inputs, i).first->second;
    }
}

/// Whether this is an expert's second product: its input is divided over tensor-parallel ranks.
bool LayerWork::closes_experts(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    return of_experts(l) && is_product(layer) &&
           std::any_of(l.inputs.begin(), l.inputs.end(), [&](std::uint32_t input) {
               return of_experts(network_.layers[input]);
           });
}

bool LayerWork::has_partial_sums(std::uint32_t layer) const {
    return leaves_partial_sums(network_.layers[layer]) || closes_experts(layer);
}

/// Share of a layer's work and output on this rank.
double LayerWork::share_of(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    // Every tensor-parallel rank of an expert receives all tokens of that expert.
    const bool divided = l.split == TensorSplit::kNone ? plan_.sequence && l.type != "dispatch"
                                                       : !has_partial_sums(layer);
    return 1.0 / plan_.context / (divided ? plan_.tensor : 1);
}

double LayerWork::out_elements(std::uint32_t layer) const {
    return static_cast<double>(network_.layers[layer].out_elements) * plan_.micro_batch *
           share_of(layer);
}

double LayerWork::in_elements(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    const bool divided = l.split == TensorSplit::kRows || l.split == TensorSplit::kHeads ||
                         closes_experts(layer) || (l.split == TensorSplit::kNone && plan_.sequence);
    const std::uint64_t elements = l.in_elements == 0 ? l.out_elements : l.in_elements;
    return static_cast<double>(elements) * plan_.micro_batch / plan_.context /
           (divided ? plan_.tensor : 1);
}

double LayerWork::full_input_bytes(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    return static_cast<double>(l.in_elements) * plan_.micro_batch / plan_.context * element_;
}

double LayerWork::full_output_bytes(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    return static_cast<double>(l.out_elements) * plan_.micro_batch / plan_.context * element_;
}

double LayerWork::output_bytes(std::uint32_t layer) const {
    const bool single =
        plan_.loss != LossKernels::kFused && network_.layers[layer].type == "softmax_loss";
    const bool scattered = plan_.sequence && has_partial_sums(layer);
    return out_elements(layer) / (scattered ? plan_.tensor : 1) *
           (single ? kSingleBytes : element_);
}

double LayerWork::parameters(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    double held = static_cast<double>(l.parameters);
    if (of_experts(l))
        held /= plan_.expert;
    // A row-parallel layer's weights are divided too.
    const bool divided = l.split != TensorSplit::kNone;
    return held / (divided ? plan_.tensor : 1);
}

bool LayerWork::is_product(std::uint32_t layer) const {
    const std::string& type = network_.layers[layer].type;
    return type == "conv" || type == "linear" || type == "lstm";
}

bool LayerWork::shared_by_experts(std::uint32_t layer) const {
    return plan_.expert > 1 && of_experts(network_.layers[layer]);
}

bool LayerWork::gathers_input(std::uint32_t layer) const {
    return plan_.tensor > 1 && splits_by_columns(network_.layers[layer]) && leader_[layer] == layer;
}

bool LayerWork::sums_output(std::uint32_t layer) const {
    return plan_.tensor > 1 && has_partial_sums(layer);
}

CollectiveKind LayerWork::summing() const {
    return plan_.sequence ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce;
}

void LayerWork::kernel(
    std::uint32_t layer, std::string_view what, const KernelEstimate& estimate, Work& work) const {
    work.push_back(KernelItem{
        fmt::format("{} {}", network_.layers[layer].name, what), estimate.kernel, estimate.waves});
}

void LayerWork::collective(
    std::uint32_t layer, const char* what, CollectiveKind kind, double bytes, Sharing sharing,
    Work& work, bool beside) const {
    collective(layer, what, kind, {bytes, plan_.datatype}, sharing, work, beside);
}

void LayerWork::collective(
    std::uint32_t layer, const char* what, CollectiveKind kind, const Carried& carried,
    Sharing sharing, Work& work, bool beside) const {
    work.push_back(CollectiveItem{
        fmt::format("{} {}", network_.layers[layer].name, what), kind, Bytes(whole(carried.bytes)),
        carried.datatype, sharing, beside});
}

LayerWork::Carried LayerWork::rounded(double bytes, ProductRecipe recipe) const {
    return {bytes / element_ * rounded_bytes(recipe), Datatype::kFloat8};
}

void LayerWork::measured(
    std::uint32_t layer, double microseconds, const char* what, Work& work) const {
    const double out = out_elements(layer) * element_;
    KernelEstimate estimate = times_.estimate(element_wise(out / element_, 1, element_));
    estimate.kernel.isolated =
        Time(static_cast<std::uint64_t>(std::max(0.0, microseconds * plan_.micro_batch * 1e6)));
    estimate.kernel.kernel_class =
        is_product(layer) ? KernelClass::kGemmConv : KernelClass::kElementwise;
    kernel(layer, what, estimate, work);
}

/// Number of experts that the nearest dispatch before a layer sends each token to.
double LayerWork::experts_of_token(std::uint32_t layer) const {
    while (layer > 0 && network_.layers[layer].type != "dispatch")
        --layer;
    const Layer& dispatch = network_.layers[layer];
    return static_cast<double>(dispatch.out_elements) /
           static_cast<double>(network_.layers[dispatch.inputs.front()].out_elements);
}

/// Sends tokens to their experts' ranks or back. `layer` is the dispatch, or the input of a
/// combine. `to_experts`: towards their products, which may read 8 bits.
void LayerWork::exchange(std::uint32_t layer, const char* what, bool to_experts, Work& work) const {
    if (plan_.expert == 1)
        return;
    const double bytes = full_output_bytes(layer) / (plan_.sequence ? plan_.tensor : 1);
    const auto send = [&](double some, Sharing sharing, bool beside) {
        collective(
            layer, what, CollectiveKind::kAllToAll,
            to_experts && plan_.float8_dispatch ? rounded(some, ProductRecipe::kBlockwise)
                                                : Carried{some, plan_.datatype},
            sharing, work, beside);
    };
    const std::uint32_t nodes = nodes_of_experts(plan_);
    if (plan_.expert_nodes == 0 || nodes == 1) {
        send(bytes, Sharing::kExpert, false);
        return;
    }
    // Tokens are passed on as they come, so both hops run beside each other. Each expert of a token
    // is on one of its nodes by chance.
    const double experts = experts_of_token(layer);
    const double most = std::min(plan_.expert_nodes, nodes);
    const double reached = most * (1 - std::pow(1 - 1 / most, experts));
    send(bytes * reached / experts, Sharing::kExpertRail, true);
    if (plan_.node_ranks > plan_.tensor * plan_.context)
        send(bytes, Sharing::kExpertNode, true);
    work.push_back(JoinItem{});
}

void LayerWork::gather(
    std::uint32_t layer, const char* what, double bytes, Work& work, std::uint32_t copies,
    bool beside) const {
    collective(
        layer, what, CollectiveKind::kAllGather,
        rounds(layer) ? rounded(copies * bytes, plan_.products) : Carried{bytes, plan_.datatype},
        Sharing::kTensor, work, beside);
}

/// Collectives of tensor-parallel ranks before a layer that needs the whole input.
void LayerWork::before_products(std::uint32_t layer, Work& work) const {
    round_input(layer, work);
    if (plan_.sequence && gathers_input(layer) && !in_pieces(layer))
        gather(layer, "input", full_input_bytes(layer), work);
    round_weights(layer, work);
}

void LayerWork::forward(std::uint32_t layer, Work& work) const {
    const Layer& l = network_.layers[layer];
    before_products(layer, work);
    sum_of_squares(layer, work);
    if (l.type == "embedding" && sums_output(layer))
        work.push_back(CallsItem{plan_.launch_times.vocabulary});
    if (l.type == "softmax_loss")
        work.push_back(CallsItem{plan_.launch_times.loss});
    if (l.type == "combine")
        exchange(l.inputs.front(), "tokens back", false, work);
    if (l.forward_us)
        measured(layer, *l.forward_us, "forward", work);
    else if (in_pieces(layer) && gathers_input(layer))
        gathered_product(layer, LayerPass::kForward, "input", full_input_bytes(layer), work);
    else if (in_pieces(layer) && sums_output(layer))
        summed_product(layer, work);
    else if (is_product(layer))
        product(layer, LayerPass::kForward, work);
    else if (l.type == "attention")
        attention(layer, false, work);
    else
        other(layer, false, work);
    if (sums_output(layer) && !in_pieces(layer))
        collective(layer, "output", summing(), full_output_bytes(layer), Sharing::kTensor, work);
    if (l.type == "dispatch") {
        exchange(layer, "tokens to experts", true, work);
        if (plan_.tensor > 1 && plan_.sequence)
            collective(
                layer, "tokens of all ranks", CollectiveKind::kAllGather, full_output_bytes(layer),
                Sharing::kTensor, work);
    }
    if (plan_.tensor > 1 && l.split == TensorSplit::kVocabulary && l.type == "softmax_loss") {
        // Per token: the largest logit, the sum and the target's logit.
        const double tokens = std::max<double>(1, static_cast<double>(network_.tokens)) *
                              plan_.micro_batch / plan_.context;
        for (const char* what : {"largest", "sum", "target"})
            collective(layer, what, CollectiveKind::kAllReduce, 4 * tokens, Sharing::kTensor, work);
    }
}

/// Sums input gradients: those of column-parallel layers with a common input are partial sums.
void LayerWork::after_input_gradient(std::uint32_t layer, bool beside, Work& work) const {
    if (gathers_input(layer))
        collective(
            layer, "gradient of the input", summing(), full_input_bytes(layer), Sharing::kTensor,
            work, beside);
}

void LayerWork::own_input_gradient(std::uint32_t layer, Work& work) const {
    const Layer& l = network_.layers[layer];
    round_gradient(layer, work);
    const bool pieces = in_pieces(layer) && sums_output(layer);
    if (plan_.sequence && sums_output(layer) && !pieces)
        gather(
            layer, "gradient of the output", full_output_bytes(layer), work,
            scales_follow_sums(plan_.products) ? 2 : 1);
    if (l.type == "dispatch") {
        if (plan_.tensor > 1)
            collective(
                layer, "gradient of the tokens", summing(), full_output_bytes(layer),
                Sharing::kTensor, work);
        exchange(layer, "gradients back", false, work);
    }
    const bool needed = !l.inputs.empty();  // the gradient of the network's input is not needed
    if (l.backward_us)
        measured(layer, *l.backward_us / (is_product(layer) ? 2 : 1), "input gradient", work);
    else if (is_product(layer) && needed) {
        round_weights(layer, work);
        if (pieces)
            gathered_product(
                layer, LayerPass::kInputGradient, "gradient of the output",
                full_output_bytes(layer), work);
        else
            product(layer, LayerPass::kInputGradient, work);
    } else if (l.type == "attention")
        attention(layer, true, work);
    else if (!is_product(layer))
        other(layer, true, work);
    sum_of_squares(layer, work);
    if (l.type == "combine")
        exchange(l.inputs.front(), "gradients to experts", true, work);
}

/// Repeats the gather of the input for the weight gradient, since the gathered input is not kept.
void LayerWork::gather_again(std::uint32_t layer, bool beside, Work& work) const {
    if (plan_.sequence && gathers_input(layer))
        gather(layer, "input again", full_input_bytes(layer), work, 1, beside);
}

/// Adds a micro-batch's gradients to those of earlier ones: reads both, writes the sum.
void LayerWork::accumulate(std::uint32_t layer, Work& work) const {
    const double elements = parameters(layer);
    MemoryKernel add;
    add.written = elements * element_bytes(plan_.gradient);
    add.read = 2 * add.written;
    add.flops = elements;
    kernel(layer, "accumulate gradients", times_.estimate(add), work);
}

/// Not put off with the weight gradient where that is a pass of its own: sums over tokens are made
/// by the operators that compute the input gradient (Zero Bubble's WeightGradStore holds products).
void LayerWork::bias_gradient_of(std::uint32_t layer, Work& work) const {
    const Layer& l = network_.layers[layer];
    if (!has_bias(l) || l.backward_us)
        return;
    const double columns = static_cast<double>(product_of(l)->columns * product_of(l)->count);
    kernel(
        layer, "bias gradient",
        times_.estimate(bias_gradient(out_elements(layer), columns, element_)), work);
}

void LayerWork::own_weight_gradient(std::uint32_t layer, Work& work) const {
    const Layer& l = network_.layers[layer];
    if (is_product(layer)) {
        if (l.backward_us)
            measured(layer, *l.backward_us / 2, "weight gradient", work);
        else
            product(layer, LayerPass::kWeightGradient, work);
    }
    if (l.parameters == 0)
        return;
    if (plan_.accumulation == GradientSums::kSeparate && plan_.accumulate > 1)
        accumulate(layer, work);
    work.push_back(GradientsItem{layer});
}

void LayerWork::input_gradient(std::uint32_t layer, Work& work) const {
    own_input_gradient(layer, work);
    bias_gradient_of(layer, work);
    after_input_gradient(layer, false, work);
}

void LayerWork::weight_gradient(std::uint32_t layer, Work& work) const {
    gather_again(layer, false, work);
    own_weight_gradient(layer, work);
}

void LayerWork::backward(std::uint32_t layer, Work& work) const {
    const bool shared = gathers_input(layer);
    gather_again(layer, true, work);
    own_input_gradient(layer, work);
    if (shared)
        work.push_back(JoinItem{});
    after_input_gradient(layer, true, work);
    bias_gradient_of(layer, work);
    own_weight_gradient(layer, work);
    if (shared)
        work.push_back(JoinItem{});
}

}  // namespace switchfold
