// SPDX-License-Identifier: Apache-2.0
#include "interconnect/link_kind.h"

#include <algorithm>

namespace switchfold {

namespace {

std::uint64_t fixed_ps_per_byte(Bandwidth bandwidth) {
    // 1e12 ps/s with 32 fractional bits needs 72 bits.
    const auto scaled = static_cast<unsigned __int128>(1'000'000'000'000ULL) << 32U;
    return static_cast<std::uint64_t>((scaled + bandwidth.count() / 2) / bandwidth.count());
}

}  // namespace

void PacketPool::grow() {
    constexpr std::size_t kFirst = 64;
    const std::size_t held = places_.size();
    places_.resize(std::max(kFirst, 2 * held));
    for (std::size_t i = places_.size(); i-- > held;)
        give_back(static_cast<std::uint32_t>(i));
}

LinkKind::LinkKind(const LinkParams& params, std::uint32_t lanes, LinkContext& shared) :
    context(shared),
    latency(params.latency.count()),
    buffer((params.buffer_per_lane * lanes).count()),
    acknowledges_writes(params.format.write_ack_flits > 0),
    shares_directions(params.duplex < 1),
    lanes_(lanes),
    bandwidth_(params.usable_bandwidth(lanes)),
    params_(params) {
    ps_per_byte = fixed_ps_per_byte(bandwidth_);
    const Bytes first = params.format.max_payload + params.format.flit * params.format.header_flits;
    head_time = serialization_time(first, params.usable_bandwidth(1)).count();
}

LinkKind LinkKind::degraded(std::uint32_t ppm) const {
    const std::uint64_t left = std::uint64_t{params_.efficiency_ppm} * ppm / 1'000'000;
    LinkParams slower = params_;
    slower.efficiency_ppm = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, left));
    LinkKind kind = *this;
    kind.bandwidth_ = slower.usable_bandwidth(lanes_);
    kind.ps_per_byte = fixed_ps_per_byte(kind.bandwidth_);
    return kind;
}

std::uint32_t
LinkKind::count_wire_bytes(const Packet& packet, Wire& known, std::uint64_t& payload_bytes) const {
    const PacketFormat& format = params_.format;
    if (packet.width != 1) {
        if (traits(packet.kind).carries_data)
            payload_bytes -= packet.payload - stored_bytes(packet.payload, packet.width);
        return format.wire_bytes(
            packet.kind, static_cast<std::uint32_t>(carried_bytes(packet.payload, packet.width)),
            packet.lines);
    }
    known = {
        packet.payload, format.wire_bytes(packet.kind, packet.payload, packet.lines), packet.kind,
        packet.lines};
    return known.bytes;
}

}  // namespace switchfold
