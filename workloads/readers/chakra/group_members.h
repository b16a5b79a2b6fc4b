// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/trace_workload.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::chakra {

/// Ranks of process groups by name, ascending.
using GroupMembers = std::map<std::string, std::vector<std::uint32_t>>;

/// Whether comm_size is a rank's part of what nccl-tests counts.
[[nodiscard]] constexpr bool told_by_part(CollectiveKind kind) {
    return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kGather ||
           kind == CollectiveKind::kScatter;
}

/// Whether a file that begins with these bytes says which ranks process groups hold, as STAGE and
/// ASTRA-sim write it beside Chakra traces: {"1": [0, 1], "2": [0, 2]}.
[[nodiscard]] bool is_group_members(std::string_view beginning);
/// Throws ConfigError.
[[nodiscard]] GroupMembers read_group_members(const std::filesystem::path& file);

/// Names the members of groups that no file does (those without ranks): the ranks that use a group
/// if all ranks of the run are traced, otherwise all ranks. The reports say so. All-gathers become
/// as large as their members' parts together. Throws ConfigError if one becomes too large.
void complete_groups(TraceWorkload& workload);

}  // namespace switchfold::chakra
