// SPDX-License-Identifier: Apache-2.0
// Products that run piece by piece beside the messages of tensor-parallel ranks.
#include "training/plan/step/layer_split.h"
#include "training/plan/step/layer_work.h"

#include <fmt/format.h>

namespace switchfold {

bool LayerWork::in_pieces(std::uint32_t layer) const {
    const Layer& l = network_.layers[layer];
    return plan_.tensor_overlap && plan_.sequence && plan_.tensor > 1 && is_product(layer) &&
           (l.split == TensorSplit::kColumns || l.split == TensorSplit::kRows) && !l.forward_us;
}

/// A message of a ring exchange, to the next of the tensor-parallel ranks.
void LayerWork::pass_on(
    std::uint32_t layer, const char* what, double bytes, bool to_round, Work& work) const {
    collective(
        layer, what, CollectiveKind::kSendReceive,
        to_round ? rounded(bytes, plan_.products) : Carried{bytes, plan_.datatype},
        Sharing::kTensor, work, true);
}

/// A rank multiplies what it has while the next part arrives. `bytes`: of all parts, in the type of
/// activations.
void LayerWork::gathered_product(
    std::uint32_t layer, LayerPass which, const char* what, double bytes, Work& work) const {
    for (std::uint32_t piece = 0; piece < plan_.tensor; ++piece) {
        const bool last = piece + 1 == plan_.tensor;
        if (!last)
            pass_on(layer, what, bytes / plan_.tensor, rounds(layer), work);
        product(layer, which, work, plan_.tensor);
        if (!last)
            work.push_back(JoinItem{});
    }
}

/// A piece's partial sums leave for the rank that keeps them while the next piece is multiplied;
/// then each rank adds up what it received.
void LayerWork::summed_product(std::uint32_t layer, Work& work) const {
    const double bytes = full_output_bytes(layer);
    for (std::uint32_t piece = 0; piece < plan_.tensor; ++piece) {
        product(layer, LayerPass::kForward, work, plan_.tensor);
        if (piece + 1 < plan_.tensor)
            pass_on(layer, "output", bytes / plan_.tensor, false, work);
    }
    work.push_back(JoinItem{});
    MemoryKernel sum;
    sum.read = bytes;
    sum.written = bytes / plan_.tensor;
    sum.flops = bytes / element_;
    kernel(layer, "sum of pieces", times_.estimate(sum), work);
}

}  // namespace switchfold
