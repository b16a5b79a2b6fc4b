// SPDX-License-Identifier: Apache-2.0
// Products that run piece by piece beside the messages of tensor-parallel ranks.
#include "training/plan/step/layer_split.h"
#include "training/plan/step/layer_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

Work LayerWork::waves(std::uint32_t layer, LayerPass which) const {
    Work whole;
    product(layer, which, whole);
    return whole;
}

/// The tiles of a wave end together; what is finer has no end of its own.
std::uint32_t LayerWork::pieces_of(const Work& product) const {
    std::uint32_t waves = 1;
    for (const WorkItem& item : product)
        if (const auto* part = std::get_if<KernelItem>(&item))
            waves = std::max(waves, part->waves);
    return plan_.tensor_pieces > 0 ? std::min(plan_.tensor_pieces, waves) : waves;
}

/// So much of each that all pieces together are the whole.
void LayerWork::add_piece(
    const Work& product, std::uint32_t piece, std::uint32_t pieces, Work& work) const {
    const auto share = [&](std::uint64_t whole) {
        return whole * (piece + 1) / pieces - whole * piece / pieces;
    };
    for (WorkItem item : product) {
        if (auto* part = std::get_if<KernelItem>(&item); part != nullptr && pieces > 1) {
            KernelOperation& kernel = part->kernel;
            // Persistent blocks are as many in each wave.
            if (part->waves > 1 && kernel.grid.count() > times_.gpu().sms)
                kernel.grid = {static_cast<std::uint32_t>(
                    std::max<std::uint64_t>(times_.gpu().sms, share(kernel.grid.count())))};
            kernel.isolated = Time(share(kernel.isolated.count()));
            kernel.bytes_read = Bytes(share(kernel.bytes_read.count()));
            kernel.bytes_written = Bytes(share(kernel.bytes_written.count()));
            kernel.flops /= pieces;
        }
        work.push_back(std::move(item));
    }
}

void LayerWork::exchange_piece(
    std::uint32_t layer, const char* what, CollectiveKind kind, double bytes, bool beside,
    Work& work) const {
    const bool narrow = kind == CollectiveKind::kAllGather && rounds(layer);
    collective(
        layer, what, kind, narrow ? rounded(bytes, plan_.products) : Carried{bytes, plan_.datatype},
        Sharing::kTensor, work, beside);
}

/// A rank multiplies what it has while the next part arrives. `bytes`: of all parts, in the type of
/// activations.
void LayerWork::gathered_product(
    std::uint32_t layer, LayerPass which, const char* what, double bytes, Work& work) const {
    if (plan_.tensor_exchange == PieceExchange::kGroup) {
        const Work whole = waves(layer, which);
        const std::uint32_t pieces = pieces_of(whole);
        constexpr CollectiveKind kGather = CollectiveKind::kAllGather;
        exchange_piece(layer, what, kGather, bytes / pieces, false, work);
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            const bool last = piece + 1 == pieces;
            if (!last)
                exchange_piece(layer, what, kGather, bytes / pieces, true, work);
            add_piece(whole, piece, pieces, work);
            if (!last)
                work.push_back(JoinItem{});
        }
        return;
    }
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
    if (plan_.tensor_exchange == PieceExchange::kGroup) {
        const Work whole = waves(layer, LayerPass::kForward);
        const std::uint32_t pieces = pieces_of(whole);
        for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            add_piece(whole, piece, pieces, work);
            exchange_piece(
                layer, "output", CollectiveKind::kReduceScatter, bytes / pieces, true, work);
        }
        work.push_back(JoinItem{});
        return;
    }
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
