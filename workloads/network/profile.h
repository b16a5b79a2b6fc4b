// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/network.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// Reads a profile as PipeDream's profiler writes it (graph.txt): a line a node with its operator,
/// forward and backward time in ms of a batch, and bytes of its output and parameters, which are
/// taken to be of 4 B an element; then the edges. The batch is in no such file. Nodes "Input..."
/// are inputs of the network, and what loads their data takes no time here. Multiply-accumulates
/// are not known: layers have their measured times instead. Throws ConfigError "file: line N: ..."
/// with everything that is wrong, IoError if it cannot be read.
[[nodiscard]] Network read_profile_graph(const std::filesystem::path& path, std::uint32_t batch);
[[nodiscard]] Network
parse_profile_graph(std::string_view text, const std::string& label, std::uint32_t batch);

}  // namespace switchfold
