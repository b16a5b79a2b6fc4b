// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/change.h"

#include "training/elastic/member_gpus.h"

#include <gtest/gtest.h>

namespace switchfold::elastic::change_test {
namespace {

Change at(Time time, Method method) {
    Change change;
    change.at.time = time;
    change.method = method;
    return change;
}

Time seconds(std::uint64_t value) {
    return Time(1'000'000'000'000) * value;
}

TEST(FollowChanges, TakesTheLowestFreeAndTheHighestMembers) {
    Change grow = at(seconds(1), Method::kJoin);
    grow.add.count = 2;
    Change shrink = at(seconds(2), Method::kLeave);
    shrink.remove.count = 3;
    Change migrate = at(seconds(3), Method::kRestart);
    migrate.add.ranks = {7, 6};
    migrate.remove.ranks = {0};
    ChangeProblems problems;
    const auto steps = follow_changes({0, 1, 4}, {grow, shrink, migrate}, 8, problems);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(steps[0].added, (Members{2, 3}));
    EXPECT_EQ(steps[0].members, (Members{0, 1, 2, 3, 4}));
    EXPECT_EQ(steps[1].removed, (Members{2, 3, 4}));
    EXPECT_EQ(steps[2].members, (Members{1, 6, 7}));
}

TEST(FollowChanges, TheDeadDoNotComeBackUnnamed) {
    Change gone = at(seconds(1), Method::kFailure);
    gone.remove.ranks = {1};
    gone.died = true;
    Change grow = at(seconds(2), Method::kJoin);
    grow.add.count = 1;
    ChangeProblems problems;
    const auto steps = follow_changes({0, 1}, {gone, grow}, 4, problems);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(steps[1].members, (Members{0, 2}));
}

TEST(FollowChanges, TellsEverythingThatIsWrongAtOnce) {
    Change remove = at(seconds(5), Method::kLeave);
    remove.remove.ranks = {0, 9, 0};
    Change grow = at(seconds(4), Method::kJoin);
    grow.add.count = 9;
    Change named = at(seconds(6), Method::kJoin);
    named.add.ranks = {1, 8};
    Change none = at(seconds(7), Method::kRestart);
    Change last = at(seconds(8), Method::kLeave);
    last.remove.count = 1;
    Change notice = at(seconds(9), Method::kJoin);
    notice.add.count = 1;
    notice.notice = seconds(1);
    notice.announced = true;
    Change step;
    step.at.step = 3;
    step.method = Method::kFailure;
    step.remove.count = 50;
    ChangeProblems problems;
    static_cast<void>(
        follow_changes({0, 1}, {remove, grow, named, none, last, notice, step}, 8, problems));
    std::vector<std::string> pointers;
    for (const auto& [pointer, what] : problems)
        pointers.push_back(pointer);
    EXPECT_EQ(
        pointers, (std::vector<std::string>{
                      "/1/at", "/6/at", "/0/remove/1", "/0/remove/2", "/1/add", "/2/add/0",
                      "/2/add/1", "/3", "/5/notice", "/5/announced", "/6/remove"}));
}

TEST(FollowChanges, RefusesToLeaveNobody) {
    Change leave = at(seconds(1), Method::kLeave);
    leave.remove.count = 2;
    ChangeProblems problems;
    static_cast<void>(follow_changes({0, 1}, {leave}, 8, problems));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].first, "/0/remove");
}

}  // namespace
}  // namespace switchfold::elastic::change_test
