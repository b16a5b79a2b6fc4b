// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace switchfold {

/// Size for messages: "139.0 MiB"; small sizes in bytes.
[[nodiscard]] inline std::string in_mebibytes(std::uint64_t bytes) {
    constexpr std::uint64_t kMiB = 1U << 20U;
    return bytes < kMiB ? fmt::format("{} B", bytes)
                        : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMiB);
}

}  // namespace switchfold
