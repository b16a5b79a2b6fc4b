// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace switchfold::capture {

/// ns since the clock's start.
inline std::uint64_t now_ns(clockid_t clock) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// The clock of all records: CLOCK_MONOTONIC, the same for every process of a machine.
inline std::uint64_t clock_ns() {
    return now_ns(CLOCK_MONOTONIC);
}

}  // namespace switchfold::capture
