// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_estimate.h"

namespace switchfold {

/// A kernel whose time its bytes decide: element-wise, norm, softmax, embedding, optimizer, copy.
struct MemoryKernel {
    KernelClass kernel_class = KernelClass::kElementwise;
    double read = 0;     ///< bytes
    double written = 0;  ///< bytes
    double flops = 0;    ///< on the vector units

    bool operator==(const MemoryKernel&) const = default;
};

/// Time and shape of the kernel, alone on the GPU; std::invalid_argument for negative bytes.
[[nodiscard]] KernelEstimate estimate(const MemoryKernel& kernel, const GpuRates& gpu);

// Bytes of the kernels of usual layers. `elements` are those of the activation, `element` its bytes
// each.
[[nodiscard]] MemoryKernel element_wise(double elements, double inputs, double element);
/// Layer norm and the like: statistics and result in one pass, since a row fits an SM.
[[nodiscard]] MemoryKernel norm(double elements, double element, bool backward);
/// Batch norm: statistics are over the whole batch, so one pass finds them and the next reads the
/// same again.
[[nodiscard]] MemoryKernel batch_norm(double elements, double element, bool backward);
/// Gradient of what was added to `columns` columns: a gradient of `elements` summed over its rows.
[[nodiscard]] MemoryKernel bias_gradient(double elements, double columns, double element);
/// Softmax and cross entropy over a vocabulary, in 32 bits inside.
[[nodiscard]] MemoryKernel softmax_loss(double elements, double element, bool backward);
/// Rows of a table, gathered; backward adds them up.
[[nodiscard]] MemoryKernel embedding(double elements, double element, bool backward);
/// One fused update: `state` bytes a parameter read and written of moments and master weights.
[[nodiscard]] MemoryKernel
optimizer(double parameters, double weight, double gradient, double state);
[[nodiscard]] MemoryKernel copy(double bytes);

}  // namespace switchfold
