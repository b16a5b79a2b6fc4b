// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace switchfold {

/// ASTRA-sim's inputs, as its program takes them.
struct AstraSimInputs {
    std::filesystem::path system;
    std::filesystem::path network;
    std::filesystem::path workload;  ///< graphs are WORKLOAD.0.et and so on
    std::filesystem::path groups;    ///< empty: none
    std::filesystem::path configs;
    std::filesystem::path folder;  ///< of the experiment's file
    /// Where programs along dimensions go, without `.all_reduce.json` and the like; empty: nowhere.
    std::filesystem::path programs;
};
struct AstraSimExperiment {
    std::string text;
    std::map<std::filesystem::path, std::string> programs;  ///< text of the files beside it
};
/// An experiment like them, with a list of what has no counterpart. Throws ConfigError.
[[nodiscard]] AstraSimExperiment experiment_of_astra_sim(const AstraSimInputs& inputs);

}  // namespace switchfold
