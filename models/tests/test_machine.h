// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/simulation.h"
#include "interconnect/topology_builder.h"
#include "models/collectives/engine.h"
#include "models/gpu/gpu.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace switchfold {

/// A GPU with room for every kernel, a memory that is infinitely fast unless a rate is set, and
/// sums that take no time.
struct IdealPort final : RankPort, EventHandler {
    IdealPort(std::uint32_t r, Scheduler& s) : rank(r), scheduler(s) {}
    std::uint64_t occupy(const CommunicationKernel& kernel, ResidentListener& l) override {
        most_blocks = std::max(most_blocks, kernel.blocks);
        waiting.push_back(&l);
        ++occupied;
        scheduler.at(scheduler.now(), *this, 0);
        return 0;
    }
    void vacate(std::uint64_t) override {}
    void keep(std::uint64_t, std::uint32_t blocks) override { kept.push_back(blocks); }
    Time access(std::uint64_t read, std::uint64_t written) override {
        bytes_read += read;
        bytes_written += written;
        if (bytes_per_second > 0)
            free_at = std::max(free_at, scheduler.now()) +
                      Time(static_cast<std::uint64_t>(
                          static_cast<double>(read + written) / bytes_per_second * 1e12));
        return std::max(free_at, scheduler.now());
    }
    Time take_links(std::uint32_t, Time now, Time taken) override {
        links_free = std::max(links_free, now) + taken;
        return links_free;
    }
    void copy(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) override {
        copies.emplace_back(id, &listener);
        const Time takes = copy.isolated > Time()
                               ? copy.isolated
                               : serialization_time(copy.bytes, gigabytes_per_second(12));
        scheduler.at(scheduler.now() + takes, *this, copies.size());
    }
    void add_arrays(
        std::uint32_t id, std::uint64_t read, std::uint64_t written,
        KernelListener& listener) override {
        bytes_read += read;
        bytes_written += written;
        sums.emplace_back(id, &listener);
        scheduler.at(scheduler.now(), *this, kSum | (sums.size() - 1));
    }
    void on_event(std::uint64_t tag) override {
        if ((tag & kSum) != 0) {
            const auto [id, listener] = sums[tag ^ kSum];
            return listener->on_kernel_end(id);
        }
        if (tag > 0) {
            const auto [id, listener] = copies[tag - 1];
            return listener->on_copy_end(id);
        }
        ResidentListener* first = waiting.front();
        waiting.erase(waiting.begin());
        first->on_resident(rank);
    }
    [[nodiscard]] Draw kernel_draw() const override { return {draw_rate, 0}; }
    [[nodiscard]] double memory_left() const override { return left; }
    void tell_of_memory(MemoryLeftListener& listener) override { memory_listener = &listener; }
    void forget_listener(MemoryLeftListener& /*listener*/) override { memory_listener = nullptr; }
    /// A kernel begins (bytes per second) or ends (0) to draw from the memory, and leaves half.
    void draw(double rate) {
        draw_rate = rate;
        left = rate > 0 ? 0.5 : 1;
        if (memory_listener != nullptr)
            memory_listener->on_memory_left();
    }
    static constexpr std::uint64_t kSum = 1ULL << 62U;
    double bytes_per_second = 0;  ///< of the memory; 0: it takes no time
    Time free_at;
    Time links_free;
    double draw_rate = 0;
    double left = 1;
    MemoryLeftListener* memory_listener = nullptr;
    std::uint32_t rank;
    Scheduler& scheduler;
    std::vector<ResidentListener*> waiting;
    std::vector<std::pair<std::uint32_t, KernelListener*>> sums;
    std::vector<std::pair<std::uint32_t, CopyListener*>> copies;
    std::uint32_t most_blocks = 0;    ///< of any kernel so far
    std::vector<std::uint32_t> kept;  ///< blocks that remain, at each keep()
    std::uint32_t occupied = 0;       ///< number of kernels so far
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
};

/// Links and switches of an HGX H100 with ideal GPUs, so that collectives load the fabric alone.
class TestMachine : CollectiveListener {
public:
    static SwitchedTopology hgx(std::uint32_t gpus) {
        SwitchedTopology t;
        t.gpus = gpus;
        t.lanes_to_switch = {5, 4, 4, 5};
        t.link.lane_bandwidth = Bandwidth(26'562'500'000);
        t.link.efficiency_ppm = 871'000;
        t.link.buffer_per_lane = kibibytes(128);
        t.node.multicast = true;
        t.node.reduction = ReductionUnitParams{};
        return t;
    }
    /// A cluster of such machines: one NIC of 50 GB/s per GPU, all NICs on one switch.
    static Topology cluster(std::uint32_t machines, std::uint32_t gpus) {
        return cluster_of(machines, gpus).build();
    }
    static ClusterTopology cluster_of(std::uint32_t machines, std::uint32_t gpus) {
        ClusterTopology c;
        c.nodes = machines;
        c.node.value = hgx(gpus);
        LinkParams cable;
        cable.lane_bandwidth = gigabytes_per_second(50);
        cable.latency = nanoseconds(200);
        cable.buffer_per_lane = kibibytes(256);
        cable.format.header_flits = 2;
        cable.format.max_payload = kibibytes(4);
        LinkParams pcie = cable;
        pcie.lane_bandwidth = gigabytes_per_second(55);
        c.nics.count = gpus;
        c.nics.pcie_switches = gpus;
        c.nics.link = pcie;
        c.nics.gpu_link = pcie;
        SingleSwitchNetwork network;
        network.link = cable;
        c.network = network;
        return c;
    }
    /// The same cluster, with a switch between the machines that adds up packets (SHARP).
    static Topology reducing_cluster(std::uint32_t machines, std::uint32_t gpus) {
        ClusterTopology c = cluster_of(machines, gpus);
        ReductionUnitParams unit;
        unit.line = Bytes(4096);
        unit.buffer = mebibytes(4);
        unit.entries = 1024;
        unit.adder_rate = gigabytes_per_second(200);
        SingleSwitchNetwork network = std::get<SingleSwitchNetwork>(c.network);
        network.node.multicast = true;
        network.node.reduction = unit;
        c.network = network;
        return c.build();
    }
    static CollectiveParams params() {
        CollectiveParams p;
        p.ll.block_rate = gigabytes_per_second(6);
        p.ll128.block_rate = gigabytes_per_second(14);
        p.simple.block_rate = gigabytes_per_second(47);
        p.simple.hop_overhead = nanoseconds(2500);
        return p;
    }

    TestMachine(
        const Topology& topology, const CollectiveParams& params, const CollectivePolicy& policy,
        std::uint64_t functional_seed = 0, const std::vector<std::uint32_t>& members = {},
        std::uint32_t stands_for = 0) :
        TestMachine(
            topology, params, CollectivePolicies(policy), functional_seed, members, stands_for) {}

    TestMachine(
        const Topology& topology, const CollectiveParams& params,
        const CollectivePolicies& policies, std::uint64_t functional_seed = 0,
        const std::vector<std::uint32_t>& members = {}, std::uint32_t stands_for = 0,
        const std::vector<Group>& others = {}) :
        fabric("fabric", topology, simulation.scheduler()) {
        Group world{"world", {}};
        world.stands_for = stands_for;
        std::vector<RankPort*> pointers;
        for (std::uint32_t rank = 0; rank < fabric.gpus(); ++rank) {
            ports.push_back(std::make_unique<IdealPort>(rank, simulation.scheduler()));
            pointers.push_back(ports.back().get());
            world.ranks.push_back(rank);
        }
        if (!members.empty())
            world.ranks = members;
        group = world.ranks;
        groups = others;
        groups.insert(groups.begin(), std::move(world));
        engine = std::make_unique<CollectiveEngine>(
            "collectives", fabric, params, policies, pointers, groups, functional_seed);
    }

    /// Runs one collective over the members (all ranks, if none were given); returns its record.
    CollectiveRecord run(CollectiveOperation operation) {
        for (const std::uint32_t rank : group)
            engine->start(rank, rank, operation, 0, *this);
        simulation.run();
        return engine->records().empty() ? CollectiveRecord{} : engine->records().back();
    }

    /// Runs one collective of each of the other groups, beside each other; returns their records.
    std::vector<CollectiveRecord> run_others(CollectiveOperation operation) {
        for (operation.group = 1; operation.group < groups.size(); ++operation.group)
            for (const std::uint32_t rank : groups[operation.group].ranks)
                engine->start(rank, rank, operation, 0, *this);
        simulation.run();
        return engine->records();
    }

    Simulation simulation;
    Fabric fabric;
    std::vector<std::unique_ptr<IdealPort>> ports;
    std::unique_ptr<CollectiveEngine> engine;
    std::vector<std::uint32_t> group;
    std::vector<Group> groups;  ///< all ranks or `group`, and the others
    std::uint32_t ended = 0;

private:
    void on_collective_end(std::uint32_t) override { ++ended; }
};

inline CollectiveOperation
operation_of(CollectiveKind kind, std::uint64_t bytes, Datatype type = Datatype::kBfloat16) {
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = Bytes(bytes);
    operation.datatype = type;
    return operation;
}

}  // namespace switchfold
