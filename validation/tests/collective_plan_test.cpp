// SPDX-License-Identifier: Apache-2.0
#include "validation/collectives/collective_plan.h"

#include "core/error.h"
#include "sim/machine/system_queries.h"

#include <gtest/gtest.h>

namespace switchfold::validation::collective_plan_test {
namespace {

constexpr const char* kHeader =
    "id,gpu,n_gpus,n_nodes,interconnect,algo,nccl_version,dtype,size_bytes,time_us,busbw_GBps,"
    "placement\n";

class CollectivePlanTest : public ::testing::Test {
protected:
    CollectivePlan plan(const std::string& lines) {
        rows_ = parse_collective_tables(kHeader + lines, "t.csv");
        return plan_collectives(rows_, machines_);
    }
    Machines machines_{SWITCHFOLD_SOURCE_DIR};
    std::vector<MeasuredRow> rows_;
};

TEST_F(CollectivePlanTest, RowsThatMeanTheSameShareARun) {
    const CollectivePlan p =
        plan("a,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,20,,out-of-place\n"
             "a,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,21,,in-place\n"
             "b,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch,auto,2.19,,1024,22,,\n"
             "b,NVIDIA H100 80GB HBM3,4,1,HGX NVSwitch,auto,2.19,,1024,22,,\n");
    ASSERT_EQ(p.rows.size(), 4U);
    EXPECT_EQ(p.runs.size(), 2U);
    EXPECT_EQ(p.rows[0].id, "a/1024/out-of-place");
    EXPECT_EQ(p.rows[1].id, "a/1024/in-place");
    EXPECT_EQ(p.rows[2].run, p.rows[0].run);
    EXPECT_NE(p.rows[3].run, p.rows[0].run);
    EXPECT_EQ(p.rows[3].id, "b/1024/auto");
    EXPECT_EQ(p.runs[p.rows[3].run].ranks, 4U);
}

TEST_F(CollectivePlanTest, ALibraryMayHaveBeenLimitedToChannels) {
    rows_ = parse_collective_tables(
        "id,gpu,n_gpus,n_nodes,interconnect,algo,channels,size_bytes,time_us,placement\n"
        "a,NVIDIA H100,2,1,NVSwitch,ring,1,1024,20,1 channel\n"
        "a,NVIDIA H100,2,1,NVSwitch,ring,4,1024,10,4 channels\n"
        "a,NVIDIA H100,2,1,NVSwitch,ring,,1024,5,all\n",
        "t.csv");
    const CollectivePlan p = plan_collectives(rows_, machines_);
    ASSERT_EQ(p.runs.size(), 3U);
    EXPECT_EQ(p.runs[p.rows[0].run].channels, 1U);
    EXPECT_EQ(p.runs[p.rows[1].run].channels, 4U);
    EXPECT_EQ(p.runs[p.rows[2].run].channels, 0U);
    EXPECT_THROW(
        (void)parse_collective_tables("id,n_gpus,size_bytes,time_us,channels\na,2,1,1,0\n", "t"),
        ConfigError);
}

TEST_F(CollectivePlanTest, LabelsDecideWhatRuns) {
    const CollectivePlan p =
        plan("a,NVIDIA H100,8,1,NVSwitch,nvls,,,1024,20,,\n"
             "b,NVIDIA H100,8,1,NVSwitch,ring (NCCL_NVLS_ENABLE=0),,,1024,20,,\n"
             "c,NVIDIA H100,8,1,NVSwitch,NVLS off,,,1024,20,,\n"
             "d,NVIDIA H100,8,1,NVSwitch,auto,2.16.2,,1024,20,,\n"
             "e,NVIDIA A100,8,1,NVSwitch,nvls,2.18,,1024,20,,\n");
    ASSERT_EQ(p.rows.size(), 5U);
    const auto run = [&](std::size_t i) -> const PlannedRun& { return p.runs[p.rows[i].run]; };
    EXPECT_EQ(run(0).algorithm, Algorithm::kInSwitch);
    EXPECT_TRUE(p.rows[0].in_switch);
    EXPECT_EQ(run(1).algorithm, Algorithm::kRing);
    EXPECT_FALSE(p.rows[1].pair.empty());
    EXPECT_FALSE(p.rows[1].pair_reduces);
    for (const std::size_t off : {std::size_t{2}, std::size_t{3}}) {
        EXPECT_EQ(run(off).algorithm, Algorithm::kAuto);
        EXPECT_FALSE(can_reduce_in_switch(run(off).system, 8));
    }
    EXPECT_EQ(p.rows[2].run, p.rows[3].run);
    // A100's switches cannot reduce, so the label is suspect and the machine's own choice runs.
    EXPECT_EQ(run(4).algorithm, Algorithm::kAuto);
    ASSERT_EQ(p.notes.size(), 1U);
    EXPECT_NE(p.notes[0].find("suspect"), std::string::npos);
    EXPECT_NE(p.notes[0].find("e: the label says nvls"), std::string::npos) << p.notes[0];
}

TEST_F(CollectivePlanTest, NvlsTreesAreTreesOfMachines) {
    const CollectivePlan p =
        plan("a,NVIDIA H100,16,2,NVSwitch + InfiniBand NDR,nvlstree,,,1024,20,,\n"
             "b,NVIDIA H100,8,1,NVSwitch,NVLS tree,,,1024,20,,\n");
    ASSERT_EQ(p.rows.size(), 2U);
    EXPECT_EQ(p.runs[p.rows[0].run].algorithm, Algorithm::kInSwitchTree);
    EXPECT_EQ(p.runs[p.rows[1].run].algorithm, Algorithm::kInSwitch);
    EXPECT_TRUE(p.rows[0].in_switch);
    EXPECT_TRUE(p.notes.empty()) << p.notes[0];
}

TEST_F(CollectivePlanTest, AlgorithmsThatNoSwitchAddsForLeaveTheChoiceToTheMachine) {
    const CollectivePlan p =
        plan("a,NVIDIA A100,16,2,NVSwitch + InfiniBand HDR,NVLSTree,,float,1048576,140,,\n"
             "b,NVIDIA H100,16,2,NVSwitch + InfiniBand NDR,CollNetDirect,,float,1048576,140,,\n"
             "c,NVIDIA B200,16,2,\"NVSwitch, InfiniBand NDR, "
             "SHARP\",CollNetDirect,,float,1048576,60,,\n");
    ASSERT_EQ(p.rows.size(), 3U);
    EXPECT_EQ(p.runs[p.rows[0].run].algorithm, Algorithm::kAuto);
    EXPECT_EQ(p.runs[p.rows[1].run].algorithm, Algorithm::kAuto);
    EXPECT_EQ(p.runs[p.rows[2].run].algorithm, Algorithm::kCollnet);
    ASSERT_EQ(p.notes.size(), 2U);
    EXPECT_NE(p.notes[0].find("a: the label says NVLSTree"), std::string::npos) << p.notes[0];
    EXPECT_NE(p.notes[1].find("b: the label says CollNetDirect"), std::string::npos) << p.notes[1];
}

TEST_F(CollectivePlanTest, OneProcessLaunchesOnAllGpusOfAMachine) {
    const CollectivePlan p =
        plan("a,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,20,,out-of-place\n"
             "a,NVIDIA H100,4,1,NVSwitch,auto,,float,1024,20,,out-of-place\n"
             "b,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,20,,all_reduce_bench.py\n");
    ASSERT_EQ(p.rows.size(), 3U);
    EXPECT_EQ(p.rows[0].launches, p.rows[1].launches * 2);
    EXPECT_EQ(p.rows[0].launches, p.rows[2].launches * 8);
    EXPECT_GT(p.rows[2].launches, Time());
}

TEST_F(CollectivePlanTest, SeveralHostsHaveSeveralProcesses) {
    const CollectivePlan p = plan("a,NVIDIA GB200,72,18,NVL72,auto,,float,65536,20,,\n"
                                  "b,NVIDIA GB200,72,,NVL72,auto,,float,65536,20,,\n"
                                  "c,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,200,,\n");
    ASSERT_EQ(p.rows.size(), 3U);
    EXPECT_EQ(p.rows[0].launches * 8, p.rows[2].launches);
    EXPECT_EQ(p.rows[1].launches, p.rows[0].launches);
}

// One thread cannot have driven all GPUs if any size of the table was quicker than its launches.
TEST_F(CollectivePlanTest, AQuickTableHasAProcessForEachGpu) {
    const CollectivePlan p = plan("a,NVIDIA H100,8,1,NVSwitch,auto,,float,8,13,,\n"
                                  "a,NVIDIA H100,8,1,NVSwitch,auto,,float,1048576,50,,\n"
                                  "b,NVIDIA H100,8,1,NVSwitch,auto,,float,8,30,,\n"
                                  "b,NVIDIA H100,8,1,NVSwitch,auto,,float,1048576,50,,\n");
    ASSERT_EQ(p.rows.size(), 4U);
    EXPECT_EQ(p.rows[0].launches, p.rows[1].launches);
    EXPECT_EQ(p.rows[2].launches, p.rows[0].launches * 8);
    EXPECT_EQ(p.rows[3].launches, p.rows[2].launches);
}

// A loop of exchanges between machines is bound by the proxies' work for each connection.
TEST_F(CollectivePlanTest, ProxiesBoundALoopOfExchanges) {
    const std::string machine =
        "NVIDIA A100-SXM4-40GB,16,2,8x HDR200 InfiniBand,auto,,float,1024,20,,\n";
    const CollectivePlan sum = plan("a," + machine);
    ASSERT_EQ(sum.rows.size(), 1U) << (sum.unmatched.empty() ? "" : sum.unmatched[0].why);
    EXPECT_LT(sum.rows[0].launches, microseconds(10)) << "an all-reduce is not";
    rows_ = parse_collective_tables(
        "collective," + std::string(kHeader) + "all_to_all,a," + machine, "t.csv");
    const CollectivePlan exchange = plan_collectives(rows_, machines_);
    ASSERT_EQ(exchange.rows.size(), 1U);
    EXPECT_EQ(exchange.rows[0].launches, nanoseconds(3700) * 16) << "8 peers, to and from";
}

TEST_F(CollectivePlanTest, DatatypesAndPeaks) {
    const CollectivePlan p = plan("a,NVIDIA H100,8,1,NVSwitch,auto,,double,1028,20,,\n"
                                  "b,NVIDIA H100,8,1,NVSwitch,nvls,,,,,480,\n"
                                  "c,NVIDIA H100,8,1,NVSwitch,auto,,quaternion,1024,20,,\n"
                                  "d,NVIDIA H100,8,1,NVSwitch,auto,,float,1024,,0.00,\n");
    ASSERT_EQ(p.rows.size(), 2U);
    EXPECT_EQ(p.runs[p.rows[0].run].datatype, Datatype::kFloat64);
    EXPECT_EQ(p.runs[p.rows[0].run].bytes, Bytes(1024));  // whole elements
    EXPECT_EQ(p.runs[p.rows[1].run].bytes, Bytes(kPeakBytes));
    ASSERT_EQ(p.unmatched.size(), 2U);
    EXPECT_EQ(p.unmatched[0].why, "the datatype \"quaternion\" is not known");
    EXPECT_EQ(p.unmatched[1].id, "d/1024/");
}

}  // namespace
}  // namespace switchfold::validation::collective_plan_test
