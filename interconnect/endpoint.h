// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/optional_time.h"
#include "core/prefetch.h"
#include "core/ring_queue.h"
#include "interconnect/link.h"
#include "interconnect/values.h"

#include <systemc>

#include <cstdint>
#include <vector>

namespace switchfold {

/// The memory behind an endpoint, as seen by packets.
class EndpointMemory {
public:
    /// \returns when the bytes are read or written; later calls finish later.
    virtual Time read(std::uint32_t bytes) = 0;
    virtual Time write(std::uint32_t bytes) = 0;
    /// Address that every access touches, for prefetching; may be null.
    [[nodiscard]] virtual const void* touched() const { return nullptr; }

protected:
    ~EndpointMemory() = default;
};

/// Sender and receiver of packets at the endpoints: a collective or a copy. The fabric identifies
/// it by its number.
class PacketClient {
public:
    /// A packet of this client has arrived at `rank`; its data are visible from `visible` (>= now)
    /// on. The client owns packet.values.
    virtual void on_packet(const Packet& packet, std::uint32_t rank, Time visible) = 0;
    /// Functional mode: the values that a read or a fetch at `rank` returns; 0 for none.
    virtual std::uint32_t supply(const Packet& packet, std::uint32_t rank) = 0;
    /// A packet that waited for a credit at its source has left; `tag` is the packet's.
    virtual void on_departure(std::uint64_t tag, Time departure) = 0;
    /// Called shortly before the packet arrives: may prefetch, must not change state.
    virtual void prepare(const Packet& /*packet*/) const {}

protected:
    ~PacketClient() = default;
};

/// The fields of an endpoint that every packet touches, in one cache line.
class alignas(64) EndpointState : public PacketSink {
protected:
    EndpointState(
        std::uint32_t rank, const std::vector<Link*>& routes,
        const std::vector<PacketClient*>& clients, Scheduler& scheduler, bool relays) :
        routes_(routes), clients_(clients), scheduler_(scheduler), rank_(rank), relays_(relays) {}
    ~EndpointState() = default;

    const std::vector<Link*>& routes_;
    const std::vector<PacketClient*>& clients_;
    Scheduler& scheduler_;
    EndpointMemory* memory_ = nullptr;
    const void* touched_ = nullptr;  ///< address that each of its accesses touches
    std::uint32_t rank_;
    bool relays_;  ///< packets may pass through this GPU: routes end with a null entry
    std::uint64_t arrived_ = 0;  ///< packets
};
static_assert(sizeof(EndpointState) == 64);

/// A GPU's side of the fabric: stores writes in memory and tells their client, answers reads from
/// memory.
class Endpoint final : public EndpointState, public sc_core::sc_module, private EventHandler {
public:
    Endpoint(
        const sc_core::sc_module_name& name, std::uint32_t rank, const std::vector<Link*>& routes,
        const std::vector<PacketClient*>& clients, Scheduler& scheduler, bool relays = false);

    /// Without a memory, accesses take no time.
    void set_memory(EndpointMemory* memory) {
        memory_ = memory;
        touched_ = memory == nullptr ? nullptr : memory->touched();
    }
    /// Number of packets that have arrived.
    [[nodiscard]] std::uint64_t arrived() const { return arrived_; }
    void attach(Link& incoming) { incoming.bind(*this, 0, false); }

    OptionalTime accept(const Packet& packet, Link& from) override;
    void prepare(const Packet& packet) const override {
        prefetch(memory_);
        prefetch(touched_);
        if (const PacketClient* client = clients_[packet.client])
            client->prepare(packet);
    }

private:
    struct Outgoing {
        Packet packet;
        Link* link;
    };
    void on_event(std::uint64_t tag) override;
    /// Of 8-bit numbers.
    Time write_narrow(const Packet& packet);
    Time read_narrow(const Packet& packet);
    /// Relays a packet for another GPU: writes it to memory and then forwards it.
    Time pass_on(const Packet& packet, Link& from);
    Time serve(const Packet& packet, PacketKind kind, std::uint32_t route, Link& link);

    RingQueue<Outgoing> outgoing_;  ///< relayed packets, in the order in which memory has them
    Time last_ready_;
};

}  // namespace switchfold
