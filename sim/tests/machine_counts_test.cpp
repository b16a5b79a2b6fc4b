// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/machine_counts.h"

#include "core/kernel/simulation.h"
#include "models/collectives/shortcuts/part_counts.h"
#include "sim/config/load.h"
#include "sim/machine/machine.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace switchfold::machine_counts_test {
namespace {

struct Ended final : CollectiveListener {
    void on_collective_end(std::uint32_t /*rank*/) override {}
};

TEST(MachineCounts, SumsRepeatAndPeaksDoNot) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/h100_4gpu.json", {});
    Simulation simulation;
    MachineOptions options;
    options.ranks = 4;
    options.groups = {{"group", std::vector<std::uint32_t>(4)}};
    std::iota(options.groups[0].ranks.begin(), options.groups[0].ranks.end(), 0U);
    Machine machine(simulation, system, options);
    MachineCounts counts(machine);
    counts.mark();
    CollectiveOperation operation;
    operation.bytes = Bytes(1 << 20);
    Ended ended;
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        machine.collectives().start(rank, 0, operation, 0, ended);
    simulation.run();
    const TrafficStatistics once = counts.counted();
    // Fractions of a packet accumulate, so that the sum over all components is right, too.
    for (int i = 0; i < 10; ++i)
        counts.repeat(0.25);
    const TrafficStatistics all = counts.counted();
    std::uint64_t packets_once = 0;
    std::uint64_t packets = 0;
    for (std::size_t i = 0; i < all.links.size(); ++i) {
        EXPECT_EQ(all.links[i].peak_waiting, once.links[i].peak_waiting);
        EXPECT_NEAR(
            static_cast<double>(all.links[i].packets),
            3.5 * static_cast<double>(once.links[i].packets), 1);
        packets_once += once.links[i].packets;
        packets += all.links[i].packets;
    }
    EXPECT_GT(packets_once, 100U);
    EXPECT_NEAR(static_cast<double>(packets), 3.5 * static_cast<double>(packets_once), 1);
    const auto wire = counts.wire_bytes_left_out();
    ASSERT_EQ(wire.size(), all.links.size());
    for (std::size_t i = 0; i < wire.size(); ++i)
        EXPECT_NEAR(wire[i], 2.5 * static_cast<double>(once.links[i].wire_bytes), 1);
    for (std::uint32_t rank = 0; rank < 4; ++rank)
        EXPECT_NEAR(
            counts.memory_bytes_left_out(rank),
            2.5 * static_cast<double>(once.memory[rank].packet_bytes), 1);
    ASSERT_EQ(all.memory.size(), 4U);
    EXPECT_GT(once.memory[0].footprint_peak, 0U);
    EXPECT_EQ(all.memory[0].footprint_peak, once.memory[0].footprint_peak);
    EXPECT_NEAR(
        static_cast<double>(all.memory[0].packet_bytes),
        3.5 * static_cast<double>(once.memory[0].packet_bytes), 1);
}

TEST(MachineCounts, OfAMessageAreThoseOfTheLinksOnItsWay) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
    Simulation simulation;
    MachineOptions options;
    options.ranks = 8;
    Machine machine(simulation, system, options);
    const MachineCounts counts(machine);
    const TransferEnd end{2, 5, Bytes(1 << 20), 0};
    Ended ended;
    for (const std::uint32_t rank : {2U, 5U})
        machine.collectives().start_transfer(rank, 0, end, 0, ended);
    simulation.run();
    const std::vector<std::uint64_t> all = counts.simulated();
    std::vector<double> found(all.size(), 0);
    for (const auto& count : counts.simulated_on(machine.fabric().links_between(2, 5)))
        found.at(count.index) += count.value;
    EXPECT_EQ(found, std::vector<double>(all.begin(), all.end()));
    EXPECT_GT(std::accumulate(found.begin(), found.end(), 0.0), 0);
}

TEST(MachineCounts, OfPartsThatWorkBesideEachOtherAddUp) {
    const SystemParams system =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch}) {
        Simulation simulation;
        MachineOptions options;
        options.ranks = 8;
        options.groups = {{"low", {0, 1, 2, 3}}, {"high", {4, 5, 6, 7}}};
        options.policies.all_reduce = CollectivePolicy{algorithm, Protocol::kAuto, 0, false};
        Machine machine(simulation, system, options);
        MachineCounts counts(machine);
        std::vector<PartCounts> parts;
        for (const Group& group : options.groups) {
            std::set<std::uint32_t> links;
            for (const std::uint32_t from : group.ranks)
                for (const std::uint32_t to : group.ranks)
                    if (from != to) {
                        const auto way = machine.fabric().links_between(from, to);
                        links.insert(way.begin(), way.end());
                    }
            parts.emplace_back(counts, counts.part_of({links.begin(), links.end()}));
        }
        std::vector<std::vector<double>> before;
        for (const PartCounts& part : parts)
            before.push_back(part.now());
        Ended ended;
        CollectiveOperation operation;
        for (std::uint32_t group = 0; group < 2; ++group) {
            operation.group = group;
            operation.bytes = mebibytes(1 + group);
            for (const std::uint32_t rank : options.groups[group].ranks)
                machine.collectives().start(rank, 0, operation, 0, ended);
        }
        simulation.run();
        const std::vector<double> once = counts.all();
        for (std::size_t i = 0; i < parts.size(); ++i)
            parts[i].add(parts[i].since(before[i]));
        const std::vector<double> twice = counts.all();
        ASSERT_EQ(once.size(), twice.size());
        for (std::size_t i = 0; i < once.size(); ++i)
            EXPECT_NEAR(twice[i], 2 * once[i], 1e-6 * once[i]) << i;
        EXPECT_GT(std::accumulate(once.begin(), once.end(), 0.0), 0);
    }
}

}  // namespace
}  // namespace switchfold::machine_counts_test
