// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "interconnect/fabric.h"
#include "interconnect/topology_builder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace switchfold {

inline SwitchParams reducing(const ReductionUnitParams& unit) {
    SwitchParams p;
    p.multicast = true;
    p.reduction = unit;
    return p;
}

inline std::uint32_t
add_node(Topology& t, NodeKind kind, const std::string& name, std::uint32_t of) {
    t.nodes.push_back({kind, name, of});
    return static_cast<std::uint32_t>(t.nodes.size() - 1);
}

/// Every GPU is attached to each of three switches.
inline Topology one_level(std::uint32_t gpus, const ReductionUnitParams& unit) {
    SwitchedTopology t;
    t.gpus = gpus;
    t.lanes_to_switch = {2, 1, 1};
    t.node = reducing(unit);
    return t.build();
}

/// Like a DGX-2: two boards of two switches, each with a trunk to its twin on the other board.
inline Topology two_boards(std::uint32_t gpus, const ReductionUnitParams& unit) {
    Topology t;
    t.links = {LinkParams{}};
    t.switches = {reducing(unit)};
    for (std::uint32_t g = 0; g < gpus; ++g)
        add_node(t, NodeKind::kGpu, fmt::format("gpu{}", g), 0);
    for (std::uint32_t s = 0; s < 4; ++s)
        add_node(t, NodeKind::kSwitch, fmt::format("board{}switch{}", s / 2, s % 2), 0);
    for (std::uint32_t g = 0; g < gpus; ++g)
        for (std::uint32_t s = 0; s < 2; ++s)
            t.edges.push_back({g, gpus + 2 * (g % 2) + s, 1, 0});
    for (std::uint32_t s = 0; s < 2; ++s)
        t.edges.push_back({gpus + s, gpus + 2 + s, 4, 0});
    return t;
}

/// Like InfiniBand with SHARP: one NIC per GPU, two GPUs per leaf, two spines.
inline Topology fat_tree(std::uint32_t gpus, const ReductionUnitParams& unit) {
    Topology t;
    t.links = {LinkParams{}};
    t.switches = {reducing(unit), SwitchParams{}};
    for (std::uint32_t g = 0; g < gpus; ++g)
        add_node(t, NodeKind::kGpu, fmt::format("gpu{}", g), 0);
    std::vector<std::uint32_t> spines;
    for (std::uint32_t s = 0; s < 2; ++s)
        spines.push_back(add_node(t, NodeKind::kSwitch, fmt::format("spine{}", s), 0));
    std::uint32_t leaf = 0;
    for (std::uint32_t g = 0; g < gpus; ++g) {
        if (g % 2 == 0) {
            leaf = add_node(t, NodeKind::kSwitch, fmt::format("leaf{}", g / 2), 0);
            for (const std::uint32_t spine : spines)
                t.edges.push_back({leaf, spine, 1, 0});
        }
        const std::uint32_t nic = add_node(t, NodeKind::kNic, fmt::format("nic{}", g), 1);
        t.edges.push_back({g, nic, 1, 0});
        t.edges.push_back({nic, leaf, 1, 0});
    }
    return t;
}

inline Topology family(int index, std::uint32_t gpus, const ReductionUnitParams& unit) {
    return index == 0   ? one_level(gpus, unit)
           : index == 1 ? two_boards(gpus, unit)
                        : fat_tree(gpus, unit);
}

/// A random reduction unit, small enough to fill up at times.
inline ReductionUnitParams any_unit() {
    ReductionUnitParams unit;
    unit.entries = *rc::gen::inRange(1U, 40U);
    unit.buffer = Bytes(*rc::gen::inRange<std::uint64_t>(128, 8192));
    unit.when_full = *rc::gen::element(WhenFull::kStall, WhenFull::kEvict);
    unit.timeout = nanoseconds(*rc::gen::inRange<std::uint64_t>(100, 20'000));
    return unit;
}

/// Every member pushes values for every line. A line's home rank merges the partial sums that reach
/// it and multicasts the total.
struct Pusher : PacketClient {
    /// `of`: the members; all GPUs if empty.
    Pusher(Fabric& f, ElementType type, std::vector<std::uint32_t> of = {}) :
        fabric(f), id(f.add_client(*this)), ranks(std::move(of)) {
        if (ranks.empty()) {
            ranks.resize(f.gpus());
            std::iota(ranks.begin(), ranks.end(), 0U);
        }
        group = fabric.create_group(ranks, type, refused);
    }
    ~Pusher() {
        if (group)
            fabric.remove_group(*group);
    }
    Pusher(const Pusher&) = delete;
    Pusher& operator=(const Pusher&) = delete;

    void push(std::uint32_t member, std::uint64_t line, std::vector<float> values) {
        push_train(member, line, 1, std::move(values), line);
    }
    /// Pushes consecutive lines of equal length in one packet.
    void push_train(
        std::uint32_t member, std::uint64_t first, std::uint8_t lines, std::vector<float> values,
        std::uint64_t slot) {
        fabric.send(
            *group, member,
            {.kind = PacketKind::kReducePush,
             .payload = static_cast<std::uint32_t>(values.size()) * 4,
             .tag = first,
             .client = id,
             .slot = slot,
             .values = fabric.values().put(std::move(values)),
             .home = static_cast<std::uint32_t>(first % ranks.size()),
             .lines = lines});
    }
    void on_packet(const Packet& packet, std::uint32_t rank, Time tail) override {
        last = std::max(last, tail);
        const std::vector<float> values = fabric.values().get(packet.values);
        fabric.values().drop(packet.values);
        if (packet.kind == PacketKind::kMulticastCopy) {
            trains += packet.lines > 1 ? 1 : 0;
            const auto length = static_cast<std::ptrdiff_t>(values.size() / packet.lines);
            for (std::uint32_t i = 0; i < packet.lines; ++i) {
                ++arrived[{packet.tag + i, rank}];
                sums[{packet.tag + i, rank}] = {
                    values.begin() + i * length, values.begin() + (i + 1) * length};
            }
            return;
        }
        ASSERT_EQ(packet.kind, PacketKind::kReducePartial);
        const std::size_t member = packet.tag % ranks.size();
        EXPECT_EQ(rank, ranks[member]);
        ++partials;
        auto& merged = home[packet.tag];
        merged.first += packet.count;
        merged.second.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            merged.second[i] += values[i];
        EXPECT_LE(merged.first, ranks.size());
        if (merged.first == ranks.size())
            fabric.send(
                *group, static_cast<std::uint32_t>(member),
                {.kind = PacketKind::kMulticastWrite,
                 .payload = static_cast<std::uint32_t>(values.size()) * 4,
                 .tag = packet.tag,
                 .client = id,
                 .slot = packet.tag,
                 .values = fabric.values().put(merged.second)});
    }
    std::uint32_t supply(const Packet&, std::uint32_t) override { return 0; }
    void on_departure(std::uint64_t, Time) override {}

    Fabric& fabric;
    std::uint32_t id;
    std::vector<std::uint32_t> ranks;
    std::string refused;
    std::unique_ptr<ReductionGroup> group;
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> arrived;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<float>> sums;
    std::map<std::uint64_t, std::pair<std::uint32_t, std::vector<float>>> home;
    Time last;  ///< when the last packet's tail came
    std::uint64_t partials = 0;
    std::uint64_t trains = 0;  ///< received packets with the sums of several lines
};

inline ReductionUnitStatistics total(const Fabric& fabric) {
    ReductionUnitStatistics sum;
    for (const auto& node : fabric.switches())
        for (std::size_t p = 0; p < node->incoming().size(); ++p)
            if (const ReductionUnit* unit = node->unit(p)) {
                sum.reductions += unit->statistics().reductions;
                sum.bytes_in += unit->statistics().bytes_in;
                sum.stalled_requests += unit->statistics().stalled_requests;
                sum.evictions += unit->statistics().evictions;
                sum.timeouts += unit->statistics().timeouts;
            }
    return sum;
}

inline void expect_clean(const Fabric& fabric) {
    for (const auto& node : fabric.switches())
        for (std::size_t port = 0; port < node->incoming().size(); ++port)
            if (const ReductionUnit* unit = node->unit(port))
                RC_ASSERT(unit->entries_used() == 0U);
    for (const auto& link : fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

}  // namespace switchfold
