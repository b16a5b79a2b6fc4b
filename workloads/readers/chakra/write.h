// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// What was written, and what graphs of Chakra cannot say of it.
struct WrittenChakra {
    std::vector<std::filesystem::path> graphs;  ///< PREFIX.RANK.et, one a rank
    std::filesystem::path groups;               ///< empty: all collectives are of all ranks
    std::vector<std::string> notes;             ///< a sentence each
};

/// Writes a graph of MLCommons Chakra for each rank, and PREFIX.groups.json with the ranks of
/// process groups, as ASTRA-sim reads both. A predecessor on the same stream is a dependency, a
/// wait that no dependency explains a node of the host; times are whole microseconds, whose
/// rounding does not add up. Throws IoError, and ConfigError (with the trace's name) for what the
/// format cannot hold.
[[nodiscard]] WrittenChakra
write_chakra(const TraceWorkload& workload, const std::filesystem::path& prefix);

}  // namespace switchfold
