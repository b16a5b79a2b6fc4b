// SPDX-License-Identifier: Apache-2.0
#include "sim/results/host_clock.h"

#include <algorithm>
#include <cstdint>

#include <sys/resource.h>

namespace switchfold {

void HostClock::tell(HostResult& out) const {
    const auto end = std::chrono::steady_clock::now();
    out.wall_s = std::chrono::duration<double>(end - begin_).count();
    rusage own{};
    rusage children{};
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    constexpr std::uint64_t kKibi = 1024;
    out.peak_rss_bytes =
        static_cast<std::uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss)) * kKibi;
}

}  // namespace switchfold
