// SPDX-License-Identifier: Apache-2.0
#include "training/plan/schedule/schedule_file.h"

#include "core/error.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/tests/schedule_text.h"

#include <gtest/gtest.h>

namespace switchfold::schedule_file_test {
namespace {

std::string wrong(const std::string& text) {
    try {
        static_cast<void>(parse_schedule(text, "s.json"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(ScheduleFile, WritesWhatItReads) {
    for (const ScheduleGenerator& generator : schedule_generators()) {
        ScheduleShape shape{4, 8, 2};
        shape.update_every = 4;
        PipelineSchedule schedule = generator.make(shape);
        PipelineSchedule read = parse_schedule(test_data::schedule_text(schedule), "s.json");
        read.name = schedule.name;
        read.no_barrier = schedule.no_barrier;
        EXPECT_EQ(read, schedule) << generator.name;
    }
}

TEST(ScheduleFile, LeavesTheStageOutWhereThereIsOne) {
    const PipelineSchedule schedule = parse_schedule(
        R"({"micro_batches": 1, "routes": [[0, 1]],
            "order": [["F0", "BW0", "U0"], ["F0", "B0", "W0", "U0"]]})",
        "s.json");
    EXPECT_EQ(schedule.order[1][1].pass, (Pass{PassKind::kInputGradient, 0, 1}));
}

TEST(ScheduleFile, TellsEverythingThatIsWrong) {
    EXPECT_EQ(
        wrong(R"({"micro_batches": 0, "rutes": [[0]], "routes": [[0]], "order": [["F0", "X0"]]})"),
        "s.json: /rutes: is not a key of a schedule; expected one of micro_batches, routes, "
        "route_of, asynchronous, order; did you mean routes?\n"
        "s.json: /micro_batches: expected a number from 1 to 1048576\n"
        "s.json: /order/0/1: is \"X0\"; expected a pass as F3@5, BW3@5, B3@5, W3@5, U3@5 (the "
        "stage may be left out where the device holds one), or a forward and a backward as "
        "F3@5&BW1@5");
    EXPECT_EQ(
        wrong(R"({"micro_batches": 1, "routes": [[0, 1]],
                  "order": [["BW0", "F0", "U0"], ["F0", "BW0", "U0"]]})"),
        "s.json: /: deadlocks: device 0 waits with BW0@0 for B0@1; device 1 waits with F0@1 for "
        "F0@0");
}

}  // namespace
}  // namespace switchfold::schedule_file_test
