// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// Reads a processor's file. Throws ConfigError.
[[nodiscard]] ProcessorParams load_processor(const std::filesystem::path& file);

/// The STREAM kernels: the result is written without being read.
enum class StreamKernel : std::uint8_t { kCopy, kScale, kAdd, kTriad };

/// Bytes per second as counted by STREAM, for arrays of this many 64-bit numbers.
[[nodiscard]] double stream_rate(
    const ProcessorParams& processor, StreamKernel kernel, std::uint32_t cores,
    std::uint32_t threads_per_core, std::uint64_t elements);

/// Vector operations per second on all cores with this many threads each, without memory accesses.
[[nodiscard]] double
arithmetic_rate(const ProcessorParams& processor, std::uint32_t threads_per_core);

}  // namespace switchfold
