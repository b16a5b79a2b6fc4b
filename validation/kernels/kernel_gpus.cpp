// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/kernel_gpus.h"

#include "sim/config/load.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/kernel_model.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold::validation {

KernelGpus::KernelGpus(const std::filesystem::path& root) {
    for (const auto& file : files_in(root / "configs/systems", ".json")) {
        const SystemParams system = load_any_system(file, {});
        if (!system.has_gpus())
            continue;
        const RankGpus gpus(system);
        for (const GpuParams* gpu : gpus.kinds()) {
            const bool is_known =
                std::any_of(known_.begin(), known_.end(), [&](const Known& known) {
                    return known.rates.name == gpu->name;
                });
            if (!is_known)
                known_.push_back(
                    {machine_words(gpu->name), gpu_rates(*gpu), why_no_kernel_times(*gpu),
                     static_cast<double>(gpu->memory.hbm.peak.count())});
        }
    }
}

KernelGpus::Match KernelGpus::find(std::string_view name) const {
    const MachineWords wanted = machine_words(name);
    const Known* best = nullptr;
    int best_score = -1;
    for (const Known& known : known_) {
        const MachineWords& words = known.words;
        const bool other_form = wanted.pcie && words.pcie && *wanted.pcie != *words.pcie;
        if (wanted.gpu.empty() || words.gpu != wanted.gpu || other_form)
            continue;
        int score = 0;
        score += wanted.memory_GB && wanted.memory_GB == words.memory_GB ? 4 : 0;
        score += wanted.pcie && words.pcie ? 4 : 0;
        score += !wanted.pcie && !words.pcie.value_or(false) ? 1 : 0;
        if (score > best_score) {
            best = &known;
            best_score = score;
        }
    }
    if (best == nullptr)
        return {nullptr, fmt::format("no GPU of configs/systems is a {}", name)};
    if (!best->lacks.empty())
        return {nullptr, best->lacks};
    return {&best->rates, {}, best->memory_bandwidth};
}

}  // namespace switchfold::validation
