// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

struct LinkStatistics {
    std::uint64_t packets = 0;
    std::uint64_t payload_bytes = 0;
    std::uint64_t wire_bytes = 0;
    std::uint64_t blocked_packets = 0;
    std::uint64_t peak_waiting = 0;
    std::uint64_t replays = 0;
    Time replay_time;
    static constexpr auto statistics() {
        using S = LinkStatistics;
        return list_of(
            statistic("packets", &S::packets, Unit::kCount, "Packets carried."),
            statistic(
                "payload_bytes", &S::payload_bytes, Unit::kBytes,
                "Data carried, without headers, requests and acknowledgements."),
            statistic(
                "wire_bytes", &S::wire_bytes, Unit::kBytes, "Everything that occupied the wire."),
            statistic(
                "blocked_packets", &S::blocked_packets, Unit::kCount,
                "Packets that had to wait for credits."),
            peak_statistic(
                "peak_waiting", &S::peak_waiting, Unit::kCount,
                "Most packets that waited for credits at the same time."),
            statistic(
                "replays", &S::replays, Unit::kCount,
                "Retransmissions of the link layer after a bit error."),
            statistic("replay_us", &S::replay_time, Unit::kMicroseconds, "Wire time of replays."));
    }
};

}  // namespace switchfold
