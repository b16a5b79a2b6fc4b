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

/// Where generated steps take their kernels' times from: the model, corrected by a table of
/// measured kernels if there is one.
///
/// A measured size takes exactly its time. Between measured sizes of the same type the model's time
/// is multiplied by what the table is off the model there: the mean of the neighbours' ratios, by
/// distance in the logarithms of the sides, up to a factor of 4; further away the model stands.
class KernelTimes {
public:
    /// The model alone.
    explicit KernelTimes(GpuRates gpu);
    /// Reads a table (read_kernel_table) of one GPU. Throws ConfigError also for kernels of several
    /// GPUs, a datatype that is not known and a size that is measured twice.
    KernelTimes(GpuRates gpu, const std::filesystem::path& table);
    /// `label`: what errors call the table.
    KernelTimes(GpuRates gpu, const KernelTable& table, const std::string& label);

    [[nodiscard]] KernelEstimate estimate(const MatrixProduct& product) const;
    [[nodiscard]] KernelEstimate estimate(const Attention& attention) const;
    [[nodiscard]] KernelEstimate estimate(const MemoryKernel& kernel) const;
    [[nodiscard]] const GpuRates& gpu() const { return gpu_; }

private:
    GpuRates gpu_;
    std::shared_ptr<const MeasuredTimes> measured_;  ///< none: the model alone
};

}  // namespace switchfold
