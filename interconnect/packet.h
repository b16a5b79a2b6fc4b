// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "interconnect/quantisation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace switchfold {

enum class PacketKind : std::uint8_t {
    kWrite,           ///< store to a peer's memory
    kReadRequest,     ///< load from a peer's memory
    kReadResponse,    ///< data returned by a load
    kReduceRequest,   ///< GPU to switch: read this region of every member and return the sum
                      ///< (multimem.ld_reduce)
    kReduceFetch,     ///< switch to each member: read your copy
    kReduceData,      ///< member to switch: its copy
    kReduceResult,    ///< switch to the requester: the sum
    kMulticastWrite,  ///< store to be replicated, on its way to the switch (multimem.st)
    kMulticastCopy,   ///< from that switch to every member
    kReducePush,      ///< operands or a partial sum on the way to the next adder
    kReducePartial,   ///< last switch to the line's home: its partial sum, with the count
    kCopyWrite,       ///< a copy engine's store to a peer's memory
    kReduceCommand,   ///< GPU to switch: read this region of every member and store the sum to all
};

/// Each kind of traffic has its own credits to prevent deadlock: requests make switches send down
/// their trees (fetches, copies), and these make members answer.
enum class VirtualChannel : std::uint8_t { kRequest, kDown, kResponse };
inline constexpr std::size_t kVirtualChannels = 3;

/// Per-kind properties that the fabric needs for every packet.
struct PacketTraits {
    VirtualChannel channel = VirtualChannel::kRequest;
    bool follows_route =
        false;  ///< follows a route; other kinds follow the group's tree in each switch
    bool carries_data = true;  ///< carries its payload, instead of requesting it
};
inline constexpr std::array<PacketTraits, 13> kPacketTraits{{
    {VirtualChannel::kRequest, true, true},    // kWrite
    {VirtualChannel::kRequest, true, false},   // kReadRequest
    {VirtualChannel::kResponse, true, true},   // kReadResponse
    {VirtualChannel::kRequest, false, false},  // kReduceRequest
    {VirtualChannel::kDown, false, false},     // kReduceFetch
    {VirtualChannel::kResponse, false, true},  // kReduceData
    {VirtualChannel::kResponse, false, true},  // kReduceResult
    {VirtualChannel::kRequest, false, true},   // kMulticastWrite
    {VirtualChannel::kDown, false, true},      // kMulticastCopy
    {VirtualChannel::kRequest, false, true},   // kReducePush
    {VirtualChannel::kDown, false, true},      // kReducePartial
    {VirtualChannel::kRequest, true, true},    // kCopyWrite
    {VirtualChannel::kRequest, false, false},  // kReduceCommand
}};
[[nodiscard]] constexpr const PacketTraits& traits(PacketKind kind) {
    return kPacketTraits[static_cast<std::size_t>(kind)];
}
[[nodiscard]] constexpr VirtualChannel virtual_channel(PacketKind kind) {
    return traits(kind).channel;
}

/// A store from one GPU to another.
[[nodiscard]] constexpr bool is_store(PacketKind kind) {
    return kind == PacketKind::kWrite || kind == PacketKind::kCopyWrite;
}

/// Whether each of the lines that travel together is taken as it arrives.
[[nodiscard]] constexpr bool is_train(PacketKind kind) {
    return kind == PacketKind::kReducePush || kind == PacketKind::kReducePartial ||
           kind == PacketKind::kMulticastCopy;
}

/// Maximum number of push lines that travel together.
inline constexpr std::uint32_t kLinesInTrain = 8;

class Link;

/// A transfer unit in flight: a train of link packets that travel together. `transfer_unit` bounds
/// its payload; timing uses the wire bytes of the whole train, and a switch starts to forward it
/// when its head has arrived.
struct Packet {
    std::uint64_t tag = 0;      ///< chosen by the sender and delivered unchanged
    std::uint64_t tail = 0;     ///< ps at which the last byte reaches the next node
    Link* onward = nullptr;     ///< on the way to a switch, if it follows a route: the next link
    std::uint32_t payload = 0;  ///< bytes carried or requested
    std::uint32_t wire = 0;     ///< bytes on the wire of the current hop, including headers
    std::uint32_t route = 0;    ///< position of its next hop in the fabric's route table
    std::uint32_t reply = 0;   ///< read requests: route of the answer; reductions: port and session
    std::uint32_t client = 0;  ///< number of the PacketClient that receives it
    std::uint32_t values = 0;  ///< functional mode: handle of the values carried; 0 = none
    std::uint16_t group = 0;   ///< multicast group, for reductions and multicasts
    std::uint16_t count = 0;   ///< members whose values are included; 0 in a sum signals failure.
                               ///< Fetches: where in the request their part begins, in vectors
                               ///< of 16 B
    PacketKind kind = PacketKind::kWrite;
    VirtualChannel channel = VirtualChannel::kRequest;  ///< whose credit it holds on this hop
    std::uint8_t width = 1;  ///< of its data (quantisation.h); of a request, that of the answers
    std::uint8_t lines = 1;  ///< parts that travel together, each in packets of its own. Pushes and
                             ///< their sums: equal lines; line i has tag + i and home (route + i)
                             ///< modulo the members. Pulls: rounds of a warp.
};

/// Bytes of the vectors that GPUs load and store: reductions are cut into whole ones.
inline constexpr std::uint32_t kReduceGrain = 16;

/// A switch may fetch a request in parts. \returns where in it this part begins.
[[nodiscard]] constexpr std::uint64_t fetched_from(const Packet& fetch) {
    return std::uint64_t{fetch.count} * kReduceGrain;
}

/// How a link splits a transfer into packets, and their overhead on the wire.
struct PacketFormat {
    Bytes flit{16};
    std::uint32_t header_flits = 1;
    Bytes max_payload{128};
    Bytes copy_payload;
    std::uint32_t request_flits = 1;
    std::uint32_t write_ack_flits = 0;
    std::uint32_t multicast_ack_flits = 1;
    std::uint32_t reduce_request_flits = 2;

    static constexpr auto fields() {
        return list_of(
            field("flit", &PacketFormat::flit, "Smallest unit on the wire.", Bytes(1), Bytes(4096)),
            field(
                "header_flits", &PacketFormat::header_flits,
                "Flits of header in front of every packet with data.", 0U, 64U),
            field(
                "max_payload", &PacketFormat::max_payload, "Most data bytes in one packet.",
                Bytes(1), Bytes(1 << 20)),
            field(
                "copy_payload", &PacketFormat::copy_payload,
                "Most data bytes in a packet written by a copy engine; 0: as max_payload.",
                Bytes(0), Bytes(1 << 20)),
            field(
                "request_flits", &PacketFormat::request_flits,
                "Flits of a read request for one packet's worth of data.", 0U, 64U),
            field(
                "write_ack_flits", &PacketFormat::write_ack_flits,
                "Flits of the acknowledgement for each written packet; 0 if acknowledgements are "
                "merged.",
                0U, 64U),
            field(
                "multicast_ack_flits", &PacketFormat::multicast_ack_flits,
                "Flits of the acknowledgement to the sender of each multicast packet.", 0U, 64U),
            field(
                "reduce_request_flits", &PacketFormat::reduce_request_flits,
                "Flits of a request to reduce or to fetch for a reduction (header and group).", 0U,
                64U));
    }

    /// `parts` of a payload do not share packets.
    [[nodiscard]] std::uint32_t
    packets(PacketKind kind, std::uint32_t payload, std::uint32_t parts = 1) const {
        const bool copied = kind == PacketKind::kCopyWrite && copy_payload.count() != 0;
        const auto limit =
            static_cast<std::uint32_t>((copied ? copy_payload : max_payload).count());
        return std::max(parts, payload == 0 ? 1 : (payload + limit - 1) / limit);
    }
    /// Bytes on the wire for a transfer of `payload` bytes.
    [[nodiscard]] std::uint32_t
    wire_bytes(PacketKind kind, std::uint32_t payload, std::uint32_t parts = 1) const;
    /// Bytes of its acknowledgement on the return direction.
    [[nodiscard]] std::uint32_t
    acknowledge_bytes(PacketKind kind, std::uint32_t payload, std::uint32_t parts = 1) const {
        const auto flit_bytes = static_cast<std::uint32_t>(flit.count());
        if (is_store(kind))
            return packets(kind, payload, parts) * write_ack_flits * flit_bytes;
        if (kind == PacketKind::kMulticastWrite || kind == PacketKind::kMulticastCopy)
            return packets(kind, payload, parts) * multicast_ack_flits * flit_bytes;
        return 0;
    }
    /// The same of 8-bit numbers.
    [[nodiscard]] std::uint32_t acknowledge_narrow_bytes(const Packet& packet) const;
};

}  // namespace switchfold
