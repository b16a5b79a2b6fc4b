// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <unistd.h>

namespace switchfold {

/// Bytes of memory of the machine that this program runs on.
[[nodiscard]] inline std::uint64_t physical_memory() {
    return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace switchfold
