// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/fitting_plan.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// Options for a start file.
struct StartChoice {
    std::string name;  ///< name in reports; empty: "my_KIND"
    std::string
        workload;  ///< for an experiment: collective, kernel_beside_collective, trace, training
    std::filesystem::path system;      ///< system of the experiment, or base of a system
    std::vector<std::string> traces;   ///< for a trace workload
    std::uint32_t ranks = 8;           ///< of the trace workload
    std::string traced_on;             ///< ranks and GPUs that the traces name; may be empty
    std::string network;               ///< for a training workload
    FittingPlan plan;                  ///< of that network
    std::filesystem::path experiment;  ///< experiment that a sweep varies
    std::filesystem::path schemas;     ///< folder of configs/schema
};

/// Kinds of files to start from: "experiment", "system", "sweep".
[[nodiscard]] std::vector<std::string> start_kinds();

/// A commented file that is useful as it is. Paths are written unchanged.
[[nodiscard]] std::string start_file(const std::string& kind, const StartChoice& choice);

}  // namespace switchfold
