// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <string_view>

namespace switchfold {

struct ChakraOptions {
    std::filesystem::path file;
    std::uint32_t rank = 0;  ///< the files do not say
    std::uint32_t world_size = 1;
    std::uint64_t most = kMostInflated;
};

/// Reads an MLCommons Chakra execution trace (.et): protobuf nodes with dependencies. Nodes keep
/// their order as far as their start times and the dependencies give one; those on a GPU run on the
/// stream that the node names, else one for compute and one for each process group. What has no
/// duration gets one from its operations and bytes, and the report says so. Throws ConfigError:
/// duplicate ids, cycles (with the nodes' names), anything that is no Chakra.
[[nodiscard]] TraceWorkload read_chakra(const ChakraOptions& options);

/// The rank in a name as ASTRA-sim wants them, "trace.3.et"; `otherwise` if there is none.
[[nodiscard]] std::uint32_t
rank_in_name(const std::filesystem::path& file, std::uint32_t otherwise);

/// Whether a file that begins so holds Chakra's global metadata and a node.
[[nodiscard]] bool is_chakra(std::string_view beginning);

}  // namespace switchfold
