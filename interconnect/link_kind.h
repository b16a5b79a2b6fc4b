// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/link_parameters.h"
#include "interconnect/packet.h"
#include "sim/kernel/scheduler.h"

#include <array>
#include <cstdint>
#include <vector>

namespace switchfold {

class Link;

/// The packets in flight of all links, but for the first of each. One shared pool: a place just
/// given back is taken next and still in the cache.
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
    std::vector<Link*> routes;  ///< hop after hop of every way of every connection
    PacketPool in_flight;
};

/// Constants of all links with the same parameters and lanes. Thousands of links read one copy,
/// which stays in the cache.
class LinkKind {
public:
    LinkKind(const LinkParams& params, std::uint32_t lanes, LinkContext& context);

    /// The same with this share of the rate, in millionths.
    [[nodiscard]] LinkKind degraded(std::uint32_t ppm) const;

    /// Bytes on the wire; most packets are of a kind and size seen before.
    [[nodiscard]] std::uint32_t wire_bytes(const Packet& packet) {
        Wire& known = wires_
            [(packet.payload / kGrain + static_cast<std::uint32_t>(packet.kind)) % wires_.size()];
        if (packet.payload != known.payload || packet.kind != known.kind || packet.widening != 1)
            [[unlikely]]
            return count_wire_bytes(packet, known);
        return known.bytes;
    }
    /// Bytes that the other direction could have carried while so many went this way, of links
    /// that share directions. Both at once reach `duplex` of twice the rate: each byte takes the
    /// time of 1 / duplex.
    [[nodiscard]] std::uint32_t taken_from_reverse(std::uint32_t bytes) const {
        return static_cast<std::uint32_t>(bytes * (1 / params_.duplex - 1));
    }
    [[nodiscard]] const LinkParams& params() const { return params_; }
    /// Usable bytes a second of all lanes together.
    [[nodiscard]] Bandwidth bandwidth() const { return bandwidth_; }

    LinkContext& context;
    std::uint64_t ps_per_byte;  ///< fixed point, 32 fractional bits
    std::uint64_t latency;      ///< ps
    std::uint64_t head_time;    ///< ps, until a switch has seen enough to send the packet on
    std::uint64_t buffer;       ///< bytes of each virtual channel's at the far end
    bool acknowledges_writes;
    bool shares_directions;  ///< what goes one way takes time of the other

private:
    struct Wire {
        std::uint32_t payload = UINT32_MAX;
        std::uint32_t bytes = 0;
        PacketKind kind = PacketKind::kWrite;
    };
    static constexpr std::uint32_t kGrain = 16;
    std::uint32_t count_wire_bytes(const Packet& packet, Wire& known) const;

    std::array<Wire, 8> wires_;
    std::uint32_t lanes_;
    Bandwidth bandwidth_;
    LinkParams params_;
};

}  // namespace switchfold
