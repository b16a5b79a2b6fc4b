// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/kineto/event_parser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::kineto_event_test {
namespace {

TEST(MicrosecondsToPs, IsExactWhereDoublesAreNot) {
    EXPECT_EQ(microseconds_to_ps("0"), 0U);
    EXPECT_EQ(microseconds_to_ps("3.25"), 3'250'000U);
    EXPECT_EQ(microseconds_to_ps("4458676983543.183"), 4458676983543183000U);
    EXPECT_EQ(microseconds_to_ps("0.000001"), 1U);
    EXPECT_EQ(microseconds_to_ps("0.0000019"), 1U) << "below a picosecond";
    EXPECT_EQ(microseconds_to_ps("1e-05"), 10U) << "as Python writes small numbers";
    EXPECT_EQ(microseconds_to_ps("1.5e3"), 1'500'000'000U);
    EXPECT_EQ(microseconds_to_ps("1.5E+3"), 1'500'000'000U);
    EXPECT_EQ(microseconds_to_ps("12e-1"), 1'200'000U);
    EXPECT_EQ(microseconds_to_ps("1683564901548726.125", 1683564901000000), 548726125000U)
        << "clocks that count from 1970";
}

TEST(MicrosecondsToPs, RefusesWhatIsNoTime) {
    for (const char* text :
         {"", "-1", "-0.5", "NaN", "nan", "Infinity", "1.", ".5", "1e", "1e1000", "1.5x", "0x10",
          "1 2", "18446744073710", "99999999999999999999", "1e30", "null", "\"5\""})
        EXPECT_EQ(microseconds_to_ps(text), std::nullopt) << text;
    EXPECT_EQ(microseconds_to_ps("18446744073709.551615"), UINT64_MAX) << "the last that fits";
    EXPECT_EQ(microseconds_to_ps("18446744073709.551616"), std::nullopt);
    EXPECT_EQ(microseconds_to_ps("5", 6), std::nullopt) << "before the clock's base";
}

RC_GTEST_PROP(MicrosecondsToPsProperty, ReadsBackWhatWasWritten, ()) {
    const auto us = *rc::gen::inRange<std::uint64_t>(0, 10'000'000'000'000);
    const auto ps = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
    RC_ASSERT(microseconds_to_ps(fmt::format("{}.{:06}", us, ps)) == us * 1'000'000 + ps);
}

TraceEvent parse(std::string text) {
    EventParser parser;
    TraceEvent event;
    parser.parse(text, event);
    return event;
}

TEST(EventParser, ReadsAKernel) {
    const TraceEvent event = parse(
        R"({"ph": "X", "cat": "kernel", "name": "a\"b", "pid": 0, "tid": "stream 7", "ts": 100.5, "dur": 2,)"
        R"( "args": {"stream": 7, "correlation": 5, "External id": 9, "grid": [4, 2, 1], "block": [128, 1, 1],)"
        R"( "registers per thread": 40, "shared memory": 1024, "other": {"deep": [1, {"x": 2}]}}})");
    EXPECT_EQ(event.phase, "X");
    EXPECT_EQ(event.name, "a\"b");
    EXPECT_EQ(event.thread, "stream 7");
    EXPECT_EQ(event.stream, "7");
    EXPECT_EQ(event.start, 100'500'000U);
    EXPECT_EQ(event.duration, 2'000'000U);
    EXPECT_EQ(event.correlation, 5U);
    EXPECT_EQ(event.external_id, 9U);
    EXPECT_EQ(event.grid, (Dim3{4, 2, 1}));
    EXPECT_EQ(event.registers_per_thread, 40U);
    EXPECT_EQ(event.shared_memory, 1024U);
}

TEST(EventParser, TimesCountFromADayBeforeTheFirstEvent) {
    EventParser parser;
    TraceEvent event;
    std::string first = R"({"ph": "X", "ts": 1706850122846038, "dur": 1})";
    parser.parse(first, event);
    const std::uint64_t base = event.start;
    EXPECT_EQ(base, 86'400'000'000U * 1'000'000U);
    std::string second = R"({"ph": "X", "ts": 1706850122846037.5, "dur": 1})";
    parser.parse(second, event);
    EXPECT_EQ(event.start, base - 500'000U);
}

TEST(EventParser, ZeroShapesAreNone) {
    EXPECT_EQ(
        parse(R"({"ph": "X", "ts": 1, "dur": 1, "args": {"grid": [0, 0, 0]}})").grid, std::nullopt);
}

TEST(EventParser, SaysWhatItExpected) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            parse(text);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(
        message(R"({"ph": "X", "cat": "kernel", "ts": 5, "dur": -1})"),
        "\"dur\" is -1; expected microseconds that are not negative, within 213 days");
    EXPECT_NE(
        message(R"({"ph": "X", "cat": "kernel", "ts": 5})").find("\"dur\" is missing"),
        std::string::npos);
    EXPECT_NE(
        message(R"({"ph": "X", "cat": "kernel", "dur": 5})").find("\"ts\" is missing"),
        std::string::npos);
    EXPECT_NE(
        message(R"({"ph": "X", "cat": "kernel", "ts": 9223372036854775808, "dur": 5})")
            .find("\"ts\" is 9223372036854775808"),
        std::string::npos);
    EXPECT_NE(
        message(R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": 9223372036854775808})")
            .find("\"dur\" is"),
        std::string::npos);
    EXPECT_NE(
        message(R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": 1, "args": {"bytes": -4}})")
            .find("\"bytes\" is -4"),
        std::string::npos);
    EXPECT_NE(
        message(
            R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": 1, "args": {"grid": [1, 2, 3, 4]}})")
            .find("\"grid\""),
        std::string::npos);
    for (const char* text :
         {R"({"ph": "X", "cat": "kernel", "ts": NaN, "dur": 1})", R"({"ph": })",
          R"({"ph": "X" "ts": 1})", R"({"ph": "X", "cat": "kernel", "ts": 1, "dur": [}]})", R"({})",
          R"({"ph": "X", "cat": "kernel", "ts": {}, "dur": 1})"})
        EXPECT_NO_FATAL_FAILURE(static_cast<void>(message(text))) << text;
    EXPECT_NE(message(R"({"ph": "X", "cat": "kernel", "ts": NaN, "dur": 1})"), "accepted");
    EXPECT_NE(message(R"({"ph": "X", "cat": "kernel", "ts": {}, "dur": 1})"), "accepted");
}

TEST(EventParser, WhatIsNoGpuOperationIsMarkedUnusable) {
    EXPECT_NE(parse(R"({"ph": "X", "cat": "cpu_op", "ts": 5, "dur": -1})").unusable, nullptr);
    EXPECT_NE(parse(R"({"ph": "X", "cat": "cpu_op", "ts": -5, "dur": 1})").unusable, nullptr);
    // Launches matter on kernels alone.
    const char* const launch =
        R"json({"ph": "X", "cat": "cpu_op", "ts": 5, "dur": 1, "args": {"grid": "grid(8,)", "bytes": [1]}})json";
    EXPECT_EQ(parse(launch).unusable, nullptr);
}

RC_GTEST_PROP(EventParserProperty, NoTextCrashesIt, (const std::string& noise)) {
    try {
        parse(R"({"ph": "X", "ts": 1, "dur": 1, "args": )" + noise + "}");
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace
}  // namespace switchfold::kineto_event_test
