// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/schedule.h"

#include "core/error.h"
#include "workloads/tests/random_graph.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace switchfold::schedule_test {
namespace {

Schedule measured(const RankGraph& rank) {
    return evaluate(rank, [](std::uint32_t, const Operation& operation) {
        return measured_duration(operation);
    });
}

TEST(Schedule, WaitsForStreamDependenciesAndGap) {
    RankGraph rank;
    rank.streams = {{StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}};
    const auto kernel = [](std::uint32_t stream, std::vector<std::uint32_t> dependencies,
                           Time gap) {
        Operation operation;
        operation.stream = stream;
        operation.dependencies = std::move(dependencies);
        operation.gap = gap;
        operation.body = KernelOperation{};
        return operation;
    };
    rank.operations = {
        kernel(0, {}, nanoseconds(1)), kernel(1, {}, Time()), kernel(1, {0}, nanoseconds(2)),
        kernel(0, {}, Time())};
    const Schedule schedule =
        evaluate(rank, [](std::uint32_t i, const Operation&) { return nanoseconds(10 * (i + 1)); });
    EXPECT_EQ(schedule.operations[0].start, nanoseconds(1));
    EXPECT_EQ(schedule.operations[0].end, nanoseconds(11));
    EXPECT_EQ(schedule.operations[1].end, nanoseconds(20));
    EXPECT_EQ(schedule.operations[2].start, nanoseconds(22)) << "20 is later than 11, then the gap";
    EXPECT_EQ(schedule.operations[3].start, nanoseconds(11));
    EXPECT_EQ(schedule.makespan, nanoseconds(52));
}

TEST(Schedule, RefusesForwardDependencies) {
    RankGraph rank;
    rank.streams = {{StreamKind::kGpu, "7", 0}};
    Operation operation;
    operation.dependencies = {0};
    rank.operations = {operation};
    EXPECT_THROW(measured(rank), InternalError);
}

RC_GTEST_PROP(ScheduleProperty, StartsAreTheEarliestThatTheOrderAllows, ()) {
    const RankGraph rank = test_data::random_rank();
    const Schedule schedule = measured(rank);
    RC_ASSERT(schedule.operations.size() == rank.operations.size());
    Time last;
    for (std::size_t i = 0; i < rank.operations.size(); ++i) {
        const Operation& operation = rank.operations[i];
        Time ready;
        for (std::size_t j = 0; j < i; ++j)
            if (rank.operations[j].stream == operation.stream ||
                std::count(operation.dependencies.begin(), operation.dependencies.end(), j) > 0)
                ready = std::max(ready, schedule.operations[j].end);
        RC_ASSERT(schedule.operations[i].start == ready + operation.gap);
        RC_ASSERT(
            schedule.operations[i].end ==
            schedule.operations[i].start + measured_duration(operation));
        last = std::max(last, schedule.operations[i].end);
    }
    RC_ASSERT(schedule.makespan == last);
}

RC_GTEST_PROP(ScheduleProperty, SlowerOperationsNeverEndSooner, ()) {
    const RankGraph rank = test_data::random_rank();
    const Schedule fast = measured(rank);
    const Schedule slow =
        evaluate(rank, [](std::uint32_t, const Operation& o) { return measured_duration(o) * 2; });
    for (std::size_t i = 0; i < rank.operations.size(); ++i)
        RC_ASSERT(slow.operations[i].end >= fast.operations[i].end);
    RC_ASSERT(slow.makespan <= fast.makespan * 2);
}

}  // namespace
}  // namespace switchfold::schedule_test
