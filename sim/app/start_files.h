// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// What a start file is made of.
struct StartChoice {
    std::string name;                  ///< what reports call it; empty: "my_KIND"
    std::string workload;              ///< of an experiment: collective, trace, training
    std::filesystem::path system;      ///< that it runs on, or that a system begins from
    std::vector<std::string> traces;   ///< of a trace workload
    std::string network;               ///< of a training workload
    std::filesystem::path experiment;  ///< that a sweep varies
    std::filesystem::path schemas;     ///< folder of configs/schema
};

/// Kinds of files to start from: "experiment", "system", "sweep".
[[nodiscard]] std::vector<std::string> start_kinds();

/// A file with comments that does something useful as it stands. Paths are written as they are.
[[nodiscard]] std::string start_file(const std::string& kind, const StartChoice& choice);

}  // namespace switchfold
