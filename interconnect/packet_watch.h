// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/world_clock.h"
#include "interconnect/packet_sink.h"

namespace switchfold {

/// Sees packets as they arrive at the ends of links.
class PacketWatch {
public:
    virtual void on_packet(const Packet& packet, const Link& over, Time now) = 0;

protected:
    ~PacketWatch() = default;
};

/// Stands between a link and its far end while somebody watches. A link that nobody watches has
/// none, so watching costs nothing where it is not done.
class WatchedSink final : public PacketSink {
public:
    WatchedSink(PacketSink& sink, PacketWatch& watch, Scheduler& scheduler) :
        sink_(sink), watch_(watch), clock_(scheduler) {}

    OptionalTime accept(const Packet& packet, Link& from) override {
        watch_.on_packet(packet, from, clock_.now());
        return sink_.accept(packet, from);
    }
    void prepare(const Packet& packet) const override { sink_.prepare(packet); }

private:
    PacketSink& sink_;
    PacketWatch& watch_;
    WorldClock clock_;
};

}  // namespace switchfold
