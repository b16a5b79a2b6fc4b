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
    const auto at_most = [&](const char* pointer, Time value, Time limit, const char* what) {
        if (value > limit)
            checker.error(
                pointer,
                fmt::format(
                    "is {}; expected at most {} ({})", to_string(value), to_string(limit), what));
    };
    at_most("/ll/threads_start", ll.threads_start, launch_latency, "launch_latency");
    at_most("/ll/threads_hop", ll.threads_hop, ll.hop_overhead, "hop_overhead");
    constexpr const char* kWhole = "only blocks of LL run with fewer threads";
    at_most("/ll128/threads_start", ll128.threads_start, Time(), kWhole);
    at_most("/ll128/threads_hop", ll128.threads_hop, Time(), kWhole);
    at_most("/simple/threads_start", simple.threads_start, Time(), kWhole);
    at_most("/simple/threads_hop", simple.threads_hop, Time(), kWhole);
    constexpr const char* kSlices = "LL and LL128 have no slices";
    at_most("/ll/slices_hop", ll.slices_hop, Time(), kSlices);
    at_most("/ll128/slices_hop", ll128.slices_hop, Time(), kSlices);
    constexpr const char* kElements = "only blocks of LL store element by element";
    at_most("/ll128/hidden_stores", ll128.hidden_stores, Time(), kElements);
    at_most("/simple/hidden_stores", simple.hidden_stores, Time(), kElements);
    const auto none = [&](const char* pointer, Bandwidth value, const char* why) {
        if (value != Bandwidth())
            checker.error(pointer, fmt::format("is {}; expected 0 ({})", to_string(value), why));
    };
    constexpr const char* kOneByOne = "only LL stores single bytes";
    none("/ll128/byte_stores", ll128.byte_stores, kOneByOne);
    none("/simple/byte_stores", simple.byte_stores, kOneByOne);
    constexpr const char* kRounds = "LL and LL128 have rounds of their own";
    none("/ll/load_store_rate", ll.load_store_rate, kRounds);
    none("/ll128/load_store_rate", ll128.load_store_rate, kRounds);
    if (simple.load_store_rate != Bandwidth() &&
        simple.load_store_rate.count() <= 2 * simple.block_rate.count())
        checker.error(
            "/simple/load_store_rate",
            fmt::format(
                "is {}; expected more than twice block_rate, {}", to_string(simple.load_store_rate),
                to_string(simple.block_rate)));
}

}  // namespace switchfold
