// SPDX-License-Identifier: Apache-2.0
// Groups that lie over machines side by side, a few machines simulated, compared with all.
#include "sim/machine/folded_groups.h"

#include "sim/config/load.h"
#include "sim/machine/simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace switchfold::folded_groups_test {
namespace {

struct Plan {
    std::string system;
    std::uint32_t nodes = 4;
    std::uint32_t tensor = 2;  ///< every such rank is of a group
    std::uint32_t groups = 1;  ///< of these; others are idle
    std::vector<CollectiveKind> kinds{CollectiveKind::kAllReduce};
    std::uint64_t bytes = 200'000'000;
};

SystemParams system_of(const Plan& plan) {
    const auto file =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs/systems" / (plan.system + ".json");
    const std::vector<Override> overrides{{"/topology/nodes", plan.nodes}};
    return load_system(file, overrides);
}

/// Replicas of the parts of a network: rank r has part r mod `tensor`.
ExecutionGraph graph_of(const Plan& plan) {
    ExecutionGraph graph;
    graph.names = {"gradients"};
    const std::uint32_t ranks = 8 * plan.nodes;
    graph.ranks.assign(ranks, std::make_shared<RankGraph>());
    for (std::uint32_t g = 0; g < plan.groups; ++g) {
        auto rank = std::make_shared<RankGraph>();
        rank->streams = {{StreamKind::kGpu, "7", 0}};
        for (std::size_t i = 0; i < plan.kinds.size(); ++i) {
            CollectiveOperation collective;
            collective.group = g;
            collective.sequence = i;
            collective.kind = plan.kinds[i];
            collective.bytes = Bytes(plan.bytes);
            Operation operation;
            operation.body = collective;
            rank->operations.push_back(operation);
        }
        Group& group = graph.groups.emplace_back();
        group.name = fmt::format("part {}", g);
        for (std::uint32_t r = g; r < ranks; r += plan.tensor) {
            group.ranks.push_back(r);
            graph.ranks[r] = rank;
        }
    }
    return graph;
}

CollectivePolicies by(Algorithm algorithm) {
    CollectivePolicy policy;
    policy.algorithm = algorithm;
    CollectivePolicies policies;
    policies.all_reduce = policy;
    return policies;
}

CollectivePolicies rings() {
    return by(Algorithm::kRing);
}

std::optional<RankSymmetry> fold(const Plan& plan) {
    return fold_of_groups(system_of(plan), graph_of(plan), rings(), Fidelity::kAuto);
}

Outcome run(const Plan& plan, Fidelity fidelity) {
    SimulateOptions options;
    options.fidelity = fidelity;
    return simulate(system_of(plan), graph_of(plan), rings(), options);
}

double end_of(const Outcome& outcome, std::uint32_t rank) {
    return to_microseconds(outcome.times.at(rank).back().end);
}

double packets(const Outcome& outcome, const std::string& kind) {
    const StatisticTable* table = find_table(outcome.statistics, kind);
    double sum = 0;
    for (const StatisticTable::Row& row : table->rows)
        sum += row.values[table->column("packets")];
    return sum;
}

TEST(FoldedGroups, KeepTwoMachinesAndTakeTheTimeOfAll) {
    Plan plan{"hgx_a100_hdr_4_nics"};
    plan.groups = 2;
    const auto folded = fold(plan);
    ASSERT_TRUE(folded);
    EXPECT_EQ(folded->kept().size(), 16U);
    const Outcome few = run(plan, Fidelity::kAuto);
    const Outcome all = run(plan, Fidelity::kExact);
    for (const std::uint32_t rank : {0U, 1U, 17U, 31U})
        EXPECT_NEAR(end_of(few, rank) / end_of(all, rank), 1, 0.005) << rank;
    EXPECT_TRUE(few.times.at(31).size() == 1 && all.times.at(31).size() == 1);
    for (const std::string kind : {"links", "switches"})
        EXPECT_NEAR(packets(few, kind) / packets(all, kind), 1, 0.01) << kind;
}

TEST(FoldedGroups, NeedEqualPlacesAndWork) {
    Plan plan{"hgx_a100_hdr_4_nics"};
    plan.groups = 2;
    const SystemParams system = system_of(plan);
    ExecutionGraph graph = graph_of(plan);
    EXPECT_TRUE(fold_of_groups(system, graph, rings(), Fidelity::kAuto));
    ExecutionGraph other = graph;  // the second group has more to tell
    auto rank = std::make_shared<RankGraph>(*other.ranks[1]);
    std::get<CollectiveOperation>(rank->operations.front().body).bytes += Bytes(1 << 20U);
    for (const std::uint32_t r : other.groups[1].ranks)
        other.ranks[r] = rank;
    EXPECT_FALSE(fold_of_groups(system, other, rings(), Fidelity::kAuto));
    other = graph;  // a member of another place than on the other machines
    std::swap(other.groups[0].ranks.back(), other.groups[1].ranks.back());
    std::swap(other.ranks[30], other.ranks[31]);
    EXPECT_FALSE(fold_of_groups(system, other, rings(), Fidelity::kAuto));
    other = graph;  // one that works in two groups
    other.groups[1].ranks.front() = 0;
    EXPECT_FALSE(fold_of_groups(system, other, rings(), Fidelity::kAuto));
    EXPECT_FALSE(fold_of_groups(system, graph, by(Algorithm::kTree), Fidelity::kAuto));
}

RC_GTEST_PROP(FoldedGroups, TakeTheTimeOfWholeOnes, ()) {
    Plan plan;
    plan.system = *rc::gen::elementOf(std::vector<std::string>{
        "hgx_a100_hdr_4_nics", "dgx_a100_hdr", "dgx_h100_ndr", "h100_roce_clos", "mi300x_roce"});
    plan.nodes = *rc::gen::element(4U, 8U);
    plan.tensor = *rc::gen::element(2U, 4U, 8U);
    plan.groups = *rc::gen::element(plan.tensor, plan.tensor, plan.tensor / 2);
    plan.kinds.clear();
    for (int i = 0; i < *rc::gen::inRange(1, 3); ++i)
        plan.kinds.push_back(*rc::gen::element(
            CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
            CollectiveKind::kReduceScatter));
    plan.bytes = *rc::gen::element<std::uint64_t>(2'000'000, 20'000'000, 40'000'004);
    const auto folded = fold(plan);
    RC_CLASSIFY(folded.has_value());
    if (!folded)
        return;
    const double few = end_of(run(plan, Fidelity::kAuto), 0);
    const double all = end_of(run(plan, Fidelity::kExact), 0);
    RC_LOG() << plan.system << " " << plan.nodes << " tensor " << plan.tensor << " groups "
             << plan.groups << " bytes " << plan.bytes << ": " << few << " and " << all << " us\n";
    RC_ASSERT(std::abs(few / all - 1) < folded->error);
}

}  // namespace
}  // namespace switchfold::folded_groups_test
