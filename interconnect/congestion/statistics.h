// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "core/units.h"

#include <cstdint>

namespace switchfold {

/// What congestion did to a link of the network between machines.
struct CongestedLinkStatistics {
    std::uint64_t marked = 0;
    std::uint64_t rerouted = 0;
    std::uint64_t lost = 0;
    std::uint64_t pauses = 0;
    Time paused;
    std::uint64_t peak_queue = 0;
    static constexpr auto statistics() {
        using S = CongestedLinkStatistics;
        return list_of(
            statistic("marked", &S::marked, Unit::kCount, "Packets that met a long queue for it."),
            statistic(
                "rerouted", &S::rerouted, Unit::kCount,
                "Packets that took it in place of the path of their number."),
            statistic(
                "lost", &S::lost, Unit::kCount,
                "Packets lost on their way, or thrown away behind a lost one, counted at their "
                "last link of the network."),
            statistic("pauses", &S::pauses, Unit::kCount, "Times that its far end stopped it."),
            statistic(
                "paused_us", &S::paused, Unit::kMicroseconds,
                "For how long, of all virtual channels."),
            peak_statistic(
                "peak_queue", &S::peak_queue, Unit::kBytes,
                "Most bytes that a packet found before it at this output."));
    }
};

/// What congestion did to what one GPU sends to another of another machine.
struct FlowStatistics {
    std::uint64_t packets = 0;
    std::uint64_t notifications = 0;
    std::uint64_t resent = 0;
    std::uint64_t timeouts = 0;
    Time held;
    double least_share = 1;
    static constexpr auto statistics() {
        using S = FlowStatistics;
        return list_of(
            statistic("packets", &S::packets, Unit::kCount, "Packets sent, again or not."),
            statistic(
                "notifications", &S::notifications, Unit::kCount,
                "Times that the receiver told the sender of marks."),
            statistic("resent", &S::resent, Unit::kCount, "Packets sent again."),
            statistic(
                "timeouts", &S::timeouts, Unit::kCount,
                "Times that the sender sent again unasked."),
            statistic(
                "held_us", &S::held, Unit::kMicroseconds,
                "Time for which packets waited for the sender's rate, or behind lost ones."),
            statistic(
                "least_share", &S::least_share, Unit::kShare,
                "The lowest rate, of that of the sender's link."));
    }
};

}  // namespace switchfold
