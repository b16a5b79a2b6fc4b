// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/input/input_file.h"

#include <filesystem>
#include <string_view>

namespace switchfold {

struct ChakraOptions {
    std::filesystem::path file;
    std::uint32_t rank = 0;  ///< the files do not state it
    std::uint32_t world_size = 1;
    std::uint64_t most = kMostInflated;
    chakra::GroupMembers groups;  ///< of a file beside the traces
};

/// Reads an MLCommons Chakra execution trace (.et): protobuf nodes with dependencies. Nodes are
/// ordered by start time and dependencies as far as these are given. GPU nodes run on the stream
/// that they name, or else on one stream for compute and one per process group. A node without a
/// duration gets one from its operations and bytes, and the report says so. Groups of unknown
/// members have no ranks yet (complete_groups()). Throws ConfigError for
/// duplicate ids, cycles (with the nodes' names) and anything that is not Chakra.
[[nodiscard]] TraceWorkload read_chakra(const ChakraOptions& options);

/// The rank in a file name in ASTRA-sim's style, "trace.3.et"; `otherwise` if there is none.
[[nodiscard]] std::uint32_t
rank_in_name(const std::filesystem::path& file, std::uint32_t otherwise);

/// Whether a file that begins with these bytes holds Chakra's global metadata and a node.
[[nodiscard]] bool is_chakra(std::string_view beginning);

}  // namespace switchfold
