// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// A measured step of training.
struct StepRow {
    std::string id;
    std::string source;  ///< up to its first comma; results are grouped by it
    std::string gpu;
    std::string interconnect;
    std::uint32_t gpus = 0;
    std::uint32_t nodes = 1;
    double samples = 0;  ///< per step
    double seconds = 0;  ///< per step, if stated
    double memory = 0;   ///< bytes of the fullest GPU; 0: not stated
    double tflops = 0;   ///< per GPU and second, as counted by the source; 0: not stated
    double speedup = 0;  ///< 0: not stated
    /// What the speed-up is relative to.
    enum class Over : std::uint8_t { kOther, kOneGpu, kDataParallel } over = Over::kOther;
    /// For a pipeline that is never drained: devices of each stage; empty: chosen by a planner.
    std::vector<std::uint32_t> stages;
    bool chosen = false;  ///< `stages` or data parallelism was chosen by the source's planner
    std::optional<switchfold::Network> network;  ///< empty: see `why`
    ParallelPlan plan;
    std::string why;      ///< reason why it cannot be generated; empty if it can
    bool unread = false;  ///< its line is wrong; `why` says how
};

/// Reads rows of measured steps (docs/validation.md lists the columns), whose plans the map in the
/// repository `root` makes. Throws ConfigError "file: line N: ..." with all problems if the header
/// is wrong or no row can be read.
[[nodiscard]] std::vector<StepRow>
read_step_rows(const std::filesystem::path& path, const std::filesystem::path& root);
/// The same for a table that errors call `label`.
[[nodiscard]] std::vector<StepRow>
step_rows(const CsvTable& table, const std::string& label, const std::filesystem::path& root);

/// The machine that a row was measured on, if kernel times are available for it.
[[nodiscard]] MachineMatch machine_of(const StepRow& row, const Machines& machines);

}  // namespace switchfold::validation
