// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/access/access_schedule.h"

#include <cstdint>
#include <filesystem>

namespace switchfold::validation {

inline constexpr std::uint64_t kPage = 4096;

/// Files of G10's profiles, and what they leave open.
struct G10Profile {
    std::filesystem::path network;     ///< operators: id, name, inputs and their sizes
    std::filesystem::path kernels;     ///< "NUMBER TIME ms" by kernel
    std::filesystem::path workspaces;  ///< "NUMBER BYTES B" by kernel
    std::uint32_t batch = 1;
    std::uint32_t weights_below = 0;  ///< tensors with lower ids are weights
};

/// A training step as G10's front end writes it (platformxlab/G10): a forward kernel an operator, a
/// kernel that makes the gradient of the loss, and of each operator backwards the sum of its
/// output's gradients, its own kernels, and an update of its weights right behind them. Tensors are
/// whole pages. A workspace is scratch, as is what no kernel reads. The kernel of the loss is the
/// first step of the backward pass. Throws ConfigError "file: line N: what; what was expected",
/// IoError if a file cannot be read.
[[nodiscard]] AccessSchedule read_g10_step(const G10Profile& profile);

}  // namespace switchfold::validation
