// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/profile/raw_trace.h"

#include <cstdint>
#include <map>
#include <string>

namespace switchfold {

/// Takes what a Kineto trace states beside its events (`values`: raw JSON by key): the GPU with the
/// kernels' `device` number, the rank, the world's size and the process groups. Throws ConfigError.
void read_header(
    const std::map<std::string, std::string>& values, std::uint64_t device, RawTrace& raw);

/// The least number of ranks that the collectives' groups need.
[[nodiscard]] std::uint32_t largest_world(const RawTrace& raw);

}  // namespace switchfold
