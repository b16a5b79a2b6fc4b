// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/parameters.h"

#include <fmt/format.h>

namespace switchfold {

void CollectiveParams::check(ParamChecker& checker) const {
    // What a thread loads and stores at once: no element lies in two pieces.
    constexpr std::uint64_t kVector = 16;
    if (transfer_unit.count() % kVector != 0)
        checker.error(
            "/transfer_unit",
            fmt::format("is {}; expected a multiple of {} B", to_string(transfer_unit), kVector));
    if (ll.threads_start > launch_latency)
        checker.error(
            "/ll/threads_start",
            fmt::format(
                "is {}; expected at most launch_latency, {}",
                to_string(ll.threads_start),
                to_string(launch_latency)));
    if (ll.threads_hop > ll.hop_overhead)
        checker.error(
            "/ll/threads_hop",
            fmt::format(
                "is {}; expected at most hop_overhead, {}",
                to_string(ll.threads_hop),
                to_string(ll.hop_overhead)));
}

}  // namespace switchfold
