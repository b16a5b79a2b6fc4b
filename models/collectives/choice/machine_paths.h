// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace switchfold {

/// Members of one machine in the order in which a ring over several machines passes them.
using MachinePath = std::vector<std::uint32_t>;

/// Paths of `count` channels through a machine, each one of its rings cut open. `rails`: NICs that
/// its members use. Where every member has a NIC, no member begins or ends more paths than another,
/// so that channels share all NICs alike; RCCL's tables for meshes of eight GPUs do the same
/// (graph/rome_models.cc). Where one ring too few exists for that (a full mesh: each ring takes one
/// link out of every member), the cut links are themselves the last path.
[[nodiscard]] std::vector<MachinePath>
paths_through(const std::vector<MachinePath>& rings, std::size_t count, std::size_t rails);

}  // namespace switchfold
