// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/layer_work.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/kernels/memory_kernel.h"

namespace switchfold {

/// Each operator reads its inputs from memory and writes its result there.
void LayerWork::unfused_loss(std::uint32_t layer, bool backward, Work& work) const {
    const double out = out_elements(layer);
    const auto pass = [&](const char* what, double read, double written) {
        MemoryKernel k;
        k.kernel_class = written > 0 ? KernelClass::kElementwise : KernelClass::kReduction;
        k.read = read * out;
        k.written = written * out;
        k.flops = out;
        kernel(layer, what, times_.estimate(k), work);
    };
    // With a number of each row, or to another type.
    const auto placed = [&](const char* what, double read, double written) {
        kernel(layer, what, times_.estimate(strided(out, read * out, written * out)), work);
    };
    const bool casts = element_ < kSingleBytes;
    if (!backward) {
        if (casts)
            placed("to 32 bits", element_, kSingleBytes);
        pass("largest", kSingleBytes, 0);
        placed("less the largest", kSingleBytes, kSingleBytes);
        pass("exponentials", kSingleBytes, kSingleBytes);
        pass("sum", kSingleBytes, 0);
        placed("probabilities", kSingleBytes, kSingleBytes);
        return;
    }
    placed("gradient", kSingleBytes, kSingleBytes);
    if (casts)
        placed("to 16 bits", kSingleBytes, element_);
}

double LayerWork::loss_workspace(std::uint32_t layer) const {
    const bool eager =
        plan_.loss == LossKernels::kEager && network_.layers[layer].type == "softmax_loss";
    return eager ? 2 * kSingleBytes * out_elements(layer) : 0;
}

/// PyTorch: logits to 32 bits, log_softmax (two passes over a row that no cache holds), nll_loss of
/// one number a row. Backward: nll_loss zeroes a gradient and writes a number a row, log_softmax
/// reads it and its own result and writes another one, which goes to 16 bits.
void LayerWork::eager_loss(std::uint32_t layer, bool backward, Work& work) const {
    const double out = out_elements(layer);
    const auto pass = [&](const char* what, KernelClass kind, double read, double written) {
        MemoryKernel k;
        k.kernel_class = kind;
        k.read = read * out;
        k.written = written * out;
        k.flops = out;
        kernel(layer, what, times_.estimate(k), work);
    };
    const bool casts = element_ < kSingleBytes;
    if (!backward) {
        if (casts)
            pass("to 32 bits", KernelClass::kElementwise, element_, kSingleBytes);
        pass("log_softmax", KernelClass::kReduction, 2 * kSingleBytes, kSingleBytes);
        return;
    }
    pass("nll_loss backward", KernelClass::kElementwise, 0, kSingleBytes);
    pass("log_softmax backward", KernelClass::kReduction, 2 * kSingleBytes, kSingleBytes);
    if (casts)
        pass("to 16 bits", KernelClass::kElementwise, kSingleBytes, element_);
}

}  // namespace switchfold
