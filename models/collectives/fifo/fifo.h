// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "models/collectives/fifo/step.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace switchfold {

class ThreadBlock;
class NetworkFlow;
class NetworkProxy;

/// Binary places of Transport::stream_time.
inline constexpr std::uint32_t kStreamTimeShift = 16;

/// How data cross a connection under the chosen protocol.
struct Transport {
    std::uint32_t unit = 4096;  ///< data bytes per transfer unit
    std::uint32_t slice =
        4096;  ///< limit on data bytes handed over together, with one flag and one credit
    std::uint32_t slices_in_step = 1;  ///< slices per step's chunk
    std::uint32_t smallest_slice = 1;  ///< data bytes; smaller chunks use fewer slices
    std::uint32_t slots = 8;           ///< slices that the FIFO holds
    std::uint32_t slot_mask = 7;       ///< mask of a slice's number that gives its slot
    /// Bytes stored per data byte, 2^shift / denominator: LL 2/1, LL128 16/15.
    std::uint32_t wire_shift = 0;
    std::uint32_t wire_denominator = 1;
    bool lines = false;  ///< every line carries its own flag: data can be used on arrival
    std::uint64_t slice_overhead = 0;  ///< ps
    std::uint64_t network_post = 0;    ///< ps, of a step that is handed to a proxy
    Bandwidth block_rate;              ///< without what loads and stores take by stream_time
    std::uint64_t stream_time = 0;  ///< ps by which a load or store of a byte occupies its SM, in
                                    ///< units of 2^-kStreamTimeShift; 0: block_rate alone
    Bandwidth sum_rate;      ///< of a block's additions that take time of their own; 0: none do
    Bandwidth element_rate;  ///< of stores to the rank's own buffer, one an element; 0: no time
    std::uint32_t stored_element = 1;  ///< bytes
    std::uint64_t hidden_stores = 0;   ///< ps of a round's such stores that delay nothing
    Bandwidth gpu_share;  ///< a channel's share of what all blocks of a GPU move; 0: no limit
    /// Data bytes that a block's threads move at once, each its own few, in a round that takes as
    /// long however few take part; 0: no rounds.
    std::uint32_t round = 0;
    Bandwidth host_store_rate;  ///< of bytes stored to peers over the host's PCIe; 0: block_rate
    std::uint32_t load_window = 65536;  ///< limit on bytes requested but not received
    std::uint32_t store_units = 4;      ///< limit on units stored but not yet on the wire

    /// Delays in addition to the wires: inside a machine, and over network interfaces.
    struct Delays {
        std::uint64_t hop = 0;     ///< ps from data in the FIFO to the receiver's first movement
        std::uint64_t credit = 0;  ///< ps for the return of a free slot
    };
    std::array<Delays, 2> delays{};

    /// Bytes of each slice, except the last, of a step of `bytes`.
    [[nodiscard]] std::uint64_t slice_of(std::uint64_t bytes) const {
        const std::uint64_t share = bytes / slices_in_step;
        return std::clamp<std::uint64_t>(
            (share + kGrain - 1) / kGrain * kGrain, smallest_slice, slice);
    }
    /// Number of slices of a step of `bytes`.
    [[nodiscard]] std::uint64_t slices(std::uint64_t bytes) const {
        return (bytes + slice_of(bytes) - 1) / slice_of(bytes);
    }
    [[nodiscard]] const Delays& delays_of(bool networked) const {
        return delays[networked ? 1 : 0];
    }
    [[nodiscard]] std::uint32_t wire(std::uint32_t data) const {
        const std::uint64_t stored = std::uint64_t{data} << wire_shift;
        return static_cast<std::uint32_t>(
            wire_denominator == 1 ? stored : stored / wire_denominator);
    }
    /// Data bytes for a number of bytes on the wire: inverse of wire(), which rounds down.
    [[nodiscard]] std::uint32_t data(std::uint32_t wire) const {
        const std::uint64_t least = (std::uint64_t{1} << wire_shift) - 1;
        return static_cast<std::uint32_t>(
            (std::uint64_t{wire} * wire_denominator + least) >> wire_shift);
    }
};

/// The FIFO of one channel's connection: slices posted by the sender, ready at the receiver,
/// consumed by it. Ready and credit times may lie in the future; dependent actions start no
/// earlier. Slices are numbered from 0, modulo 2^32. The fields that a slice touches lie in two
/// cache lines.
struct alignas(64) Fifo {
    struct Slice {
        std::uint32_t expected;  ///< data bytes
        std::uint32_t arrived;
        std::uint64_t time;  ///< ps at which its data are ready; after consumption, at which the
                             ///< sender learns of its free slot
    };
    static constexpr std::size_t kHotBytes = 128;

    Fifo(std::uint32_t number, const Connection& connection) :
        route(&connection),
        index(number),
        networked(connection.network),
        over_host(connection.host && !connection.network) {}
    Fifo(const Fifo&) = delete;
    Fifo& operator=(const Fifo&) = delete;

    /// The slice with this number; only the lowest bits count.
    [[nodiscard]] Slice& slice(std::uint32_t number) { return slices[number & mask]; }
    /// Posts a slice. \pre the FIFO is not full.
    void post(std::uint32_t bytes, std::uint32_t places) {
        const std::uint32_t held = posted - oldest;
        if (held == places)
            ++oldest;
        else if (held > mask)
            grow();
        slices[posted++ & mask] = {bytes, 0, 0};
    }
    [[nodiscard]] bool full(std::uint32_t places) const { return posted - consumed >= places; }
    /// Time (ps) since which there is room for the next slice, in a FIFO of `places` slots; `now`
    /// stands for any past time. \pre it is not full.
    [[nodiscard]] std::uint64_t room_since(std::uint32_t places, std::uint64_t now) {
        const std::uint32_t held = posted - oldest;
        if (held <= mask && held < places)
            return 0;
        while (oldest != consumed && slice(oldest).time <= now)
            ++oldest;
        return posted - oldest < places ? 0 : slice(oldest).time;
    }
    void keep(std::uint32_t slot, std::uint32_t unit, std::uint32_t handle) {
        if (values.size() <= slot)
            values.resize(slot + 1U);
        auto& handles = values[slot];
        if (handles.size() <= unit)
            handles.resize(unit + 1U, 0);
        handles[unit] = handle;
    }

    const Connection* route;
    ThreadBlock* sender = nullptr;
    ThreadBlock* receiver = nullptr;
    Slice* slices = first_slices.data();  ///< by the lowest bits of their numbers
    std::uint32_t mask = kFirst - 1;      ///< mask of these bits
    std::uint32_t index;                  ///< within the collective
    std::uint32_t units = 0;              ///< sent or requested so far: selects the stripe
    std::uint32_t posted = 0;             ///< slices started by the sender
    std::uint32_t ready = 0;              ///< slices complete at the receiver
    std::uint32_t consumed = 0;           ///< slices whose slots are free again
    std::uint32_t oldest = 0;      ///< first slice whose slot is not yet acknowledged as free
    bool networked;                ///< passes through network interfaces
    bool over_host;                ///< stored to the peer through the host's PCIe
    bool read = false;             ///< the receiver loads from the sender's FIFO
    bool full_for_sender = false;  ///< the sender waits for the next free slot

    static constexpr std::uint32_t kFirst = 4;
    std::array<Slice, kFirst> first_slices;
    std::unique_ptr<Slice[]> more_slices;  ///< used if more are needed
    NetworkFlow* flow = nullptr;           ///< transport over the network; null inside a machine
    NetworkProxy* inbound = nullptr;       ///< the receiver's, for connections over the network
    std::vector<std::vector<std::uint32_t>> values;  ///< functional mode: handles by slot and unit

private:
    void grow();
};

/// Content of a packet's tag: connection, slot of the slice, unit within it.
struct PacketTag {
    std::uint32_t fifo = 0;
    std::uint32_t slot = 0;
    std::uint32_t unit = 0;
    [[nodiscard]] std::uint64_t pack() const {
        return std::uint64_t{fifo} << 40U | std::uint64_t{slot} << 24U | unit;
    }
    static PacketTag unpack(std::uint64_t tag) {
        return {
            static_cast<std::uint32_t>(tag >> 40U),
            static_cast<std::uint32_t>(tag >> 24U) & 0xFFFFU,
            static_cast<std::uint32_t>(tag) & 0xFF'FFFFU};
    }
};

}  // namespace switchfold
