// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "interconnect/congestion/parameters.h"
#include "interconnect/congestion/statistics.h"
#include "interconnect/link.h"
#include "interconnect/packet_sink.h"

#include <array>
#include <cstdint>
#include <optional>

namespace switchfold {

class Congestion;

/// Stands between a link of the network and its far end: the input port of a switch, or the
/// network's side of a NIC.
class CongestionPort final : public PacketSink, public CreditWatch, private EventHandler {
public:
    CongestionPort(
        Congestion& owner, Link& link, bool of_switch, const std::optional<PauseParams>& pause,
        std::uint32_t lanes, Scheduler& scheduler);

    OptionalTime accept(const Packet& packet, Link& from) override;
    void prepare(const Packet& packet) const override { sink_->prepare(packet); }
    void on_credits() override;

    [[nodiscard]] const Link& link() const { return link_; }
    [[nodiscard]] CongestedLinkStatistics& counted() { return counted_; }
    [[nodiscard]] const CongestedLinkStatistics& counted() const { return counted_; }

private:
    void on_event(std::uint64_t tag) override;
    void watch_fill(VirtualChannel channel);

    Congestion& owner_;
    Link& link_;
    PacketSink* sink_;
    Scheduler& scheduler_;
    bool of_switch_;
    bool pauses_;
    std::uint64_t pause_from_ = 0;  ///< bytes of all lanes
    std::uint64_t pause_until_ = 0;
    std::array<bool, kVirtualChannels> stopped_{};  ///< the frame is under way, or has arrived
    std::array<Time, kVirtualChannels> since_{};    ///< when the sender has stopped
    CongestedLinkStatistics counted_;
};

}  // namespace switchfold
