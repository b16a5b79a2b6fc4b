// SPDX-License-Identifier: Apache-2.0
#include "core/list_schedule.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::list_schedule_test {
namespace {

TEST(ListSchedule, ATaskBeginsWhenItsDeviceIsFreeAndAllItNeedsHasCome) {
    ListSchedule schedule;
    const std::uint32_t one = schedule.add_device();
    const std::uint32_t other = schedule.add_device();
    const std::uint32_t first = schedule.add_task(one, 2);
    const std::uint32_t second = schedule.add_task(one, 3);
    const std::uint32_t beside = schedule.add_task(other, 1);
    const std::uint32_t last = schedule.add_task(other, 4);
    schedule.add_need(second, beside);
    schedule.add_need(last, first, 0.5);
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(schedule.times()[first].begin, 0);
    EXPECT_EQ(schedule.times()[second].begin, 2);
    EXPECT_EQ(schedule.times()[beside].begin, 0);
    EXPECT_EQ(schedule.times()[last].begin, 2.5);
    EXPECT_EQ(schedule.times()[last].end, 6.5);
    EXPECT_EQ(schedule.order(), (std::vector<std::uint32_t>{first, beside, second, last}));
}

TEST(ListSchedule, TheMostUrgentComesFirstThenTheFirstAdded) {
    ListSchedule schedule;
    const std::uint32_t device = schedule.add_device();
    const std::uint32_t calm = schedule.add_task(device, 1, 1);
    const std::uint32_t urgent = schedule.add_task(device, 1, 7);
    const std::uint32_t alike = schedule.add_task(device, 1, 7);
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(schedule.order(), (std::vector<std::uint32_t>{urgent, alike, calm}));
}

TEST(ListSchedule, ALinkCarriesInTheOrderOfArrival) {
    ListSchedule schedule;
    const std::uint32_t device = schedule.add_device();
    const std::uint32_t link = schedule.add_device(ListSchedule::Takes::kFirstReady);
    const std::uint32_t late = schedule.add_task(link, 1, 9);
    const std::uint32_t early = schedule.add_task(link, 5);
    const std::uint32_t made = schedule.add_task(device, 2);
    const std::uint32_t before = schedule.add_task(link, 3);
    schedule.add_need(late, made, 0.5);
    schedule.add_need(early, made);
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(schedule.times()[before].begin, 0);
    EXPECT_EQ(schedule.times()[early].begin, 3);
    EXPECT_EQ(schedule.times()[late].begin, 8);
}

TEST(ListSchedule, ADeviceMayTakeTasksInTheOrderInWhichTheyWereAdded) {
    ListSchedule schedule;
    const std::uint32_t other = schedule.add_device();
    const std::uint32_t device = schedule.add_device(ListSchedule::Takes::kNextAdded);
    const std::uint32_t late = schedule.add_task(device, 1);
    const std::uint32_t ready = schedule.add_task(device, 1, 9);
    const std::uint32_t before = schedule.add_task(other, 4);
    schedule.add_need(late, before);
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(schedule.times()[late].begin, 4);
    EXPECT_EQ(schedule.times()[ready].begin, 5);
}

TEST(ListSchedule, WhatTakesNoTimeOnALinkComesBeforeDevicesChoose) {
    ListSchedule schedule;
    const std::uint32_t device = schedule.add_device();
    const std::uint32_t link = schedule.add_device(ListSchedule::Takes::kFirstReady);
    const std::uint32_t first = schedule.add_task(device, 1, 9);
    const std::uint32_t calm = schedule.add_task(device, 1, 1);
    const std::uint32_t message = schedule.add_task(link, 0);
    const std::uint32_t urgent = schedule.add_task(device, 1, 5);
    schedule.add_need(message, first);
    schedule.add_need(urgent, message);
    ASSERT_TRUE(schedule.run());
    EXPECT_EQ(schedule.order(), (std::vector<std::uint32_t>{first, message, urgent, calm}));
}

TEST(ListSchedule, TasksThatWaitForEachOtherDoNotEnd) {
    ListSchedule schedule;
    const std::uint32_t device = schedule.add_device();
    const std::uint32_t a = schedule.add_task(device, 1);
    const std::uint32_t b = schedule.add_task(device, 1);
    schedule.add_need(a, b);
    schedule.add_need(b, a);
    EXPECT_FALSE(schedule.run());
}

// Any tasks on one device are a sum; of several the longest chain and the busiest device bound
// them, and no device is idle while one of its tasks is ready.
TEST(ListSchedule, NoDeviceIsIdleWhileATaskIsReady) {
    ASSERT_TRUE(rc::check([] {
        ListSchedule schedule;
        const auto devices = *rc::gen::inRange<std::uint32_t>(1, 5);
        for (std::uint32_t i = 0; i < devices; ++i)
            schedule.add_device();
        const auto count = *rc::gen::inRange<std::uint32_t>(1, 30);
        std::vector<std::uint32_t> on;
        std::vector<std::vector<std::uint32_t>> needs(count);
        for (std::uint32_t task = 0; task < count; ++task) {
            on.push_back(*rc::gen::inRange<std::uint32_t>(0, devices));
            schedule.add_task(on.back(), *rc::gen::inRange(1, 10), *rc::gen::inRange(0, 3));
            for (std::uint32_t need = 0; need < task; ++need)
                if (*rc::gen::inRange(0, 4) == 0) {
                    needs[task].push_back(need);
                    schedule.add_need(task, need);
                }
        }
        RC_ASSERT(schedule.run());
        const auto& times = schedule.times();
        for (std::uint32_t task = 0; task < count; ++task) {
            double ready = 0;
            for (const std::uint32_t need : needs[task])
                ready = std::max(ready, times[need].end);
            RC_ASSERT(times[task].begin >= ready);
            // From then on the device was busy.
            double busy = 0;
            for (std::uint32_t other = 0; other < count; ++other)
                if (on[other] == on[task])
                    busy += std::max(
                        0.0, std::min(times[other].end, times[task].begin) -
                                 std::max(times[other].begin, ready));
            RC_ASSERT(busy == times[task].begin - ready);
        }
    }));
}

}  // namespace
}  // namespace switchfold::list_schedule_test
