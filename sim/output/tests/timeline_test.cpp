// SPDX-License-Identifier: Apache-2.0
#include "sim/output/timeline.h"

#include "core/error.h"
#include "core/json.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <zlib.h>

namespace switchfold::timeline_test {
namespace {

TimelineSlice slice(std::uint64_t start, std::uint64_t end) {
    TimelineSlice s;
    s.stream = 1;
    s.stream_name = "7";
    s.name = "gemm \"quoted\" \xff";
    s.category = "kernel";
    s.start_ps = start;
    s.end_ps = end;
    s.isolated_ps = 1'000'000;
    s.correlation = 12;
    return s;
}

class TimelineTest : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }

    template <class Fill>
    std::string bytes(Fill fill) {
        TimelineWriter writer(path_, "GPU \"X\"", 8, 132);
        fill(writer);
        writer.close();
        std::ifstream file(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    template <class Fill>
    Json trace(Fill fill) {
        bytes(fill);
        gzFile file = gzopen(path_.c_str(), "rb");
        std::string text;
        std::array<char, 4096> part{};
        for (int n = 0; (n = gzread(file, part.data(), part.size())) > 0;)
            text.append(part.data(), static_cast<std::size_t>(n));
        gzclose(file);
        return Json::parse(text);
    }

    static Json events(const Json& trace, const std::string& phase) {
        Json found = Json::array();
        for (const Json& event : trace["traceEvents"])
            if (event["ph"] == phase)
                found.push_back(event);
        return found;
    }

    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() /
        (std::string("switchfold-") +
         ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".json.gz");
};

TEST_F(TimelineTest, AnEmptyOneIsWholeJson) {
    const Json json = trace([](TimelineWriter&) {});
    EXPECT_EQ(json["schemaVersion"], 1);
    EXPECT_EQ(json["distributedInfo"]["world_size"], 8);
    EXPECT_EQ(json["deviceProperties"][0]["name"], "GPU \"X\"");
    EXPECT_EQ(json["switchfold_simulated"], true);
    EXPECT_TRUE(json["traceEvents"].empty());
}

TEST_F(TimelineTest, ASliceFollowsKinetosConventions) {
    const Json json = trace([](TimelineWriter& writer) {
        const std::uint32_t pid = writer.add_process("ring", 0);
        writer.add(pid, slice(1'234'567, 3'000'000));
        writer.add(pid, slice(3'000'000, 4'000'000));
    });
    const Json slices = events(json, "X");
    ASSERT_EQ(slices.size(), 2U);
    const Json& s = slices[0];
    EXPECT_EQ(s["cat"], "kernel");
    EXPECT_EQ(s["name"], "gemm \"quoted\" \xEF\xBF\xBD");
    EXPECT_DOUBLE_EQ(s["ts"].get<double>(), 1.234567);
    EXPECT_DOUBLE_EQ(s["dur"].get<double>(), 1.765433);
    EXPECT_EQ(s["args"]["stream"], 7);  // a number, as tools expect
    EXPECT_EQ(s["args"]["device"], 0);
    EXPECT_EQ(s["args"]["correlation"], 12);
    // The process and its one stream are named once each.
    const Json names = events(json, "M");
    ASSERT_EQ(names.size(), 3U);
    EXPECT_EQ(names[0]["args"]["name"], "ring rank 0");
    EXPECT_EQ(names[2]["name"], "thread_name");
    EXPECT_EQ(names[2]["args"]["name"], "stream 7");
}

TEST_F(TimelineTest, AnnotationsLieOnATrackOfTheirOwnAndAreNoGpuWork) {
    const Json json = trace([](TimelineWriter& writer) {
        const std::uint32_t pid = writer.add_process("ring", 0);
        writer.add_annotation(pid, 9, "steps", "ProfilerStep#0", 0, 5'000'000);
        writer.add_annotation(pid, 9, "steps", "ProfilerStep#1", 5'000'000, 8'500'000);
        writer.add_annotation(pid, 9, "steps", "ProfilerStep#2", 8'500'000, 8'500'000);
    });
    const Json slices = events(json, "X");
    ASSERT_EQ(slices.size(), 2U);
    EXPECT_EQ(slices[1]["name"], "ProfilerStep#1");
    EXPECT_EQ(slices[1]["cat"], "user_annotation");
    EXPECT_EQ(slices[1]["tid"], 9);
    EXPECT_FALSE(slices[1]["args"].contains("stream"));
    EXPECT_DOUBLE_EQ(slices[1]["dur"].get<double>(), 3.5);
    const Json names = events(json, "M");
    ASSERT_EQ(names.size(), 4U);  // two for the process; the track's name and position
    EXPECT_EQ(names[2]["args"]["name"], "steps");
    EXPECT_EQ(names[3]["args"]["sort_index"], -1);
}

TEST_F(TimelineTest, MemoryIsACounterWithASeriesAClass) {
    const Json json = trace([](TimelineWriter& writer) {
        MemoryRow row{1, 0, {}};
        row.bytes[MemoryClass::kWeights] = 1U << 30U;
        std::vector<MemoryRow> rows{row, row};
        rows[1].time_us = 2.5;
        rows[1].bytes[MemoryClass::kActivations] = 1U << 29U;
        writer.add(writer.add_process("ring", 1), rows);
        writer.add(writer.add_process("ring", 2), std::vector<MemoryRow>{});
    });
    const Json counters = events(json, "C");
    ASSERT_EQ(counters.size(), 2U);
    EXPECT_EQ(counters[1]["name"], "memory, GiB");
    EXPECT_EQ(counters[1]["pid"], 1);
    EXPECT_EQ(counters[1]["ts"].get<double>(), 2.5);
    EXPECT_EQ(counters[0]["args"], Json({{"weights", 1.0}, {"activations", 0.0}}));
    EXPECT_EQ(counters[1]["args"], Json({{"weights", 1.0}, {"activations", 0.5}}));
}

TEST_F(TimelineTest, AnArrowHasTwoEndsOfOneNumber) {
    const Json json = trace([](TimelineWriter& writer) {
        const std::uint32_t rank = writer.add_process("ring", 0);
        const std::uint32_t switches = writer.add_others("ring", "switches");
        EXPECT_EQ(switches, kPidsOfScenario - 1);
        writer.add_span(switches, 3, "group g", "all_reduce 1 MiB", 2'000'000, 5'000'000);
        writer.add_flow({rank, 1, 1'000'000}, {switches, 3, 2'000'000});
        writer.add_flow({rank, 1, 1'500'000}, {switches, 3, 2'500'000});
    });
    const Json from = events(json, "s");
    const Json to = events(json, "f");
    ASSERT_EQ(from.size(), 2U);
    ASSERT_EQ(to.size(), 2U);
    EXPECT_EQ(from[0]["id"], to[0]["id"]);
    EXPECT_NE(from[0]["id"], from[1]["id"]);
    EXPECT_EQ(from[0]["cat"], "ac2g");
    EXPECT_EQ(to[0]["bp"], "e");
    EXPECT_EQ(to[0]["pid"], kPidsOfScenario - 1);
    EXPECT_EQ(events(json, "X")[0]["name"], "all_reduce 1 MiB");
}

TEST_F(TimelineTest, NothingEndsBeforeOrWhenItStarts) {
    const Json json = trace([](TimelineWriter& writer) {
        const std::uint32_t pid = writer.add_process("ring", 0);
        writer.add(pid, slice(5, 5));
        writer.add(pid, slice(6, 5));
    });
    EXPECT_TRUE(events(json, "X").empty());
}

TEST_F(TimelineTest, CountersAreNumbers) {
    const Json json = trace([](TimelineWriter& writer) {
        const std::uint32_t pid = writer.add_process("ring", 0);
        writer.add(pid, CounterSample{"SMs in use", 1.5, 24});
        writer.add(pid, CounterSample{"SMs in use", 2, std::numeric_limits<double>::quiet_NaN()});
    });
    const Json counters = events(json, "C");
    ASSERT_EQ(counters.size(), 1U);
    EXPECT_EQ(counters[0]["args"]["value"], 24.0);
}

TEST_F(TimelineTest, ScenariosAndRanksAreProcessesOfTheirOwn) {
    const Json json = trace([](TimelineWriter& writer) {
        EXPECT_EQ(writer.add_process("serial", 0), 0U);
        EXPECT_EQ(writer.add_process("serial", 7), 7U);
        EXPECT_EQ(writer.add_process("ring", 7), kPidsOfScenario + 7);
        EXPECT_THROW(writer.add_process("ring", kPidsOfScenario), InternalError);
    });
    std::vector<std::string> names;
    for (const Json& event : events(json, "M"))
        if (event["name"] == "process_name")
            names.push_back(event["args"]["name"]);
    EXPECT_EQ(names, (std::vector<std::string>{"serial rank 0", "serial rank 7", "ring rank 7"}));
}

TEST_F(TimelineTest, TheSameSlicesGiveTheSameBytes) {
    const auto fill = [](TimelineWriter& writer) {
        const std::uint32_t pid = writer.add_process("ring", 0);
        for (std::uint64_t t = 1; t < 1000; ++t)
            writer.add(pid, slice(t * 1000, t * 1000 + 500));
    };
    const std::string first = bytes(fill);
    EXPECT_EQ(first, bytes(fill));
    EXPECT_EQ(first.substr(4, 4), std::string(4, '\0'));  // no timestamp in the gzip header
}

TEST_F(TimelineTest, AFullDiskIsAnIoError) {
    if (!std::filesystem::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full here";
    TimelineWriter writer("/dev/full", "GPU", 1, 1);
    EXPECT_THROW(writer.close(), IoError);
}

}  // namespace
}  // namespace switchfold::timeline_test
