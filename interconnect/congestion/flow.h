// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "interconnect/congestion/dcqcn.h"
#include "interconnect/congestion/statistics.h"
#include "interconnect/link.h"
#include "interconnect/packet.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

class Congestion;

/// What one GPU sends to another of another machine, as its NIC's queue pair. With a rate it gives
/// its link one packet at a time, so that what it holds back is not in the link's queue.
struct Flow final : LinkListener {
    struct Held {
        Packet packet;
        LinkListener* listener;  ///< null: the packet was told of before
        Time since;
    };
    /// The packet that waited for its link has left.
    void on_departure(std::uint64_t tag, Time departure) override;

    Congestion* owner = nullptr;
    std::uint32_t index = 0;  ///< the owner's
    std::string name;
    Time latency;  ///< of its way, unloaded; news of it travel back as long

    // The sender's.
    std::optional<DcqcnRate> rate;
    Bandwidth line;
    Time next;               ///< when its rate lets the next packet go
    std::deque<Held> again;  ///< to be sent again, before what follows
    std::deque<Held> waiting;
    std::uint16_t sends_round = 0;  ///< the receiver's, as far as it knows
    bool armed = false;
    bool blocked = false;             ///< its last packet waits for the link
    LinkListener* of_last = nullptr;  ///< hears of that packet

    // The receiver's.
    bool told = false;
    Time told_at;              ///< last notification
    std::uint16_t round = 0;   ///< of losses: what is sent after one has the next number
    bool recovering = false;   ///< go-back-N: throws away all packets of earlier rounds
    bool asked = false;        ///< the sender will hear of what is lost
    Time lost_since;           ///< the first of those
    std::vector<Packet> lost;  ///< in the order in which they were

    FlowStatistics counted;
};

}  // namespace switchfold
