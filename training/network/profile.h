// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace switchfold {

/// Reads a profile written by PipeDream's profiler (graph.txt): one line per node with its
/// operator, forward and backward time in ms per batch, and bytes of its output and parameters
/// (assumed to be 4 B per element), followed by the edges. The file does not state the batch size.
/// Nodes "Input..." are inputs of the network; their loading time is ignored. Multiply-accumulates
/// are unknown: layers have measured times instead. Throws ConfigError "file: line N: ..." with all
/// problems, IoError if the file cannot be read.
[[nodiscard]] Network read_profile_graph(const std::filesystem::path& path, std::uint32_t batch);
[[nodiscard]] Network
parse_profile_graph(std::string_view text, const std::string& label, std::uint32_t batch);

}  // namespace switchfold
