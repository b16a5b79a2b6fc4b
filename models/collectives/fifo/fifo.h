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

/// How data crosses a connection under the chosen protocol.
struct Transport {
    std::uint32_t unit = 4096;         ///< data bytes of a transfer unit
    std::uint32_t slice = 4096;        ///< most data bytes handed over together: a flag, a credit
    std::uint32_t slices_in_step = 1;  ///< a step's chunk is handed over in so many slices
    std::uint32_t smallest_slice = 1;  ///< data bytes; smaller chunks go in fewer slices
    std::uint32_t slots = 8;           ///< slices that the FIFO holds
    std::uint32_t slot_mask = 7;       ///< of a slice's number: its slot
    /// Bytes stored per data byte, 2^shift / denominator: LL 2/1, LL128 16/15.
    std::uint32_t wire_shift = 0;
    std::uint32_t wire_denominator = 1;
    bool lines = false;  ///< every line carries its flag: data can be used as it comes in
    std::uint64_t slice_overhead = 0;  ///< ps
    Bandwidth block_rate;
    std::uint32_t load_window = 65536;  ///< bytes asked for and not received, at most
    std::uint32_t store_units = 4;      ///< units stored and not yet on the wire, at most

    /// Beside the wires: inside a machine, and where network interfaces are on the way.
    struct Delays {
        std::uint64_t hop = 0;     ///< ps, from data in the FIFO to the receiver's first move
        std::uint64_t credit = 0;  ///< ps, of a free slot's way back
    };
    std::array<Delays, 2> delays{};

    /// Bytes of each slice but the last of a step of `bytes`.
    [[nodiscard]] std::uint64_t slice_of(std::uint64_t bytes) const {
        const std::uint64_t share = bytes / slices_in_step;
        return std::clamp<std::uint64_t>(
            (share + kGrain - 1) / kGrain * kGrain, smallest_slice, slice);
    }
    /// In how many slices it is handed over.
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
    /// The data bytes of so many bytes on the wire: wire() rounds down, this gives them back.
    [[nodiscard]] std::uint32_t data(std::uint32_t wire) const {
        const std::uint64_t least = (std::uint64_t{1} << wire_shift) - 1;
        return static_cast<std::uint32_t>(
            (std::uint64_t{wire} * wire_denominator + least) >> wire_shift);
    }
};

/// The FIFO of one connection of one channel: slices posted by the sender, ready at the receiver,
/// consumed by it. Ready and credit times may lie in the future: whoever needs them starts no
/// earlier. Slices are numbered from 0, modulo 2^32. What a slice touches lies in two lines of the
/// cache.
struct alignas(64) Fifo {
    struct Slice {
        std::uint32_t expected;  ///< data bytes
        std::uint32_t arrived;
        std::uint64_t time;  ///< ps: when its data is ready; of a consumed one, when the sender
                             ///< hears of its free slot
    };
    static constexpr std::size_t kHotBytes = 128;

    Fifo(std::uint32_t number, const Connection& connection) :
        route(&connection), index(number), networked(connection.network) {}
    Fifo(const Fifo&) = delete;
    Fifo& operator=(const Fifo&) = delete;

    /// Of a number, or of a slot: its lowest bits.
    [[nodiscard]] Slice& slice(std::uint32_t number) { return slices[number & mask]; }
    /// Begins one; it is not full.
    void post(std::uint32_t bytes, std::uint32_t places) {
        const std::uint32_t held = posted - oldest;
        if (held == places)
            ++oldest;
        else if (held > mask)
            grow();
        slices[posted++ & mask] = {bytes, 0, 0};
    }
    [[nodiscard]] bool full(std::uint32_t places) const { return posted - consumed >= places; }
    /// Since when (ps) there is room for the next slice of one that holds `places`; it is not full,
    /// and `now` will do for the past.
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
    std::uint32_t mask = kFirst - 1;      ///< of these bits
    std::uint32_t index;                  ///< within the collective
    std::uint32_t units = 0;              ///< sent or requested so far: chooses the stripe
    std::uint32_t posted = 0;             ///< slices begun by the sender
    std::uint32_t ready = 0;              ///< slices complete at the receiver
    std::uint32_t consumed = 0;           ///< slices whose slots are free again
    std::uint32_t oldest = 0;  ///< kept: of those before it the sender has heard that they are free
    bool networked;            ///< leads through network interfaces
    bool read = false;         ///< the receiver loads from the sender's FIFO
    bool full_for_sender = false;  ///< it waits for the next free slot

    static constexpr std::uint32_t kFirst = 4;
    std::array<Slice, kFirst> first_slices;
    std::unique_ptr<Slice[]> more_slices;  ///< where more are kept
    NetworkFlow* flow = nullptr;           ///< carries it over the network; null inside a machine
    NetworkProxy* inbound = nullptr;       ///< of the receiver, where it comes over the network
    std::vector<std::vector<std::uint32_t>>
        values;  ///< functional mode: by slot and unit, a handle

private:
    void grow();
};

/// What a packet's tag says: connection, slot of the slice, unit within it.
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
