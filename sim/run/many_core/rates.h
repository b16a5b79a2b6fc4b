// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/coprocessor/processor_params.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// Reads a processor's file. Throws ConfigError.
[[nodiscard]] ProcessorParams load_processor(const std::filesystem::path& file);

/// The kernels of STREAM: arrays that are read, and one that is written without being read.
enum class StreamKernel : std::uint8_t { kCopy, kScale, kAdd, kTriad };

/// Bytes a second, as STREAM counts them, of arrays of so many 64-bit numbers.
[[nodiscard]] double stream_rate(
    const ProcessorParams& processor,
    StreamKernel kernel,
    std::uint32_t cores,
    std::uint32_t threads_per_core,
    std::uint64_t elements);

/// Operations a second of vectors on all cores with so many threads each, nothing else.
[[nodiscard]] double
arithmetic_rate(const ProcessorParams& processor, std::uint32_t threads_per_core);

}  // namespace switchfold
