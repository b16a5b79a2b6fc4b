// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/csv.h"
#include "validation/machines/machines.h"
#include "workloads/network/network.h"
#include "workloads/plan/step/parallel_plan.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A measured step of training.
struct StepRow {
    std::string id;
    std::string source;  ///< up to its first comma: whose rows are told together
    std::string gpu;
    std::string interconnect;
    std::uint32_t gpus = 0;
    std::uint32_t nodes = 1;
    double samples = 0;  ///< of a step
    double seconds = 0;  ///< of a step, where it is stated
    double memory = 0;   ///< bytes of the fullest GPU; 0: not stated
    double tflops = 0;   ///< a GPU and second, as the source counts them; 0: not stated
    double speedup = 0;  ///< 0: not stated
    /// What the speed-up is over.
    enum class Over : std::uint8_t { kOther, kOneGpu, kDataParallel } over = Over::kOther;
    /// Of a pipeline that is never drained: devices of each stage; empty: a planner's choice.
    std::vector<std::uint32_t> stages;
    bool chosen = false;  ///< `stages` or data parallelism was its planner's choice
    std::optional<switchfold::Network> network;  ///< empty: `why`
    ParallelPlan plan;
    /// The file of configs/launches that its framework takes after; empty: its kernels need no call
    /// each.
    std::string launches;
    std::string why;  ///< why it cannot be generated; empty if it can
};

/// Reads rows of measured steps (docs/validation.md has the columns). Throws ConfigError "file:
/// line N: ..." with everything that is wrong.
[[nodiscard]] std::vector<StepRow> read_step_rows(const std::filesystem::path& path);
/// The same of a table that errors call `label`.
[[nodiscard]] std::vector<StepRow> step_rows(const CsvTable& table, const std::string& label);

/// The machine that a row was measured on, if it has one whose kernels can be timed.
[[nodiscard]] MachineMatch machine_of(const StepRow& row, const Machines& machines);

}  // namespace switchfold::validation
