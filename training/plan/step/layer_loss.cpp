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

}  // namespace switchfold
