// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/packet_watch.h"
#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace switchfold {

struct CollectiveRecord;  // models/collectives/engine.h
class RunningCollective;

/// A kernel of a rank's graph, by its index there.
struct KernelSeen {
    std::uint32_t rank;
    std::uint32_t operation;
    const KernelOperation& kernel;
};

/// A collective, or a transfer between two ranks (a send and its receive).
struct CollectiveSeen {
    CollectiveKind kind;
    std::uint32_t group;  ///< 0 of a transfer
    std::uint64_t sequence;
    Bytes bytes;
    // At its end:
    const CollectiveRecord* record = nullptr;
    const RunningCollective* running = nullptr;
};

/// Watches a simulation, without changing it: derive from it, override what is of interest, and
/// attach it (SimulateOptions::probes, RunOptions::probes). The timeline's counters, the period
/// detector (FastForward) and the memos of collectives (CollectiveMemos) are attached in the same
/// way. Times are those of the simulated machine.
///
/// What a simulation leaves out, no probe sees: ranks that others stand for, and packets of
/// repetitions and of collectives that pass as earlier ones did. "exact" in an experiment simulates
/// them all.
class Probe {
public:
    /// `label`: which of an experiment's simulations, as progress shows it.
    virtual void on_simulation_begin(std::string_view /*label*/) {}
    /// Only a probe that wants packets hears of them.
    [[nodiscard]] virtual bool wants_packets() const { return false; }
    /// A packet arrives at the end of a link: of a switch its head, of a GPU its tail.
    virtual void on_packet(const Packet& /*packet*/, const Link& /*over*/, Time /*now*/) {}
    /// A kernel is launched; it may have to wait for SMs.
    virtual void on_kernel_begin(const KernelSeen& /*kernel*/, Time /*now*/) {}
    virtual void on_kernel_end(const KernelSeen& /*kernel*/, Time /*now*/) {}
    /// The first rank calls it.
    virtual void on_collective_begin(const CollectiveSeen& /*collective*/, Time /*now*/) {}
    /// The last rank is done with it.
    virtual void on_collective_end(const CollectiveSeen& /*collective*/, Time /*now*/) {}
    /// A copy between a GPU and its host begins to use links.
    virtual void on_host_copy(Time /*now*/) {}
    /// Every 20 us, or more often where there are many events; the timeline's counters are read
    /// then.
    virtual void on_slice(Time /*now*/) {}

protected:
    ~Probe() = default;
};

/// Tells probes of packets.
class PacketProbes final : public PacketWatch {
public:
    explicit PacketProbes(const std::vector<Probe*>& probes) {
        for (Probe* probe : probes)
            if (probe->wants_packets())
                probes_.push_back(probe);
    }
    [[nodiscard]] bool empty() const { return probes_.empty(); }
    void on_packet(const Packet& packet, const Link& over, Time now) override {
        for (Probe* probe : probes_)
            probe->on_packet(packet, over, now);
    }

private:
    std::vector<Probe*> probes_;
};

}  // namespace switchfold
