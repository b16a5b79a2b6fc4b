// SPDX-License-Identifier: Apache-2.0
// Collectives of several groups at once: each passes as an earlier one of its group did unless
// another slows its data.
#include "models/tests/link_bytes.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace switchfold::collective_memos_test {
namespace {

using Ranks = std::vector<std::uint32_t>;

/// Groups that call a collective at once, again and again.
class Groups {
public:
    Groups(const Topology& topology, Algorithm algorithm, const std::vector<Ranks>& groups) :
        machine_(
            topology, TestMachine::params(), CollectivePolicies(policy_of(algorithm)), 0, {}, 0,
            named(groups)),
        bytes_(machine_.fabric) {
        machine_.engine->allow_shortcuts(bytes_, Recall::kBesideKernels);
    }
    struct Taken {
        std::uint64_t events = 0;
        std::vector<Time> times;  ///< by group
        double bytes = 0;         ///< over all links
    };
    /// 64 MiB of each; the groups' numbers.
    Taken call(const std::vector<std::uint32_t>& groups) {
        const std::uint64_t events = machine_.simulation.scheduler().events();
        const double bytes = bytes_.all().front();
        CollectiveOperation operation;
        operation.bytes = mebibytes(64);
        operation.sequence = sequence_++;
        const std::size_t records = machine_.engine->records().size();
        for (const std::uint32_t group : groups) {
            operation.group = group + 1;
            for (const std::uint32_t rank : machine_.groups[group + 1].ranks)
                machine_.engine->start(rank, rank, operation, 0, nobody_);
        }
        machine_.simulation.run();
        Taken taken{
            machine_.simulation.scheduler().events() - events, {}, bytes_.all().front() - bytes};
        taken.times.resize(groups.size());
        for (std::size_t i = records; i < machine_.engine->records().size(); ++i) {
            const CollectiveRecord& record = machine_.engine->records()[i];
            for (std::size_t k = 0; k < groups.size(); ++k)
                if (record.group == groups[k] + 1)
                    taken.times[k] = record.end - record.ready;
        }
        return taken;
    }

private:
    static CollectivePolicy policy_of(Algorithm algorithm) {
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        return policy;
    }
    static std::vector<Group> named(const std::vector<Ranks>& groups) {
        std::vector<Group> all;
        for (const Ranks& ranks : groups)
            all.push_back({"group", ranks});
        return all;
    }
    struct Nobody final : CollectiveListener {
        void on_collective_end(std::uint32_t) override {}
    } nobody_;
    TestMachine machine_;
    LinkBytes bytes_;
    std::uint64_t sequence_ = 0;
};

TEST(CollectiveMemos, GroupsOfOtherGpusPassBesideEachOther) {
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree, Algorithm::kInSwitch}) {
        Groups groups(TestMachine::hgx(8).build(), algorithm, {{0, 1, 2, 3}, {4, 5, 6, 7}});
        const auto first = groups.call({0, 1});
        for (int i = 0; i < 3; ++i) {
            const auto again = groups.call({0, 1});
            EXPECT_LT(again.events, first.events / 20);
            EXPECT_EQ(again.times, first.times);
            EXPECT_NEAR(again.bytes / first.bytes, 1, 1e-9);
        }
    }
}

TEST(CollectiveMemos, OneAlonePassesAsItDidBesideAnother) {
    Groups groups(TestMachine::hgx(8).build(), Algorithm::kRing, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    const auto both = groups.call({0, 1});
    const auto one = groups.call({1});
    EXPECT_LT(one.events, both.events / 20);
    EXPECT_EQ(one.times[0], both.times[1]);
    EXPECT_NEAR(one.bytes / both.bytes, 0.5, 1e-9);
}

TEST(CollectiveMemos, OverTheSameLinksTheySlowEachOther) {
    Groups groups(TestMachine::hgx(8).build(), Algorithm::kRing, {{0, 1, 2, 3}, {2, 3, 4, 5}});
    const auto alone = groups.call({0});
    EXPECT_LT(groups.call({0}).events, alone.events / 20);
    groups.call({1});
    const auto both = groups.call({0, 1});
    EXPECT_GT(both.events, alone.events);
    EXPECT_GT(to_seconds(both.times[0]), 1.3 * to_seconds(alone.times[0]));
}

TEST(CollectiveMemos, OneOverTheNetworkLeavesThoseInsideMachinesAlone) {
    Groups groups(
        TestMachine::cluster(2, 4), Algorithm::kRing, {{0, 1, 2, 3}, {4, 5, 6, 7}, {1, 5}});
    const auto inside = groups.call({0, 1});
    const auto between = groups.call({2});
    const auto all = groups.call({0, 1, 2});
    EXPECT_EQ(all.times, (std::vector<Time>{inside.times[0], inside.times[1], between.times[0]}));
    EXPECT_LT(all.events, (inside.events + between.events) / 20);
    EXPECT_NEAR(all.bytes / (inside.bytes + between.bytes), 1, 1e-9);
}

TEST(CollectiveMemos, WhatIsTouchedIsNoExample) {
    // Memories count what both move.
    Groups groups(TestMachine::cluster(2, 4), Algorithm::kRing, {{0, 1, 2, 3}, {1, 5}});
    const auto first = groups.call({0, 1});
    const auto again = groups.call({0});
    EXPECT_GT(again.events, first.events / 4) << "it was not recorded beside the other";
    EXPECT_LT(groups.call({0}).events, again.events / 20);
}

}  // namespace
}  // namespace switchfold::collective_memos_test
