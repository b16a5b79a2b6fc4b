// SPDX-License-Identifier: Apache-2.0
#include "validation/kernels/kernel_gpus.h"

#include "core/text.h"
#include "sim/config/load.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/kernel_model.h"
#include "validation/machines/machine_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <system_error>

namespace switchfold::validation {

GpuWords gpu_words(std::string_view name) {
    const MachineWords words = machine_words(name);
    GpuWords gpu{words.gpu, words.pcie, std::nullopt};
    static const std::regex kMemory(R"(\b(\d{1,3}) ?GI?B\b)");
    std::smatch found;
    const std::string all = upper(name);
    if (std::regex_search(all, found, kMemory))
        gpu.gigabytes = static_cast<std::uint32_t>(std::stoul(found[1].str()));
    return gpu;
}

KernelGpus::KernelGpus(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(root / "configs/systems", error))
        if (entry.path().extension() == ".json")
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
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
                    {gpu_words(gpu->name), gpu_rates(*gpu), why_no_kernel_times(*gpu),
                     static_cast<double>(gpu->memory.hbm.peak.count())});
        }
    }
}

KernelGpus::Match KernelGpus::find(std::string_view name) const {
    const GpuWords wanted = gpu_words(name);
    const Known* best = nullptr;
    int best_score = -1;
    for (const Known& known : known_) {
        const GpuWords& words = known.words;
        const bool other_form = wanted.pcie && words.pcie && *wanted.pcie != *words.pcie;
        if (wanted.model.empty() || words.model != wanted.model || other_form)
            continue;
        int score = 0;
        score += wanted.gigabytes && wanted.gigabytes == words.gigabytes ? 4 : 0;
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
