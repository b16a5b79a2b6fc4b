// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/workload/plan_workload.h"
#include "training/network/network.h"

#include <filesystem>
#include <optional>
#include <set>
#include <vector>

namespace switchfold {

/// prepare_plan() in three calls, in this order. One does nothing if an earlier one found problems.
/// A placement divides a network by what its parts take: for it the last call does everything.
class PlanPreparation {
public:
    /// `gpus` must outlive it.
    PlanPreparation(
        TrainingWorkloadParams workload, const RankGpus& gpus, std::filesystem::path folder,
        MemoryCheck check);

    /// Layers, and what their kernels take on each kind of GPU.
    void network();
    /// Who does what: stages, micro-batches, replicas.
    void plan();
    /// What each device runs and holds.
    void tasks();

    /// Their pointers are relative to the plan.
    [[nodiscard]] const PlanProblems& problems() const { return problems_; }
    /// \pre no problems
    [[nodiscard]] PreparedPlan take() { return std::move(prepared_); }

private:
    [[nodiscard]] bool goes_on() const { return problems_.empty() && !params().placement; }
    [[nodiscard]] const PlanParams& params() const { return *workload_.plan; }
    [[nodiscard]] const GpuParams& first_gpu() const { return *gpus_.kinds()[*kinds_.begin()]; }
    [[nodiscard]] const KernelTimes& first_times() const { return *times_[*kinds_.begin()]; }
    [[nodiscard]] bool divides() const { return params().global_batch > 0 || kinds_.size() > 1; }
    [[nodiscard]] TrainingWorkloadParams with_equal_shares();
    void divide();
    void choose_memory();

    TrainingWorkloadParams workload_;
    const RankGpus& gpus_;
    std::filesystem::path folder_;
    MemoryCheck check_;
    PlanProblems problems_;
    std::set<std::uint32_t> kinds_;
    std::vector<std::optional<KernelTimes>> times_;
    Network network_;
    ParallelPlan plan_;
    PreparedPlan prepared_;
};

}  // namespace switchfold
