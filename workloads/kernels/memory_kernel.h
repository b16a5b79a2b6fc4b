// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

namespace switchfold {

/// A kernel that takes the time of its bytes, or of its instructions if they take longer:
/// element-wise, norm, softmax, embedding, optimizer, copy.
struct MemoryKernel {
    KernelClass kernel_class = KernelClass::kElementwise;
    double read = 0;          ///< bytes
    double written = 0;       ///< bytes
    double flops = 0;         ///< on the vector units
    double instructions = 0;  ///< of a lane, other than `flops`

    bool operator==(const MemoryKernel&) const = default;
};

/// Time and launch shape of the kernel, alone on the GPU. Throws std::invalid_argument for negative
/// bytes.
[[nodiscard]] KernelEstimate estimate(const MemoryKernel& kernel, const GpuRates& gpu);

// Bytes of common layers' kernels. `elements` counts those of the activation; `element` is the size
// of one in bytes.
[[nodiscard]] MemoryKernel element_wise(double elements, double inputs, double element);
/// Layer norm and similar: statistics and result in one pass, since a row fits an SM.
[[nodiscard]] MemoryKernel norm(double elements, double element, bool backward);
/// Layer norm of Apex (FusedLayerNorm): statistics are found number by number with a division each.
/// Backward is two kernels, for the gradients of input and weights, that both read what they need;
/// they count as one here.
[[nodiscard]] MemoryKernel apex_norm(double elements, double element, bool backward);
/// Batch norm: statistics cover the whole batch, so one pass computes them and a second reads the
/// same data again.
[[nodiscard]] MemoryKernel batch_norm(double elements, double element, bool backward);
/// Gradient of a bias on `columns` columns: sums a gradient of `elements` over its rows.
[[nodiscard]] MemoryKernel bias_gradient(double elements, double columns, double element);
/// Softmax and cross entropy over a vocabulary, computed in 32 bits.
[[nodiscard]] MemoryKernel softmax_loss(double elements, double element, bool backward);
/// Gathers rows of a table; backward scatters and adds.
[[nodiscard]] MemoryKernel embedding(double elements, double element, bool backward);
/// One fused update: reads and writes `state` bytes per parameter of moments and master weights.
[[nodiscard]] MemoryKernel
optimizer(double parameters, double weight, double gradient, double state);
[[nodiscard]] MemoryKernel copy(double bytes);
/// An element-wise kernel whose tensors do not lie alike in memory (a bias added to rows, one axis
/// exchanged with another) or differ in type: it computes the place of each element.
[[nodiscard]] MemoryKernel strided(double elements, double read, double written);

}  // namespace switchfold
