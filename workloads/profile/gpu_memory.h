// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace switchfold {

/// Peak memory bandwidth (bytes per second) of a GPU by the name that torch, nvidia-smi and
/// rocm-smi print ("NVIDIA A100-SXM4-80GB", "AMD Instinct MI300X"); nothing if unknown.
/// `memory_bytes` tells variants of one name apart; 0: unknown.
[[nodiscard]] std::optional<double>
peak_bandwidth(std::string_view gpu_name, std::uint64_t memory_bytes);

}  // namespace switchfold
