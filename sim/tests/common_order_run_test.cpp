// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/kinds/trace/trace_params.h"
#include "sim/runner.h"
#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/random_ranks.h"
#include "workloads/tests/temporary_file.h"

#include <gtest/gtest.h>

namespace switchfold::common_order_run_test {
namespace {

using test_data::RankBuilder;

/// Two ranks that use two communicators the other way round. `waiting`: the second collective waits
/// for the first, so that no order suits both.
TraceWorkload two_groups(CollectiveKind kind, bool waiting) {
    TraceWorkload workload;
    for (const std::uint32_t first : {0U, 1U}) {
        RankBuilder rank;
        const std::uint32_t kernel = rank.kernel({});
        const std::uint32_t one = rank.collective(first, 0, {kernel});
        const std::uint32_t two = rank.collective(1 - first, 0, {waiting ? one : kernel});
        rank.kernel({two});
        for (Operation& operation : rank.graph.operations) {
            operation.phase = Phase::kBackward;
            if (auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                c->kind = kind;
                c->bytes = kibibytes(1);
            }
        }
        workload.measured.emplace_back();
        for (std::size_t i = 0; i < rank.graph.operations.size(); ++i)
            workload.measured.back().push_back({microseconds(2 * i), microseconds(2 * i + 1)});
        workload.graph.ranks.push_back(std::make_shared<RankGraph>(std::move(rank.graph)));
        TraceFileReport report;
        report.rank = first;
        report.world_size = 2;
        report.steps = 1;
        workload.files.push_back(report);
    }
    workload.graph.names = {"operation"};
    workload.graph.groups = {{"a", {0, 1}}, {"b", {0, 1}}};
    workload.graph.provenance.traced_ranks = workload.graph.provenance.world_size = 2;
    return workload;
}

ExperimentResult
run(const TraceWorkload& workload, const std::vector<ScenarioParams>& scenarios, bool causes) {
    const test_data::TemporaryFile file("trace.swt");
    write_trace(workload, file.path(), "test");
    Experiment experiment;
    experiment.name = "test";
    experiment.system.value =
        load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json", {});
    TraceWorkloadParams trace;
    trace.files = {file.path().string()};
    experiment.workload = trace;
    experiment.causes = causes;
    experiment.scenarios = scenarios;
    RunOptions options;
    options.jobs = 2;
    return run_experiment(complete_experiment(std::move(experiment), "experiment.json"), options);
}

const std::vector<ScenarioParams> kBoth{
    {"serial", false, ring_policy()}, {"ring", true, ring_policy()}};

TEST(CommonOrderOfRuns, RanksThatUseTwoGroupsTheOtherWayRoundRunWithoutOverlap) {
    const ExperimentResult result = run(two_groups(CollectiveKind::kAllReduce, false), kBoth, true);
    ASSERT_EQ(result.scenarios.size(), 2U);
    EXPECT_GT(result.scenarios[0].iteration_us, result.scenarios[1].iteration_us);
    EXPECT_TRUE(result.scenarios[1].backward_slowdown.has_value());
}

/// A root may end while its pieces wait in the buffers of a rank that has not come, so that this
/// runs with overlap, although each rank's first collective waits for the other rank's second.
TEST(CommonOrderOfRuns, AScenarioWithoutACommonOrderIsLeftOutAndTheOthersAreShown) {
    const TraceWorkload workload = two_groups(CollectiveKind::kBroadcast, true);
    for (const bool causes : {false, true}) {
        const ExperimentResult result = run(workload, kBoth, causes);
        ASSERT_EQ(result.scenarios.size(), 1U);
        EXPECT_EQ(result.scenarios[0].name, "ring");
        EXPECT_GT(result.scenarios[0].iteration_us, 0);
        EXPECT_FALSE(result.scenarios[0].backward_slowdown.has_value());
        EXPECT_FALSE(result.scenarios[0].speedup.has_value());
        ASSERT_FALSE(result.workload.notes.empty());
        EXPECT_TRUE(std::ranges::any_of(result.workload.notes, [](const std::string& note) {
            return note.starts_with("serial was left out: without overlap the ranks deadlock");
        })) << result.workload.notes.back();
    }
    try {
        static_cast<void>(run(workload, {{"serial", false, ring_policy()}}, false));
        FAIL() << "it ran";
    } catch (const SimulationError& error) {
        EXPECT_NE(std::string(error.what()).find("waits for rank"), std::string::npos);
    }
}

}  // namespace
}  // namespace switchfold::common_order_run_test
