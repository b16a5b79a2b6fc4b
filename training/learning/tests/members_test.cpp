// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/members.h"

#include "training/learning/optimizer/optimizer.h"
#include "training/learning/replicas/averaging.h"
#include "training/learning/replicas/batch_parts.h"
#include "training/learning/tests/training.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace switchfold::learning::members_test {
namespace {

Task task_with(OptimizerRule rule) {
    Task task;
    task.network.depth = 4;
    task.network.width = 8;
    task.data.samples = 128;
    task.data.held_out = 32;
    task.optimizer.rule = rule;
    task.optimizer.rate = rule == OptimizerRule::kAveragedMomentum ? 0.1 : 0.01;
    task.optimizer.decay = 1e-3;
    task.batch = 12;
    task.steps = 40;
    task.evaluate_every = 5;
    return task;
}

constexpr OptimizerRule kRules[] = {
    OptimizerRule::kAveragedMomentum, OptimizerRule::kMomentum, OptimizerRule::kAdam,
    OptimizerRule::kAdamW};

std::vector<double> steps_of(const Task& task) {
    std::vector<double> ends(task.steps);
    std::iota(ends.begin(), ends.end(), 1.0);
    return ends;
}

TrainingRun with_members(const Task& task, std::uint32_t members) {
    return learn_with_members(task, members, steps_of(task), 1, {});
}

std::uint64_t on_one_gpu(const Task& task) {
    return trained(task, WeightPolicy::kLatest, timeline_of("gpipe", 1, 1, task.steps)).digest;
}

TEST(Members, OfADataParallelRunTrainTheBitsOfOneGpu) {
    for (const OptimizerRule rule : kRules) {
        const Task task = task_with(rule);
        for (const std::uint32_t members : {1U, 2U, 5U, 12U})
            EXPECT_EQ(with_members(task, members).digest, on_one_gpu(task));
    }
}

TEST(Members, OfUnequalPartsTrainTheBitsOfTheLargeBatch) {
    for (const OptimizerRule rule : kRules) {
        Task task = task_with(rule);
        task.shares = {7, 1, 4};
        EXPECT_EQ(with_members(task, 3).digest, on_one_gpu(task));
    }
}

/// Each member takes the mean gradient of its own samples, and the means are weighted b_i / B. Up
/// to the order of summation, this is the gradient of the large batch.
TEST(Members, OfUnequalPartsAreWeightedByTheirSamples) {
    Task task = task_with(OptimizerRule::kAveragedMomentum);
    task.optimizer.decay = 0;
    task.shares = {7, 1, 4};
    task.averaging.rule = AveragingRule::kPeriodic;
    task.averaging.keep_momentum = true;
    const double averaged = learn_averaged(task, {{1, 1, 1}, 0, 0}, 1, {}).losses.back().loss;
    const double sum = with_members(task, 3).losses.back().loss;
    EXPECT_NEAR(averaged / sum, 1, 1e-11);
    Task even = task;
    even.shares = {};
    const double other = learn_averaged(even, {{1, 1, 1}, 0, 0}, 1, {}).losses.back().loss;
    EXPECT_NEAR(other / sum, 1, 1e-11);
}

TEST(Members, ThatJoinAndLeaveAreBitIdentical) {
    for (const OptimizerRule rule : kRules) {
        Task task = task_with(rule);
        task.members = {{3, 2, 0}, {3, 0, 1}, {10, 5, 0}, {20, 0, 6}, {38, 1, 0}, {39, 1, 0}};
        ASSERT_TRUE(problems_of_members(task, 2).empty());
        const TrainingRun run = with_members(task, 2);
        ASSERT_EQ(run.membership.size(), 5U);
        std::vector<std::uint32_t> counts;
        for (const MembershipChange& change : run.membership) {
            EXPECT_TRUE(change.identical) << change.step;
            counts.push_back(change.members);
        }
        EXPECT_EQ(counts, (std::vector<std::uint32_t>{3, 8, 2, 3, 4}));
        EXPECT_EQ(run.membership[0].step, 4U);
        // Membership changes do not change the trained weights.
        EXPECT_EQ(run.digest, on_one_gpu(task));
    }
}

/// A joiner needs the moments as well: with the weights alone it would differ after its first
/// update.
TEST(Members, AreIdenticalInMomentsAsWell) {
    for (const OptimizerRule rule : kRules) {
        const Task task = task_with(rule);
        Version member = initial_version(task.optimizer, Vector::Ones(4));
        for (int step = 0; step < 3; ++step)
            member = updated(task.optimizer, member, Vector::Constant(4, 0.5 + step));
        Version joiner = member;
        EXPECT_TRUE(identical(
            updated(task.optimizer, joiner, Vector::Ones(4)),
            updated(task.optimizer, member, Vector::Ones(4))));
        Version weights_alone = initial_version(task.optimizer, member.weights);
        EXPECT_FALSE(identical(weights_alone, member));
        EXPECT_FALSE(identical(
            updated(task.optimizer, weights_alone, Vector::Ones(4)),
            updated(task.optimizer, member, Vector::Ones(4))));
    }
}

TEST(Members, ThatAreNotThereAreRefused) {
    Task task = task_with(OptimizerRule::kMomentum);
    task.members = {{5, 0, 2}};
    ASSERT_EQ(problems_of_members(task, 2).size(), 1U);
    EXPECT_EQ(problems_of_members(task, 2)[0].pointer, "/members/0/remove");
    task.members = {{5, 11, 0}, {4, 0, 1}, {40, 1, 0}};
    const std::vector<TaskProblem> problems = problems_of_members(task, 2);
    ASSERT_EQ(problems.size(), 4U);
    EXPECT_EQ(problems[0].pointer, "/members/0/add");  // 13 members for 12 samples
    EXPECT_EQ(problems[1].pointer, "/members/1/at");
    EXPECT_EQ(problems[2].pointer, "/members/2/at");
    EXPECT_EQ(problems[3].pointer, "/members/2/add");
    task.members = {{5, 1, 0}};
    task.shares = {1, 2};
    EXPECT_EQ(problems_of_members(task, 2).at(0).pointer, "/shares");
}

TEST(BatchParts, CoverTheBatchInProportion) {
    const std::vector<BatchPart> even = parts_of(10, 4);
    EXPECT_EQ(even[0].count(), 2U);
    EXPECT_EQ(even[1].count(), 3U);
    EXPECT_EQ(even.back().end, 10U);
    const std::vector<BatchPart> unequal = parts_of(12, 3, {4, 1, 1});
    EXPECT_EQ(unequal[0].count(), 8U);
    EXPECT_EQ(unequal[1].begin, 8U);
    EXPECT_EQ(unequal[2].count(), 2U);
}

}  // namespace
}  // namespace switchfold::learning::members_test
