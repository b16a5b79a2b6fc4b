// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/machines/machine_words.h"
#include "workloads/kernels/gpu_rates.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// The GPUs of configs/systems, for kernels on a single GPU.
class KernelGpus {
public:
    /// Reads all systems of root/configs/systems. Throws ConfigError if one is wrong.
    explicit KernelGpus(const std::filesystem::path& root);

    /// A GPU, or the reason why there is none.
    struct Match {
        const GpuRates* gpu = nullptr;
        std::string why;
        double memory_bandwidth = 0;  ///< peak, B/s
    };
    /// The GPU that a table refers to: same model and same form factor (a module if the table does
    /// not say); same memory size if available.
    [[nodiscard]] Match find(std::string_view name) const;

private:
    struct Known {
        MachineWords words;
        GpuRates rates;
        std::string lacks;
        double memory_bandwidth = 0;
    };
    std::vector<Known> known_;
};

}  // namespace switchfold::validation
