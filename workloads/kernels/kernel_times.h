// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/attention.h"
#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/memory_kernel.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

class MeasuredKernels;

/// Where generated steps take their kernels' times from: the model, corrected by a table of
/// measured kernels if there is one.
class KernelTimes {
public:
    /// The model alone.
    explicit KernelTimes(GpuRates gpu);
    /// Reads a table: CSV with a row a kernel, time_us and either m, n, k (products) or batch,
    /// sequence, heads, kv_heads, head_dim (causal attention), each with dtype; gpu is read over. A
    /// measured size takes exactly its time; between measured sizes the model's time is multiplied
    /// by what the table is off the model nearby. Throws ConfigError "file: line N: what; what was
    /// expected" with everything that is wrong.
    KernelTimes(GpuRates gpu, const std::filesystem::path& table);

    [[nodiscard]] KernelEstimate estimate(const MatrixProduct& product) const;
    [[nodiscard]] KernelEstimate estimate(const Attention& attention) const;
    [[nodiscard]] KernelEstimate estimate(const MemoryKernel& kernel) const;
    [[nodiscard]] const GpuRates& gpu() const { return gpu_; }

private:
    GpuRates gpu_;
    std::shared_ptr<const MeasuredKernels> measured_;  ///< none: the model alone
};

}  // namespace switchfold
