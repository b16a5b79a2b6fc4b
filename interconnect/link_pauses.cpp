// SPDX-License-Identifier: Apache-2.0
#include "interconnect/link.h"

namespace switchfold {

namespace {

/// A buffer that only pauses limit; less than what a pause adds to the credits used.
constexpr std::uint64_t kNoLimit = Link::kPaused >> 1U;

}  // namespace

void Link::take_pauses(CreditWatch& watch) {
    own_kind_ = std::make_shared<LinkKind>(*kind_);
    own_kind_->buffer = kNoLimit;
    kind_ = own_kind_.get();
    pauses_ = &watch;
}

void Link::pause(VirtualChannel channel) {
    used_[static_cast<std::size_t>(channel)] |= kPaused;
}

void Link::resume(VirtualChannel channel) {
    used_[static_cast<std::size_t>(channel)] &= ~kPaused;
}

bool Link::paused(VirtualChannel channel) const {
    return (used_[static_cast<std::size_t>(channel)] & kPaused) != 0;
}

std::uint64_t Link::on_wire(VirtualChannel channel, bool arriving) const {
    std::uint64_t bytes = 0;
    if (in_flight_ > 0 && !arriving && first_.channel == channel)
        bytes += first_.wire;
    for (std::size_t i = 0; i < later_.size(); ++i) {
        const Packet& packet = kind_->context.in_flight[later_[i]].packet;
        if (packet.channel == channel)
            bytes += packet.wire;
    }
    return bytes;
}

std::uint64_t Link::held(VirtualChannel channel) const {
    std::uint64_t bytes =
        (used_[static_cast<std::size_t>(channel)] & ~kPaused) - on_wire(channel, true);
    // A credit is due when the news of it have travelled back.
    const std::uint64_t now = kind_->context.scheduler.now().count();
    for (std::size_t i = 0; i < returning_.size(); ++i)
        if (returning_[i].channel == channel && returning_[i].due <= now + kind_->latency)
            bytes -= returning_[i].bytes;
    return bytes;
}

std::uint64_t Link::known_held(VirtualChannel channel) const {
    return (used_[static_cast<std::size_t>(channel)] & ~kPaused) - on_wire(channel, false);
}

std::uint64_t Link::queue_bytes() const {
    const std::uint64_t now = kind_->context.scheduler.now().count();
    const std::uint64_t left = busy_until_ > now ? busy_until_ - now : 0;
    const auto on_wire = (static_cast<unsigned __int128>(left) << 32U) / kind_->ps_per_byte;
    return static_cast<std::uint64_t>(on_wire) + waiting_bytes_;
}

Time Link::queue_time() const {
    return Time(static_cast<std::uint64_t>(
        static_cast<unsigned __int128>(queue_bytes()) * kind_->ps_per_byte >> 32U));
}

}  // namespace switchfold
