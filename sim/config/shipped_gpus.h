// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a trace states about its GPU.
struct StatedGpu {
    std::string name;          ///< as torch and nvidia-smi print it
    std::uint32_t sms = 0;     ///< 0: not stated
    std::uint64_t memory = 0;  ///< bytes; 0: not stated
};

/// The word that tells a GPU's model, as traces and systems both write it: A100, MI300X, 4090.
[[nodiscard]] std::string_view gpu_model(std::string_view name);

/// Whether a description is of the stated GPU: same model, SMs, and memory within a quarter.
[[nodiscard]] bool describes(const GpuParams& gpu, const StatedGpu& stated);

/// The GPU descriptions of the folder configs/systems/gpus above `file`, or else above the program;
/// none if neither exists. Throws ConfigError if one is wrong.
[[nodiscard]] std::vector<GpuParams> shipped_gpus(const std::filesystem::path& file);

/// Of those that describe it, the one whose name has most of the stated name's words.
[[nodiscard]] std::optional<GpuParams>
best_description(const std::vector<GpuParams>& gpus, const StatedGpu& stated);

}  // namespace switchfold
