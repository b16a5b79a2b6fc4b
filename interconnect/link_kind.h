// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "interconnect/link_parameters.h"
#include "interconnect/packet.h"

#include <array>
#include <cstdint>
#include <vector>

namespace switchfold {

class Link;

/// Storage of the packets in flight on all links, except each link's first. A shared pool: the slot
/// freed last is reused next, while it is still cached.
class PacketPool {
public:
    struct alignas(64) InFlight {
        Packet packet;
        std::uint64_t due;
    };
    [[nodiscard]] std::uint32_t take() {
        if (free_.empty()) [[unlikely]]
            grow();
        const std::uint32_t place = free_.back();
        free_.pop_back();
        return place;
    }
    void give_back(std::uint32_t place) { free_.push_back(place); }
    /// Valid until the next take().
    [[nodiscard]] InFlight& operator[](std::uint32_t place) { return places_[place]; }

private:
    void grow();

    std::vector<InFlight> places_;
    std::vector<std::uint32_t> free_;
};

/// State that all links of a fabric share.
struct LinkContext {
    Scheduler& scheduler;
    std::vector<Link*> routes;  ///< all routes of all connections, hop by hop
    PacketPool in_flight;
};

/// Constants common to all links with equal parameters and lanes. Thousands of links read one copy,
/// which stays cached.
class LinkKind {
public:
    LinkKind(const LinkParams& params, std::uint32_t lanes, LinkContext& context);

    /// The same kind at this share of its rate, in millionths.
    [[nodiscard]] LinkKind degraded(std::uint32_t ppm) const;

    /// Bytes on the wire; cached for common kinds and sizes.
    /// The caller counts the packet's payload in `payload_bytes`, as elements.
    [[nodiscard]] std::uint32_t wire_bytes(const Packet& packet, std::uint64_t& payload_bytes) {
        Wire& known = wires_
            [(packet.payload / kGrain + static_cast<std::uint32_t>(packet.kind)) % wires_.size()];
        if (packet.payload != known.payload || packet.kind != known.kind ||
            packet.lines != known.lines || packet.width != 1) [[unlikely]]
            return count_wire_bytes(packet, known, payload_bytes);
        return known.bytes;
    }
    /// For links whose directions share capacity: bytes that the other direction loses while
    /// `bytes` are sent. Both directions together reach `duplex` of twice the rate, that is, each
    /// byte takes 1 / duplex of its time.
    [[nodiscard]] std::uint32_t taken_from_reverse(std::uint32_t bytes) const {
        return static_cast<std::uint32_t>(bytes * (1 / params_.duplex - 1));
    }
    [[nodiscard]] const LinkParams& params() const { return params_; }
    /// Usable bytes per second of all lanes together.
    [[nodiscard]] Bandwidth bandwidth() const { return bandwidth_; }

    LinkContext& context;
    std::uint64_t ps_per_byte;  ///< fixed point, 32 fractional bits
    std::uint64_t latency;      ///< ps
    std::uint64_t head_time;    ///< ps until a switch has received enough to forward the packet
    std::uint64_t buffer;       ///< bytes of each virtual channel's buffer at the far end
    bool acknowledges_writes;
    bool shares_directions;  ///< the directions share capacity

private:
    struct Wire {
        std::uint32_t payload = UINT32_MAX;
        std::uint32_t bytes = 0;
        PacketKind kind = PacketKind::kWrite;
        std::uint8_t lines = 1;
    };
    static constexpr std::uint32_t kGrain = 16;
    std::uint32_t
    count_wire_bytes(const Packet& packet, Wire& known, std::uint64_t& payload_bytes) const;

    std::array<Wire, 8> wires_;
    std::uint32_t lanes_;
    Bandwidth bandwidth_;
    LinkParams params_;
};

}  // namespace switchfold
