// SPDX-License-Identifier: Apache-2.0
// Sets of ranks that do the same apart from each other, one simulated, compared with all simulated.
#include "core/json.h"
#include "models/collectives/choice/named_policies.h"
#include "models/collectives/choice/tuning.h"
#include "models/collectives/engine.h"
#include "sim/config/load.h"
#include "sim/machine/simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::alike_sets_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

SystemParams system_of(const std::string& name, const std::vector<Override>& overrides = {}) {
    const auto file =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs/systems" / (name + ".json");
    return load_system(file, overrides);
}

std::vector<Override> nodes(std::uint32_t count) {
    return {{"/topology/nodes", count}};
}

struct Call {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint64_t bytes = 0;
};

/// Every rank of a group computes and communicates in turn; the last group has `more` calls.
ExecutionGraph
graph_of(const std::vector<Ranks>& groups, const std::vector<Call>& calls, std::size_t more = 0) {
    ExecutionGraph graph;
    graph.names = {"product", "collective"};
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        graph.groups.push_back({fmt::format("group {}", g), groups[g]});
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
        const std::size_t all = calls.size() + (g + 1 == groups.size() ? more : 0);
        for (std::uint32_t i = 0; i < all; ++i) {
            Operation product;
            KernelOperation kernel;
            kernel.grid = {132, 1, 1};
            kernel.block = {256, 1, 1};
            kernel.isolated = microseconds(30);
            kernel.bytes_read = Bytes(20'000'000);
            product.body = kernel;
            if (i > 1)
                product.dependencies = {2 * i - 3};
            rank->operations.push_back(product);
            Operation reduces;
            reduces.name = 1;
            reduces.stream = 1;
            CollectiveOperation collective;
            collective.kind = calls[i % calls.size()].kind;
            collective.bytes = Bytes(calls[i % calls.size()].bytes);
            collective.group = g;
            collective.sequence = i;
            reduces.body = collective;
            reduces.dependencies = {2 * i};
            rank->operations.push_back(reduces);
        }
        for (const std::uint32_t member : groups[g]) {
            graph.ranks.resize(std::max<std::size_t>(graph.ranks.size(), member + 1));
            graph.ranks[member] = rank;
        }
    }
    for (auto& rank : graph.ranks)
        if (!rank)
            rank = std::make_shared<RankGraph>();
    graph.provenance.synthetic = true;
    return graph;
}

Outcome outcome_of(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies,
    Fidelity fidelity) {
    SimulateOptions options;
    options.fidelity = fidelity;
    return simulate(system, graph, policies, options);
}

double end_of(const std::vector<OperationTimes>& rank) {
    return rank.empty() ? 0 : static_cast<double>(rank.back().end.count());
}

double sum_of(const Outcome& outcome, std::string_view kind, std::string_view name) {
    const StatisticTable* table = find_table(outcome.statistics, kind);
    double sum = 0;
    for (const auto& row : table->rows)
        sum += row.values[table->column(name)];
    return sum;
}

/// All sets take the time of all simulated, and all counts are there. \returns the ranks that were
/// not simulated.
double expect_same(
    const SystemParams& system, const ExecutionGraph& graph, const CollectivePolicies& policies) {
    const Outcome every = outcome_of(system, graph, policies, Fidelity::kExact);
    const Outcome few = outcome_of(system, graph, policies, Fidelity::kAuto);
    EXPECT_EQ(every.folded_ranks, 0);
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank) {
        EXPECT_EQ(few.times[rank].size(), every.times[rank].size());
        EXPECT_NEAR(
            end_of(few.times[rank]), end_of(every.times[rank]), 0.005 * end_of(every.times[rank]))
            << rank;
    }
    EXPECT_EQ(few.collectives.size(), every.collectives.size());
    const auto expect_sum = [&](std::string_view kind, std::string_view name) {
        const double sum = sum_of(every, kind, name);
        EXPECT_NEAR(sum_of(few, kind, name), sum, 0.005 * sum) << kind;
    };
    expect_sum("links", "payload_bytes");
    expect_sum("switches", "packets");
    expect_sum("memory", "packet_bytes");
    return few.folded_ranks;
}

std::vector<Ranks> consecutive(std::uint32_t groups, std::uint32_t size) {
    std::vector<Ranks> all(groups);
    for (std::uint32_t rank = 0; rank < groups * size; ++rank)
        all[rank / size].push_back(rank);
    return all;
}

std::vector<Ranks> strided(std::uint32_t groups, std::uint32_t size) {
    std::vector<Ranks> all(groups);
    for (std::uint32_t rank = 0; rank < groups * size; ++rank)
        all[rank % groups].push_back(rank);
    return all;
}

const std::vector<Call> kCalls{
    {CollectiveKind::kAllReduce, 4'000'000},
    {CollectiveKind::kAllGather, 2'000'000},
    {CollectiveKind::kReduceScatter, 1'000'000}};

TEST(AlikeSets, OneStandsForAllInASwitchDomain) {
    const SystemParams nvl72 = system_of("gb200_nvl72");
    CollectivePolicies switches(in_switch_policy());
    for (const CollectivePolicies& policies : {CollectivePolicies(ring_policy()), switches})
        EXPECT_EQ(expect_same(nvl72, graph_of(consecutive(8, 4), kCalls), policies), 28);
    EXPECT_EQ(expect_same(nvl72, graph_of(strided(8, 4), kCalls), ring_policy()), 28);
}

TEST(AlikeSets, MachinesStandForMachines) {
    const SystemParams machines = system_of("dgx_h100_ndr", nodes(3));
    EXPECT_EQ(expect_same(machines, graph_of(consecutive(3, 8), kCalls), ring_policy()), 16);
    EXPECT_EQ(expect_same(machines, graph_of(consecutive(6, 4), kCalls), ring_policy()), 20);
}

TEST(AlikeSets, OnRailsEachHasItsNic) {
    const SystemParams machines = system_of("dgx_h100_ndr", nodes(2));
    EXPECT_EQ(expect_same(machines, graph_of(strided(8, 2), kCalls), ring_policy()), 14);
}

// Two GPUs share a NIC: their groups wait for each other, and pairs of groups are alike.
TEST(AlikeSets, ThatShareALinkAreOne) {
    const SystemParams machines = system_of("hgx_a100_hdr_4_nics", nodes(2));
    const double represented =
        expect_same(machines, graph_of(strided(8, 2), kCalls), ring_policy());
    EXPECT_GE(represented, 0);
    EXPECT_LT(represented, 14);
}

TEST(AlikeSets, OneThatDoesMoreIsSimulated) {
    const SystemParams machine = system_of("hgx_h100");
    EXPECT_EQ(expect_same(machine, graph_of(consecutive(4, 2), kCalls, 2), ring_policy()), 4);
}

TEST(AlikeSets, OnOtherGpusAreSimulated) {
    const std::vector<Override> other{
        {"/gpus", Json::parse(R"([{"ranks": "2-3", "gpu": "gpus/a100_80gb.json"}])")}};
    const SystemParams machine = system_of("hgx_h100", other);
    EXPECT_EQ(expect_same(machine, graph_of(consecutive(4, 2), kCalls), ring_policy()), 4);
}

TEST(AlikeSets, WithAnUnlikeLinkAreSimulated) {
    const std::string slow = R"([{"type": "link_degraded", "component": "gpu3_to_switch0_e3",
                                   "bandwidth_ppm": 300000}])";
    const std::string errors = R"([{"type": "bit_errors", "component": "gpu3_to_switch1",
                                     "bit_error_rate": 1e-6}])";
    const ExecutionGraph pairs = graph_of(consecutive(4, 2), kCalls);
    for (const std::string& faults : {slow, errors}) {
        const SystemParams machine = system_of("hgx_h100", {{"/faults", Json::parse(faults)}});
        EXPECT_EQ(expect_same(machine, pairs, ring_policy()), 4);
        const Outcome few = outcome_of(machine, pairs, ring_policy(), Fidelity::kAuto);
        EXPECT_GT(end_of(few.times[2]), end_of(few.times[0]));
    }
    const SystemParams down = system_of(
        "hgx_h100",
        {{"/faults", Json::parse(R"([{"type": "link_down", "component": "gpu3_to_switch1"}])")}});
    EXPECT_EQ(outcome_of(down, pairs, ring_policy(), Fidelity::kAuto).folded_ranks, 0);
}

TEST(AlikeSets, MessagesTieRanks) {
    const SystemParams machine = system_of("hgx_h100");
    ExecutionGraph graph = graph_of(consecutive(8, 1), {{CollectiveKind::kAllReduce, 1000}});
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        auto more = std::make_shared<RankGraph>(*graph.ranks[rank]);
        Operation message;
        message.stream = 1;
        if (rank % 2 == 0)
            message.body = SendOperation{rank + 1, Bytes(3'000'000), 7};
        else
            message.body = ReceiveOperation{rank - 1, Bytes(3'000'000), 7};
        more->operations.push_back(message);
        graph.ranks[rank] = std::move(more);
    }
    EXPECT_EQ(expect_same(machine, graph, ring_policy()), 6);
    const Outcome few = outcome_of(machine, graph, ring_policy(), Fidelity::kAuto);
    std::set<std::pair<std::uint32_t, std::uint32_t>> messages;
    for (const CollectiveRecord& record : few.collectives)
        if (record.sender != record.receiver)
            messages.emplace(record.sender, record.receiver);
    EXPECT_EQ(messages.size(), 4U);
}

TEST(AlikeSets, WhereSwitchesRefuseGroupsAllAreSimulated) {
    const SystemParams full =
        system_of("gb200_nvl72", {{"/topology/switch/reduction/max_groups", 10}});
    EXPECT_EQ(
        outcome_of(full, graph_of(consecutive(8, 4), kCalls), ring_policy(), Fidelity::kAuto)
            .folded_ranks,
        0);
}

TEST(AlikeSets, OfAnyGroupsTakeTheTimeOfAll) {
    const std::vector<SystemParams> systems{
        system_of("gb200_nvl72"), system_of("hgx_h100"), system_of("dgx_h100_ndr", nodes(2)),
        system_of("dgx_a100_hdr", nodes(2)), system_of("mi300x_8")};
    double represented = 0;
    ASSERT_TRUE(rc::check([&] {
        const auto which = *rc::gen::inRange<std::size_t>(0, systems.size());
        const auto size = *rc::gen::element(1U, 2U, 4U);
        const std::uint32_t gpus = which == 1 || which == 4 ? 8 : 16;
        const auto groups = *rc::gen::inRange<std::uint32_t>(2, gpus / size + 1);
        std::vector<Call> calls(*rc::gen::inRange<std::size_t>(1, 4));
        for (Call& call : calls) {
            call.kind = *rc::gen::elementOf(kCollectiveKinds);
            call.bytes = 64 * *rc::gen::inRange<std::uint64_t>(1, 60'000);
        }
        const bool apart = *rc::gen::arbitrary<bool>();
        const auto all = apart ? strided(groups, size) : consecutive(groups, size);
        const auto more = *rc::gen::element<std::size_t>(0, 0, 1);
        const bool rings = *rc::gen::arbitrary<bool>();
        const CollectivePolicies policies =
            rings ? CollectivePolicies(ring_policy()) : CollectivePolicies();
        represented += expect_same(systems[which], graph_of(all, calls, more), policies);
        RC_ASSERT(!::testing::Test::HasFailure());
    }));
    EXPECT_GT(represented, 0);
}

}  // namespace
}  // namespace switchfold::alike_sets_test
