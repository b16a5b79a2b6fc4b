// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_pairs.h"

#include "core/csv.h"
#include "validation/overlap/overlap_phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold::validation::overlap_pairs_test {
namespace {

const std::filesystem::path kShared = std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared";

/// One kernel at one place of the step, counted as in measure_overlap_slowdown.py.
struct Row {
    double alone = 0;
    std::size_t alone_runs = 0;
    std::size_t overlapped = 0;
    double slowdown = 0;
    bool operator<(const Row& other) const {
        return std::tie(alone, alone_runs, overlapped, slowdown) <
               std::tie(other.alone, other.alone_runs, other.overlapped, other.slowdown);
    }
};

std::vector<Row> rows_of(const OverlapTrace& trace) {
    std::vector<Row> rows;
    for (const KernelGroup& group : trace.groups) {
        std::map<std::uint32_t, std::vector<const OverlappedRun*>> places;
        for (const OverlappedRun& run : group.runs)
            places[run.ordinal].push_back(&run);
        for (const auto& [ordinal, runs] : places)
            rows.push_back(
                {runs.front()->baseline_us, runs.front()->alone_runs, runs.size(),
                 weighted(runs).slowdown});
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

std::vector<Row> rows_of(const CsvTable& table) {
    std::vector<Row> rows;
    for (const CsvRecord& record : table.records)
        if (record["variant"] == "paired")
            rows.push_back(
                {std::stod(record["median_alone_us"]), std::stoul(record["n_alone"]),
                 std::stoul(record["n_overlapped"]), std::stod(record["slowdown_weighted"])});
    std::sort(rows.begin(), rows.end());
    return rows;
}

struct Published {
    const char* trace;
    const char* table;
    double slowdown;  ///< time-weighted over all runs
};

// Without PrintTo, GoogleTest prints the parameter's raw bytes, which differ from run to run.
void PrintTo(const Published& published, std::ostream* out) {
    *out << published.trace;
}

class OverlapPairs : public ::testing::TestWithParam<Published> {};

TEST_P(OverlapPairs, AreThoseOfTheReferenceScript) {
    const auto trace = kShared / "traces" / GetParam().trace;
    const auto table = kShared / "reference/overlap" / GetParam().table;
    if (!std::filesystem::exists(trace) || !std::filesystem::exists(table))
        GTEST_SKIP() << "needs " << trace << " and " << table;
    const OverlapTrace read = read_overlap({trace});
    const std::vector<Row> ours = rows_of(read);
    const std::vector<Row> theirs = rows_of(read_csv(table));
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        EXPECT_NEAR(ours[i].alone, theirs[i].alone, 6e-4) << i;
        EXPECT_EQ(ours[i].alone_runs, theirs[i].alone_runs) << i;
        EXPECT_EQ(ours[i].overlapped, theirs[i].overlapped) << i;
        EXPECT_NEAR(ours[i].slowdown, theirs[i].slowdown, 6e-4) << i;
    }
    std::vector<const OverlappedRun*> all;
    for (const KernelGroup& group : read.groups)
        for (const OverlappedRun& run : group.runs)
            all.push_back(&run);
    const WeightedSlowdown slowdown = weighted(all);
    EXPECT_NEAR(slowdown.slowdown, GetParam().slowdown, 1e-3);
    EXPECT_LT(slowdown.low, slowdown.slowdown);
    EXPECT_GT(slowdown.high, slowdown.slowdown);
}

INSTANTIATE_TEST_SUITE_P(
    Traces, OverlapPairs,
    ::testing::Values(
        Published{"hta_ddp_a100_2r/rank0.json.gz", "ddp_a100_2r.groups.csv", 1.2255},
        Published{"hta_dlrm_a100_8r/rank3.json.gz", "dlrm_a100_8r.groups.csv", 1.277}));

TEST(OverlapPhases, ABlocksThreadsTellTheProtocol) {
    CollectiveOperation operation;
    operation.protocol = "ll";  // older kernels carry this name
    operation.threads_per_block = 544;
    EXPECT_EQ(protocol_by_threads(operation), "simple");
    operation.threads_per_block = 512;
    EXPECT_EQ(protocol_by_threads(operation), "ll");
    operation.threads_per_block = 640;
    EXPECT_EQ(protocol_by_threads(operation), "ll128");
    operation.kind = CollectiveKind::kAllToAll;
    EXPECT_EQ(protocol_by_threads(operation), "simple");
    operation = {};
    operation.protocol = "ll128";
    operation.threads_per_block = 96;
    EXPECT_EQ(protocol_by_threads(operation), "ll128");
}

}  // namespace
}  // namespace switchfold::validation::overlap_pairs_test
