// SPDX-License-Identifier: Apache-2.0
// Layers that are bound by memory traffic.
#include "training/plan/step/kept_tensors.h"
#include "training/plan/step/layer_work.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/kernel_constants.h"
#include "workloads/kernels/memory_kernel.h"

#include <algorithm>
#include <string>

namespace switchfold {

namespace {

bool is_norm(const Layer& layer) {
    return layer.type.find("norm") != std::string::npos;
}

}  // namespace

void LayerWork::other(std::uint32_t layer, bool backward, Work& work) const {
    const Layer& l = network_.layers[layer];
    if (is_fused_gate(layer))
        return;
    if (l.type == "softmax_loss" && plan_.loss == LossKernels::kUnfused)
        return unfused_loss(layer, backward, work);
    if (l.type == "softmax_loss" && plan_.loss == LossKernels::kEager)
        return eager_loss(layer, backward, work);
    // A rank sorts its own tokens before those of the others arrive.
    const bool orders = l.type == "dispatch" && plan_.sequence;
    const double out = out_elements(layer) / (orders ? plan_.tensor : 1);
    const double in = in_elements(layer);
    const char* what = backward ? "backward" : "forward";
    MemoryKernel k;
    if (is_norm(l)) {
        const bool apex = plan_.norm == NormKernels::kApex;
        k = l.type == "batchnorm" ? batch_norm(out, element_, backward)
            : apex                ? apex_norm(out, element_, backward)
                                  : norm(out, element_, backward);
        if (!backward && rounded_[layer].norm)
            k.written -= out * (element_ - rounded_element());
    } else if (l.type == "softmax_loss") {
        k = softmax_loss(out, element_, backward);
    } else if (l.type == "embedding") {
        k = embedding(out, element_, backward);
        if (backward && l.in_elements > 1) {
            dense_table(layer, k, work);
            return;
        }
    } else {
        // Forward reads inputs and writes outputs; a slice reads what it writes. Backward reads the
        // output's gradient and the tensors kept (none for pools, sums, slices), and writes the
        // input's gradient.
        const bool moves = l.type == "concat" || l.type == "slice";
        k.kernel_class = moves ? KernelClass::kCopyLayout : KernelClass::kElementwise;
        k.read = (backward ? out + (keeps_nothing(l) ? 0 : std::max(in, out))
                  : moves  ? out
                           : in) *
                 element_;
        k.written = (backward ? in : out) * element_;
        const bool drops = l.type == "add" && plan_.residual_dropout;
        if (!backward && drops) {
            k.written += out;  // the mask
            k.instructions = kernel_constants::kRandomNumber * out;
        }
        if (backward && drops) {
            MemoryKernel dropout;
            dropout.kernel_class = KernelClass::kElementwise;
            dropout.read = out * (element_ + 1);
            dropout.written = out * element_;
            kernel(layer, "dropout backward", times_.estimate(dropout), work);
        }
        if (backward && l.type == "add") {
            // The gradient is passed on unchanged; where two meet, one is added to the other.
            k.read = 2 * out * element_;
            k.written = out * element_;
        }
    }
    kernel(layer, what, times_.estimate(k), work);
}

/// The gradient of an embedding table is as large as the table (PyTorch, unless the layer is
/// `sparse`, as tables with one word per sample are): it is zeroed, then the rows are added. No
/// product computes it, so a kernel adds it to gradients of another type or of earlier
/// micro-batches.
void LayerWork::dense_table(std::uint32_t layer, MemoryKernel rows, Work& work) const {
    const double table = parameters(layer);
    rows.written += table * element_;
    kernel(layer, "backward", times_.estimate(rows), work);
    const double gradient = element_bytes(plan_.gradient);
    const bool once = plan_.accumulate == 1 && gradient == element_;
    if (table == 0 || once || plan_.accumulation == GradientSums::kSeparate)
        return;
    MemoryKernel sum;
    sum.read = table * (element_ + gradient);
    sum.written = table * gradient;
    sum.flops = table;
    kernel(layer, "accumulate gradients", times_.estimate(sum), work);
}

/// A norm over the width of all heads needs the squares of those of other ranks: a number a token.
void LayerWork::sum_of_squares(std::uint32_t layer, Work& work) const {
    const Layer& l = network_.layers[layer];
    if (plan_.tensor == 1 || !is_norm(l) || l.split != TensorSplit::kHeads ||
        l.out_shape.size() != 2 || l.parameters != l.out_shape.back())
        return;
    const double tokens =
        static_cast<double>(l.out_shape.front()) * plan_.micro_batch / plan_.context;
    collective(
        layer, "squares", CollectiveKind::kAllReduce, kSingleBytes * tokens, Sharing::kTensor,
        work);
}

}  // namespace switchfold
