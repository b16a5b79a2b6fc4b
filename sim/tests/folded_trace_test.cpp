// SPDX-License-Identifier: Apache-2.0
// Traces whose ranks stand for others that do the same, against the simulation of every rank.
#include "core/json.h"
#include "core/random_stream.h"
#include "sim/config/load.h"
#include "sim/runner.h"
#include "workloads/profile/trace_workload.h"
#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::folded_trace_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/folded.json";
constexpr const char* kExample =
    SWITCHFOLD_SOURCE_DIR "/configs/examples/resnet50_ddp_synthetic.json.gz";

ExperimentResult
run(const std::string& trace, std::uint32_t ranks, const std::string& fold,
    const std::string& more = "") {
    const std::string text = fmt::format(
        R"({{
          "name": "folded", "causes": false,
          "system": {{"$base": "../systems/dgx_h100_ndr.json", "name": "dgx",
                      "topology": {{"nodes": {}}}}},
          "workload": {{"type": "trace", "files": ["{}"], "ranks": {}{}}}{}
        }})",
        (ranks + 7) / 8, trace, ranks, fold, more);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {});
}

std::optional<std::string> note_with(const ExperimentResult& result, const std::string& text) {
    const std::vector<std::string>& notes = result.workload.notes;
    const auto found = std::ranges::find_if(
        notes, [&](const std::string& note) { return note.find(text) != std::string::npos; });
    return found == notes.end() ? std::nullopt : std::optional(*found);
}

/// Times and slowdowns of every scenario.
void expect_close(const ExperimentResult& whole, const ExperimentResult& folded, double share) {
    EXPECT_TRUE(note_with(folded, "folded: "));
    EXPECT_FALSE(note_with(whole, "folded: "));
    ASSERT_EQ(whole.scenarios.size(), folded.scenarios.size());
    for (std::size_t i = 0; i < whole.scenarios.size(); ++i) {
        const ScenarioResult& all = whole.scenarios[i];
        const ScenarioResult& few = folded.scenarios[i];
        EXPECT_EQ(all.name, few.name);
        EXPECT_NEAR(few.iteration_us / all.iteration_us, 1, share) << all.name;
        EXPECT_NEAR(few.backward_us / all.backward_us, 1, 2 * share) << all.name;
        EXPECT_LT(few.events, all.events) << all.name;
    }
}

TEST(FoldedTrace, OneRankStandsForAllOfTwoMachines) {
    expect_close(
        run(kExample, 16, R"(, "fold": false)"), run(kExample, 16, R"(, "fold": true)"), 0.02);
}

TEST(FoldedTrace, ManyRanksAreFoldedUnlessAllAreAskedFor) {
    const ExperimentResult folded = run(kExample, 64, "");
    EXPECT_TRUE(note_with(folded, "folded: one rank is simulated for all 64"));
    EXPECT_EQ(folded.workload.ranks, 64U);
    EXPECT_TRUE(std::ranges::any_of(
        folded.scenarios, [](const auto& scenario) { return scenario.name == "in_switch_tree"; }));
    EXPECT_FALSE(note_with(run(kExample, 16, ""), "folded: "));
}

TEST(FoldedTrace, ASlowRankIsSimulatedBesideOneOfTheOthers) {
    const std::string slow = R"(, "ranks": [{"rank": 3, "compute": 1.2}])";
    const ExperimentResult whole = run(kExample, 16, R"(, "fold": false)", slow);
    const ExperimentResult folded = run(kExample, 16, R"(, "fold": true)", slow);
    expect_close(whole, folded, 0.02);
    EXPECT_TRUE(note_with(folded, "folded: 2 ranks are simulated for all 16"));
    for (std::size_t i = 0; i < whole.scenarios.size(); ++i) {
        const ScenarioResult& all = whole.scenarios[i];
        const ScenarioResult& few = folded.scenarios[i];
        EXPECT_EQ(few.late_rank, 3);
        EXPECT_NEAR(*few.rank_max_over_mean, *all.rank_max_over_mean, 0.02);
        EXPECT_NEAR(*few.waiting_for_late_rank_us / *all.waiting_for_late_rank_us, 1, 0.1);
    }
}

// It has nothing to measure.
TEST(FoldedTrace, ARankWithoutCollectivesStandsForAll) {
    TraceWorkload workload;
    workload.graph.names = {"operation"};
    RankGraph rank;
    rank.streams = {{StreamKind::kGpu, "7", 0}};
    Operation kernel;
    KernelOperation body;
    body.isolated = body.measured = microseconds(50);
    kernel.body = body;
    rank.operations.push_back(kernel);
    workload.graph.ranks = {std::make_shared<RankGraph>(std::move(rank))};
    workload.measured = {{{Time(), microseconds(50)}}};
    TraceFileReport report;
    report.world_size = 1;
    report.steps = 1;
    workload.files = {report};
    workload.graph.provenance.traced_ranks = workload.graph.provenance.world_size = 1;
    const test_data::TemporaryFile file("trace.swt");
    write_trace(workload, file.path(), "test");
    const ExperimentResult folded = run(file.path().string(), 64, "");
    EXPECT_TRUE(note_with(folded, "folded: one rank is simulated for all 64"));
    EXPECT_GE(folded.scenarios.front().iteration_us, 50);
}

TEST(FoldedTrace, RanksThatAreNotAlikeAreAllSimulatedAndANoteSaysWhy) {
    const ExperimentResult numbers =
        run(kExample, 4, R"(, "fold": true)", R"(, "functional": true)");
    EXPECT_FALSE(note_with(numbers, "folded: "));
    EXPECT_TRUE(note_with(numbers, "every one of 4 ranks is simulated: the numbers of all"));
}

/// Rank 0 of 16: kernels beside collectives of all, of pairs, and of one in each pair.
TraceWorkload random_trace(RandomStream& random) {
    TraceWorkload workload;
    workload.graph.names = {"operation"};
    Group all{"all", {}};
    Group evens{"evens", {}};
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        all.ranks.push_back(rank);
        if (rank % 2 == 0)
            evens.ranks.push_back(rank);
    }
    workload.graph.groups = {all, {"pair", {0, 1}}, evens};
    RankGraph rank;
    rank.streams = {
        {StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "20", 0}, {StreamKind::kGpu, "24", 0}};
    std::vector<std::uint64_t> sequences(3, 0);
    Time now;
    workload.measured.emplace_back();
    const auto add = [&](Operation operation, Time takes) {
        rank.operations.push_back(std::move(operation));
        workload.measured.back().push_back({now, now + takes});
        now += takes;
    };
    for (std::uint32_t i = 0; i < 12; ++i) {
        Operation kernel;
        KernelOperation body;
        body.grid = {static_cast<std::uint32_t>(200 + random.below(2000)), 1, 1};
        body.block = {256, 1, 1};
        body.registers_per_thread = 32;
        body.isolated = body.measured = microseconds(50 + random.below(300));
        body.bytes_read = mebibytes(1 + random.below(128));
        kernel.body = body;
        kernel.phase = Phase::kBackward;
        add(kernel, body.isolated);
        Operation call;
        CollectiveOperation collective;
        constexpr std::array kKinds{
            CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter};
        collective.kind = kKinds[random.below(kKinds.size())];
        collective.group = static_cast<std::uint32_t>(random.below(3));
        collective.sequence = sequences[collective.group]++;
        collective.bytes = kibibytes(64U << random.below(8));
        collective.datatype = Datatype::kBfloat16;
        call.body = collective;
        call.stream = collective.group == 1 ? 2 : 1;
        call.phase = Phase::kBackward;
        call.dependencies.push_back(static_cast<std::uint32_t>(rank.operations.size() - 1));
        add(call, microseconds(1));
    }
    workload.graph.ranks = {std::make_shared<RankGraph>(std::move(rank))};
    TraceFileReport report;
    report.rank = 0;
    report.world_size = 16;
    report.steps = 1;
    report.synthetic = true;
    workload.files = {report};
    workload.graph.provenance.synthetic = true;
    workload.graph.provenance.traced_ranks = 1;
    workload.graph.provenance.world_size = 16;
    return workload;
}

TEST(FoldedTrace, RandomTracesOfSeveralGroupsTakeWhatAllRanksTake) {
    double sum = 0;
    constexpr int kTraces = 12;
    for (std::uint64_t seed = 0; seed < kTraces; ++seed) {
        RandomStream random(seed, "traces");
        const test_data::TemporaryFile file("trace.swt");
        write_trace(random_trace(random), file.path(), "test");
        const ExperimentResult whole = run(file.path().string(), 16, R"(, "fold": false)");
        const ExperimentResult folded = run(file.path().string(), 16, R"(, "fold": true)");
        ASSERT_EQ(whole.scenarios.size(), folded.scenarios.size());
        for (std::size_t i = 0; i < whole.scenarios.size(); ++i) {
            const double off =
                folded.scenarios[i].iteration_us / whole.scenarios[i].iteration_us - 1;
            EXPECT_NEAR(off, 0, 0.04) << seed << whole.scenarios[i].name;
            sum += std::abs(off) / static_cast<double>(whole.scenarios.size());
        }
    }
    EXPECT_LT(sum / kTraces, 0.015);
}

}  // namespace
}  // namespace switchfold::folded_trace_test
