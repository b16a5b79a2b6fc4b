// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/access/tensor_uses.h"
#include "training/plan/step/recomputed_layers.h"
#include "training/plan/step/stage_work.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace switchfold {

/// Bytes of sharded weights that are gathered at a time on a device with these stages: two blocks,
/// of which one computes while the next one is gathered.
[[nodiscard]] double gathered_bytes(const StageWork& work, const std::set<std::uint32_t>& stages);

/// The gathers before access steps of a whole network, by kind of step and layer. `again`: layers
/// that are repeated.
using Gathers = std::map<std::pair<UseKind, std::uint32_t>, GatherItem>;
[[nodiscard]] Gathers gathers_of(const StageWork& work, const std::vector<LayerRange>& again);

}  // namespace switchfold
