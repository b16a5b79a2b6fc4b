// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/described_machine.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// A system's file for a machine that describes itself: what its tools say, over the shipped system
/// with its GPUs and the same kind of links, which has what they do not. `gpu`: the GPUs' name
/// where the description has none. `from`: what the marks call the description. Throws ConfigError
/// if no shipped system is like it.
struct SystemChoice {
    std::string name;
    std::string gpu;
    std::string from;
    std::filesystem::path schemas;
    std::filesystem::path folder;  ///< of the file to write
    bool whole = false;            ///< others name its topology alone
};
[[nodiscard]] std::string
described_system(const DescribedMachine& machine, const SystemChoice& choice);

/// What a cluster's file says beside that of one of its machines.
struct ClusterChoice {
    std::vector<std::filesystem::path> files;  ///< one a machine
    std::filesystem::path machine;             ///< the machine's file, in the cluster's folder
};
/// The file of a cluster of equal machines, over the shipped cluster with their GPUs whose network
/// is as fast as their interfaces. Throws ConfigError where a machine is unlike the first, and if
/// no shipped cluster has such GPUs.
[[nodiscard]] std::string described_cluster(
    const std::vector<DescribedMachine>& machines, const ClusterChoice& cluster,
    const SystemChoice& choice);

}  // namespace switchfold
