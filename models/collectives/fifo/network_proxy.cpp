// SPDX-License-Identifier: Apache-2.0
#include "models/collectives/fifo/network_proxy.h"

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {
// Units of one flow on the first link at a time: enough to keep it busy, few enough that the flows
// of other channels interleave, as queue pairs of a network interface do.
constexpr std::size_t kUnitsAhead = 2;
// Kinds of events, in the tag's lowest bit; the flow's number is above it.
constexpr std::uint64_t kPosted = 0;
constexpr std::uint64_t kPump = 1;
}  // namespace

NetworkFlow& NetworkProxy::add_flow(Fifo& fifo) {
    const auto number = static_cast<std::uint32_t>(flows_.size());
    flows_.push_back(std::make_unique<NetworkFlow>(*this, number, fifo));
    return *flows_.back();
}

void NetworkFlow::put(
    std::uint32_t slot, std::uint32_t unit, std::uint32_t wire, std::uint32_t values) {
    units_.push_back({slot, unit, wire, values});
    ++put_;
    put_bytes_ += wire;
}

void NetworkFlow::post(std::uint64_t when) {
    slices_.push_back(std::exchange(put_, 0));
    proxy_.post(number_, when, std::exchange(put_bytes_, 0));
}

void NetworkProxy::post(std::uint32_t flow, std::uint64_t when, std::uint64_t wire) {
    std::uint64_t done = serve(when, wire);
    if (scan_rate_ != Bandwidth())
        done = free_at_ += serialization_time(Bytes(wire), scan_rate_).count();
    context_.fabric->scheduler().at(Time(done), *this, std::uint64_t{flow} << 1U | kPosted);
}

void NetworkProxy::on_event(std::uint64_t tag) {
    NetworkFlow& flow = *flows_[tag >> 1U];
    if ((tag & 1U) == kPosted) {
        flow.release();
    } else {
        flow.armed_ = false;
        flow.pump();
    }
}

void NetworkFlow::release() {
    posted_ += slices_.front();
    slices_.pop_front();
    pump();
}

void NetworkFlow::drop_values() {
    for (std::size_t i = 0; i < units_.size(); ++i)
        proxy_.context_.fabric->values().drop(std::exchange(units_[i].values, 0));
}

void NetworkFlow::on_departure(Time departure) {
    blocked_ = false;
    departures_.push_back(departure.count());
    pump();
}

void NetworkFlow::pump() {
    Fabric& fabric = *proxy_.context_.fabric;
    const std::uint64_t now = fabric.scheduler().now().count();
    while (posted_ > 0 && !blocked_ && !armed_) {
        while (!departures_.empty() && departures_.front() <= now)
            departures_.pop_front();
        std::uint64_t next = read_until_;
        if (departures_.size() >= kUnitsAhead)
            next = std::max(next, departures_.front());
        if (next > now) {
            armed_ = true;
            fabric.scheduler().at(Time(next), proxy_, std::uint64_t{number_} << 1U | kPump);
            return;
        }
        const Unit unit = units_.front();
        units_.pop_front();
        --posted_;
        read_until_ = proxy_.port_.access(unit.wire, 0).count();
        const OptionalTime departure = fabric.send(
            *fifo_.route, {.kind = PacketKind::kWrite,
                           .payload = unit.wire,
                           .tag = PacketTag{fifo_.index, unit.slot, unit.unit}.pack(),
                           .client = proxy_.context_.client,
                           .slot = fifo_.units++,
                           .values = unit.values});
        if (departure)
            departures_.push_back(departure->count());
        else
            blocked_ = true;
    }
}

}  // namespace switchfold
