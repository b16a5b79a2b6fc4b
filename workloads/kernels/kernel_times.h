// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/kernels/attention.h"
#include "workloads/kernels/gpu_rates.h"
#include "workloads/kernels/kernel_table.h"
#include "workloads/kernels/matrix_product.h"
#include "workloads/kernels/memory_kernel.h"

#include <filesystem>
#include <memory>
#include <string>

namespace switchfold {

class MeasuredTimes;

/// Source of kernel times for generated steps, in which the GPU is at its power limit: the model,
/// corrected by a table of measured kernels if given.
/// A measured size takes its measured time. Near measured sizes of the same type, the model's time
/// is multiplied by the neighbours' mean ratio of measured to modelled time, weighted by distance
/// in the logarithms of the dimensions, up to a factor of 4. Farther away the model is used
/// unchanged.
class KernelTimes {
public:
    /// The model alone.
    explicit KernelTimes(GpuRates gpu);
    /// Reads the table (read_kernel_table) of one GPU. Also throws ConfigError for kernels of
    /// several GPUs, an unknown datatype and a duplicate size.
    KernelTimes(GpuRates gpu, const std::filesystem::path& table);
    /// `label`: name of the table in error messages.
    KernelTimes(GpuRates gpu, const KernelTable& table, const std::string& label);

    [[nodiscard]] KernelEstimate estimate(const MatrixProduct& product) const;
    [[nodiscard]] KernelEstimate estimate(const Attention& attention) const;
    [[nodiscard]] KernelEstimate estimate(const MemoryKernel& kernel) const;
    [[nodiscard]] const GpuRates& gpu() const { return gpu_; }

private:
    GpuRates gpu_;
    std::shared_ptr<const MeasuredTimes> measured_;  ///< null: the model alone
};

}  // namespace switchfold
