// SPDX-License-Identifier: Apache-2.0
#include "interconnect/congestion/congestion_port.h"

#include "interconnect/congestion/congestion.h"

namespace switchfold {

CongestionPort::CongestionPort(
    Congestion& owner, Link& link, bool of_switch, const std::optional<PauseParams>& pause,
    std::uint32_t lanes, Scheduler& scheduler) :
    owner_(owner),
    link_(link),
    sink_(&link.interpose(*this)),
    scheduler_(scheduler),
    of_switch_(of_switch),
    pauses_(pause.has_value()) {
    if (!pause)
        return;
    pause_from_ = (pause->from * lanes).count();
    pause_until_ = (pause->until * lanes).count();
    link.take_pauses(*this);
}

OptionalTime CongestionPort::accept(const Packet& packet, Link& from) {
    if (pauses_)
        watch_fill(packet.channel);
    if (!is_store(packet.kind))
        return sink_->accept(packet, from);
    if (of_switch_)
        return sink_->accept(owner_.through_switch(packet), from);
    if (!owner_.at_end(packet, *this))
        return scheduler_.now();
    return sink_->accept(packet, from);
}

void CongestionPort::watch_fill(VirtualChannel channel) {
    bool& stopped = stopped_[static_cast<std::size_t>(channel)];
    if (stopped || link_.held(channel) < pause_from_)
        return;
    stopped = true;
    scheduler_.after(link_.latency(), *this, static_cast<std::uint64_t>(channel));
}

void CongestionPort::on_event(std::uint64_t tag) {
    link_.pause(static_cast<VirtualChannel>(tag));
    since_[tag] = scheduler_.now();
    ++counted_.pauses;
}

void CongestionPort::on_credits() {
    for (std::size_t c = 0; c < kVirtualChannels; ++c) {
        const auto channel = static_cast<VirtualChannel>(c);
        if (!link_.paused(channel) || link_.known_held(channel) > pause_until_)
            continue;
        link_.resume(channel);
        stopped_[c] = false;
        counted_.paused += scheduler_.now() - since_[c];
    }
}

}  // namespace switchfold
