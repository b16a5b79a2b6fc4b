// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/training_params.h"
#include "training/network/network.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// The workload's network, read or computed. Paths are relative to `folder`. Throws ConfigError and
/// IoError for an unusable file.
[[nodiscard]] Network
network_of(const TrainingWorkloadParams& workload, const std::filesystem::path& folder);

/// The workload, which has no plan, with the one that its strategy stands for on this many ranks.
[[nodiscard]] TrainingWorkloadParams
with_preset(TrainingWorkloadParams workload, std::uint32_t ranks);

}  // namespace switchfold
