// SPDX-License-Identifier: Apache-2.0
#include "interconnect/endpoint.h"

#include "core/error.h"

#include <algorithm>

namespace switchfold {

Endpoint::Endpoint(
    const sc_core::sc_module_name& name, std::uint32_t rank, const std::vector<Link*>& routes,
    const std::vector<PacketClient*>& clients, Scheduler& scheduler, bool relays) :
    EndpointState(rank, routes, clients, scheduler, relays), sc_module(name) {}

OptionalTime Endpoint::accept(const Packet& packet, Link& from) {
    if (relays_ && traits(packet.kind).follows_route && routes_[packet.route] != nullptr)
        return pass_on(packet, from);
    const Time now = scheduler_.now();
    ++arrived_;
    switch (packet.kind) {
    case PacketKind::kReadRequest: {
        Link& out = *routes_[packet.reply];
        return serve(packet, PacketKind::kReadResponse, packet.reply, out);
    }
    case PacketKind::kReduceFetch:
        return serve(packet, PacketKind::kReduceData, packet.route, from.reverse());
    default:
        break;
    }
    Time visible = now;
    if (memory_ != nullptr && packet.kind != PacketKind::kReduceResult &&
        packet.kind != PacketKind::kReadResponse)
        // The requester keeps answers to loads in registers.
        visible = packet.width < kNarrow ? memory_->write(packet.payload) : write_narrow(packet);
    visible = std::max(visible, Time(packet.tail));
    const std::uint32_t back = from.acknowledge_bytes(packet);
    if (back > 0 && is_store(packet.kind))
        from.reverse().add_overhead(back);
    PacketClient* client = clients_[packet.client];
    SWITCHFOLD_CHECK(client != nullptr, "{}: a packet for a client that is gone", name());
    client->on_packet(packet, rank_, visible);
    return visible;
}

Time Endpoint::write_narrow(const Packet& packet) {
    return memory_->write(stored_bytes(packet.payload, packet.width));
}

Time Endpoint::read_narrow(const Packet& packet) {
    return memory_->read(stored_bytes(packet.payload, packet.width));
}

Time Endpoint::pass_on(const Packet& packet, Link& from) {
    Time taken = std::max(scheduler_.now(), Time(packet.tail));
    if (memory_ != nullptr && traits(packet.kind).carries_data) {
        taken = std::max(taken, memory_->write(packet.payload));
        last_ready_ = std::max(last_ready_, memory_->read(packet.payload));
    }
    const std::uint32_t back = from.acknowledge_bytes(packet);
    if (back > 0 && is_store(packet.kind))
        from.reverse().add_overhead(back);
    last_ready_ = std::max(last_ready_, taken);
    Outgoing& passing = outgoing_.push_back();
    passing.packet = packet;
    passing.packet.wire = 0;
    passing.packet.tail = last_ready_.count();
    passing.link = routes_[packet.route];
    scheduler_.at(last_ready_, *this, 0);
    return taken;
}

Time Endpoint::serve(const Packet& packet, PacketKind kind, std::uint32_t route, Link& link) {
    const Time now = scheduler_.now();
    Time ready = now;
    if (memory_ != nullptr)
        ready = packet.width < kNarrow ? memory_->read(packet.payload) : read_narrow(packet);
    last_ready_ = std::max(last_ready_, ready);
    Packet answer = packet;
    answer.kind = kind;
    answer.route = route;
    answer.wire = 0;
    answer.count = 1;
    answer.values = clients_[packet.client]->supply(packet, rank_);
    answer.tail = last_ready_.count();
    link.answer(answer, last_ready_);
    return now;
}

void Endpoint::on_event(std::uint64_t /*tag*/) {
    const Outgoing next = outgoing_.front();
    outgoing_.pop_front();
    next.link->send(next.packet, Time(next.packet.tail));
}

}  // namespace switchfold
