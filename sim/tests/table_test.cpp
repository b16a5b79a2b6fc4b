// SPDX-License-Identifier: Apache-2.0
#include "sim/output/tests/sample.h"
#include "sim/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace switchfold::table_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

TEST(Table, OfACoprocessorHasNoFiguresOfGpus) {
    ExperimentResult result = sample_result();
    result.workload.type = "many_core";
    const auto lines = lines_of(to_table(result));
    ASSERT_GE(lines.size(), 5U);
    EXPECT_EQ(lines[1], "2 steps, trace.json");
    EXPECT_EQ(lines[3], "scenario    forward  backward  iteration  speed-up");
    const std::string whole = to_table(result);
    for (const char* word : {"GPU", "comm", "hbm", "backward pass"})
        EXPECT_EQ(whole.find(word), std::string::npos) << word;
}

TEST(Table, ShowsIntervalsBelowAndWhatTheyRestOn) {
    ExperimentResult result = sample_with_intervals();
    const auto lines = lines_of(to_table(result));
    const auto at = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with("90 % of such cases");
    });
    ASSERT_LT(lines.end() - at, 40);
    ASSERT_GE(lines.end() - at, 4);
    EXPECT_EQ(at[0], "90 % of such cases          iteration        slowdown");
    EXPECT_EQ(at[1], "serial                              -               -");
    EXPECT_EQ(at[2], "ring                43.00 to 47.25 ms  15.0 to 25.0 %");
    EXPECT_NE(
        std::find(
            lines.begin(), lines.end(),
            "intervals: 90 % of 12 to 80 measured collectives on 3 kinds of machine"),
        lines.end());
    for (ScenarioResult& s : result.scenarios)
        s.intervals.clear();
    EXPECT_EQ(to_table(result).find("90 %"), std::string::npos);
}

TEST(Table, IntervalsOfACollectiveAreOfItsTimeAndBandwidths) {
    ExperimentResult result = sample_result();
    result.workload.type = "collective";
    result.scenarios[1].collectives[0].intervals["time_us"] = {36, 44, true, "9 measured ones"};
    result.scenarios[1].collectives[0].intervals["bus_bandwidth_GBps"] = {41, 51, true, ""};
    const std::string text = to_table(result);
    EXPECT_NE(
        text.find("90 % of such cases             time  algorithm GB/s      bus GB/s"),
        std::string::npos)
        << text;
    EXPECT_NE(
        text.find("ring                36.0 to 44.0 us               -  41.0 to 51.0"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("intervals: 90 % of 9 measured ones\n"), std::string::npos) << text;
}

TEST(Table, ShowsEachScenarioAndWhatSlowsIt) {
    ExperimentResult result = sample_result();
    const auto lines = lines_of(to_table(result));
    ASSERT_GE(lines.size(), 6U);
    EXPECT_EQ(lines[0], "sample");
    EXPECT_EQ(lines[1], "8 ranks, 2 steps, trace.json");
    EXPECT_EQ(
        lines[3],
        "scenario    forward  backward  exposed comm  iteration  comm blocks  speed-up  slowdown"
        "      sm     l2    hbm  latency  completion  other");
    EXPECT_EQ(
        lines[5],
        "ring      9000.0 us  26.23 ms      607.7 us   45.15 ms          2.2         -    18.9 %"
        "  10.0 %  2.0 %  4.0 %    2.0 %       0.0 %  0.9 %");
    EXPECT_EQ(
        lines[4],
        "serial    9000.0 us  26.23 ms      607.7 us   45.15 ms          2.2         -         -"
        "       -      -      -        -           -      -");  // unknown is not zero
    EXPECT_EQ(lines.back(), "note: ring: a note");
    result.scenarios[0].notes = {"a note"};
    const auto shared = lines_of(to_table(result));
    EXPECT_EQ(shared.back(), "note: a note");
    EXPECT_EQ(shared.size(), lines.size());
    const auto worst = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.rfind("batch_norm_backward", 0) == 0;
    });
    ASSERT_NE(worst, lines.end());
    EXPECT_NE(worst->find("norm  500.0 us  125.0 us"), std::string::npos);
}

TEST(Table, TellsWaitingFromTransferWhereRanksAreLate) {
    ExperimentResult result = sample_result();
    EXPECT_EQ(to_table(result).find("waiting"), std::string::npos);  // 12.5 us of 45 ms: too little
    result.scenarios[1].waiting_us = 900;
    result.scenarios[1].exposed_waiting_us = 400;
    const auto lines = lines_of(to_table(result));
    EXPECT_NE(lines[3].find("exposed comm  of it waiting  iteration"), std::string::npos);
    EXPECT_NE(lines[5].find("607.7 us       400.0 us   45.15 ms"), std::string::npos) << lines[5];
    EXPECT_NE(
        to_table(result).find("With all ranks together: ring 44.00 ms, slowdown 5.0 %.\n"),
        std::string::npos);
}

TEST(Table, SaysThatAWorkloadIsMadeUp) {
    ExperimentResult result = sample_result();
    EXPECT_EQ(to_table(result).find("synthetic"), std::string::npos);
    result.workload.synthetic = true;
    EXPECT_NE(
        to_table(result).find("synthetic workload: no real run behind it"), std::string::npos);
}

TEST(Table, ACollectiveShowsItsBandwidth) {
    ExperimentResult result = sample_result();
    result.workload.type = "collective";
    const auto lines = lines_of(to_table(result));
    const auto at = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.rfind("ring", 0) == 0;
    });
    ASSERT_NE(at, lines.end());
    EXPECT_EQ(*at, "ring           ring    simple      24  40.0 us            26.2      45.9");
}

/// The words of the table's first line whose first word is `first`.
std::vector<std::string> line_of(const std::string& table, const std::string& first) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::vector<std::string> found{
            std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
        if (!found.empty() && found.front() == first)
            return found;
    }
    return {};
}

TEST(FiguresTable, ARareCauseIsShownWhereItHasAShare) {
    ExperimentResult result = sample_result();
    const auto has_clock = [&] {
        const std::vector<std::string> header = line_of(to_table(result), "scenario");
        return std::find(header.begin(), header.end(), "clock") != header.end();
    };
    EXPECT_FALSE(has_clock());
    result.scenarios[1].causes->clock = 0.031;
    EXPECT_TRUE(has_clock());
    EXPECT_NE(to_table(result).find("3.1 %"), std::string::npos);
}

TEST(SlowedTable, HasARowForEachPhaseThatIsVisiblySlowed) {
    ExperimentResult result = sample_result();
    const auto lines = lines_of(to_table(result));
    EXPECT_EQ(
        lines[7],
        "scenario        slowed  slowdown     sm     l2    hbm  latency  completion  other");
    EXPECT_EQ(
        lines[8],
        "ring      forward pass     3.1 %  2.0 %  0.0 %  0.6 %    0.1 %       0.0 %  0.4 %");
    EXPECT_EQ(lines[9], "");
    result.scenarios[1].forward_slowdown = 0.004;
    EXPECT_EQ(to_table(result).find("forward pass"), std::string::npos);
}

TEST(FiguresTable, ARangeHasBothItsEnds) {
    ExperimentResult result = sample_result();
    EXPECT_EQ(to_table(result).find(" to "), std::string::npos);
    result.scenarios[1].backward_slowdown_low = 0.014;
    EXPECT_NE(to_table(result).find("1.4 to 18.9 %"), std::string::npos);
    result.scenarios[1].forward_slowdown_low = 0.002;
    EXPECT_NE(to_table(result).find("0.2 to 3.1 %"), std::string::npos);
    // Ends that print alike are one.
    result.scenarios[1].backward_slowdown_low = 0.18899;
    result.scenarios[1].forward_slowdown_low = 0.03101;
    EXPECT_EQ(to_table(result).find(" to "), std::string::npos);
}

TEST(LoopsTable, ShowsBothSlowdownsAndWhatSlowsTheKernel) {
    ExperimentResult result = sample_result();
    result.workload.type = "kernel_beside_collective";
    ScenarioResult& ring = result.scenarios[1];
    ring.forward_slowdown.reset();
    ring.forward_causes.reset();
    ring.loop_kernels = 8;
    ring.kernel_alone_us = 3715.8;
    ring.kernel_beside_us = 4336.4;
    ring.kernel_slowdown = 0.167;
    ring.kernel_causes = SlowdownByCause{0.15, 0, 0.01, 0, 0, 0, 0.007};
    ring.loop_collectives = 20;
    ring.collective_alone_us = 1930;
    ring.collective_beside_us = 2935.5;
    ring.collective_slowdown = 0.521;
    result.scenarios.erase(result.scenarios.begin());
    const auto lines = lines_of(to_table(result));
    EXPECT_EQ(
        lines[3],
        "scenario  kernels      alone     beside  slowdown  collectives      alone     beside"
        "  slowdown  iteration  comm blocks  speed-up");
    EXPECT_EQ(
        lines[4],
        "ring            8  3715.8 us  4336.4 us    16.7 %           20  1930.0 us  2935.5 us"
        "    52.1 %   45.15 ms          2.2         -");
    EXPECT_EQ(
        lines[7], "ring      kernel    16.7 %  15.0 %  0.0 %  1.0 %    0.0 %       0.0 %  0.7 %");
}

TEST(FiguresTable, SaysWhatScenariosSetAndTheirSpeedUp) {
    ExperimentResult result = sample_result();
    EXPECT_EQ(to_table(result).find(" sets "), std::string::npos);
    result.scenarios[1].set = {{"/workload/ranks", "2"}, {"/seed", "7"}};
    result.scenarios[1].speedup = 1.254;
    result.scenarios[1].workload = result.workload;
    EXPECT_NE(
        to_table(result).find("\nring sets /seed = 7, /workload/ranks = 2\n"), std::string::npos);
    EXPECT_NE(to_table(result).find("1.25x"), std::string::npos);
    result.scenarios[1].workload->ranks = 2;
    result.scenarios[1].workload->notes = {"its own"};
    EXPECT_NE(
        to_table(result).find("/workload/ranks = 2: 2 ranks, 2 steps, trace.json\n"),
        std::string::npos);
    EXPECT_NE(to_table(result).find("note: ring: its own\n"), std::string::npos);
}

TEST(RunsTable, ComesFirstAndHasFiguresOfTheWholeRun) {
    ExperimentResult result = sample_result();
    for (ScenarioResult& s : result.scenarios) {
        s.run_us = 300e6;
        s.run_steps = 11201;
        s.samples_per_s = 1194.75;
        s.run_training = 0.9296;
        s.run_paused_us = 0;
        s.run_lost_us = 21.11e6;
        s.run_members = 4;
    }
    result.scenarios[1].run_training = 0.9999;
    const auto lines = lines_of(to_table(result));
    EXPECT_EQ(lines[3], "run         time  steps  samples/s  training  paused     lost  members");
    EXPECT_EQ(lines[4], "serial  300.00 s  11201     1194.8   92.96 %  0.0 us  21.11 s      4.0");
    EXPECT_EQ(lines[6], "of the whole run; the next table is of one step.");
    // Paces are of the run, not of its first step, and there is nothing to relate them to.
    EXPECT_EQ(lines[8].rfind("scenario    forward  backward  exposed comm  iteration", 0), 0U);
    for (const char* pace : {"samples/s", "speed-up"})
        EXPECT_EQ(lines[8].find(pace), std::string::npos) << pace;
    EXPECT_EQ(to_table(result).find("Speed-up"), std::string::npos);
}

TEST(RunsTable, OfASmallNetworkHasItsLossAndTheTimeOfAStep) {
    ExperimentResult result = sample_result();
    for (ScenarioResult& s : result.scenarios) {
        s.diverged_seeds = 0;
        s.run_members = 2;
        s.samples_per_s = 800;
        s.final_loss = 0.190812345;
        s.steps_to_target = 243.2;
    }
    result.scenarios[1].iteration_us = 16142.5;
    const auto lines = lines_of(to_table(result));
    EXPECT_EQ(lines[3], "run     iteration  samples/s  final loss  steps to target");
    EXPECT_EQ(lines[5], "ring     16.14 ms      800.0      0.1908            243.2");
    result.scenarios[1].run_members = 4;  // where scenarios differ in it
    EXPECT_NE(lines_of(to_table(result))[3].find("members"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::table_test
