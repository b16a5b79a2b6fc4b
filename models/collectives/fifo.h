// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"

#include <bit>
#include <cstdint>
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
    /// Bytes stored per data byte, 2^shift / denominator: LL 2/1, LL128 16/15.
    std::uint32_t wire_shift = 0;
    std::uint32_t wire_denominator = 1;
    bool lines = false;  ///< every line carries its flag: data can be used as it comes in
    std::uint64_t slice_overhead = 0;  ///< ps
    Bandwidth block_rate;
    std::uint32_t load_window = 65536;  ///< bytes asked for and not received, at most
    std::uint32_t store_units = 4;      ///< units stored and not yet on the wire, at most

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
/// earlier.
struct Fifo {
    struct Slot {
        std::uint32_t expected =
            0;  ///< data bytes of the slice; 0 while the sender has not begun it
        std::uint32_t arrived = 0;
        std::uint64_t ready_time = 0;
        std::uint64_t credit_time = 0;
    };
    explicit Fifo(std::uint32_t holds) :
        places(holds), slots(std::bit_ceil(holds)), mask(std::bit_ceil(holds) - 1) {}

    const Connection* route = nullptr;
    ThreadBlock* sender = nullptr;
    ThreadBlock* receiver = nullptr;
    NetworkFlow* flow = nullptr;        ///< carries it over the network; null inside a machine
    NetworkProxy* inbound = nullptr;    ///< of the receiver, where it comes over the network
    std::uint64_t credit_overhead = 0;  ///< ps, of a free slot's way back, beside the wires
    std::uint64_t hop_overhead = 0;     ///< ps, from data in the FIFO to the receiver's first move
    bool full_for_sender = false;       ///< it waits for the next free slot
    bool read = false;                  ///< the receiver loads from the sender's FIFO
    std::uint64_t posted = 0;           ///< slices begun by the sender
    std::uint64_t ready = 0;            ///< slices complete at the receiver
    std::uint64_t consumed = 0;         ///< slices whose slots are free again
    std::uint64_t units = 0;            ///< sent or requested so far: chooses the stripe
    std::uint64_t places;               ///< slices that it holds
    std::vector<Slot> slots;            ///< a power of two, at least its places
    std::uint64_t mask;
    std::vector<std::vector<std::uint32_t>>
        values;  ///< functional mode: by slot and unit, a handle

    [[nodiscard]] std::uint32_t slot_of(std::uint64_t slice) const {
        return static_cast<std::uint32_t>(slice & mask);
    }
    [[nodiscard]] Slot& slot(std::uint64_t slice) { return slots[slice & mask]; }
    [[nodiscard]] bool full() const { return posted - consumed >= places; }
    /// Since when (ps) there is room for the next slice; it is not full.
    [[nodiscard]] std::uint64_t room_since() {
        return posted < places ? 0 : slot(posted - places).credit_time;
    }
    void keep(std::uint32_t slot, std::uint32_t unit, std::uint32_t handle) {
        values.resize(slots.size());
        auto& handles = values[slot];
        if (handles.size() <= unit)
            handles.resize(unit + 1U, 0);
        handles[unit] = handle;
    }
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
