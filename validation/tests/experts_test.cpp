// SPDX-License-Identifier: Apache-2.0
#include "core/tests/temporary_folder.h"
#include "validation/experts/knees.h"
#include "validation/harness/suite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace switchfold::validation::experts_test {
namespace {

TEST(Knees, AreWhereMoreSmsBringLittle) {
    EXPECT_EQ(knee_of({{4, 2068}, {8, 1082}, {12, 754}, {16, 579}, {20, 492}, {24, 498}}), 20U);
    EXPECT_EQ(knee_of({{4, 100}, {8, 50}, {12, 33}}), 12U);
    EXPECT_EQ(knee_of({{4, 10}, {8, 9.5}}), 4U);
}

/// Rows of one table by their number of blocks are a group and a curve; what is not simulated says
/// why.
TEST(ExpertsSuite, MakesCurvesOfTheRowsOfATable) {
    std::string table =
        "id,kind,operation,gpu,n_gpus,n_nodes,interconnect,kernel,blocks,dtype,num_tokens,hidden,"
        "topk,num_experts,time_us\n"
        "x,symmetric_memory,all_reduce,H100,8,1,HGX NVSwitch,k,,bfloat16,,,,,10\n";
    for (const int blocks : {4, 8, 16})
        table += fmt::format(
            "t_{0}b,moe_deepep_normal,moe_dispatch,NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch (NVLink "
            "4),DeepEP intranode,{0},fp8 + scales,1024,1024,2,8,{1}\n",
            blocks, 400 / blocks);
    const std::string machine = "NVIDIA H100 80GB HBM3,8,1,HGX NVSwitch (NVLink 4),";
    table += "a,moe_x,moe_prepare," + machine + "DeepEP intranode,,fp8,8,64,2,8,10\n";
    table += "b,moe_x,moe_combine," + machine + "DeepEP internode,,fp8,8,64,2,8,10\n";
    table += "c,moe_x,moe_combine," + machine + "DeepEP intranode,,fp8,8,64,2,,10\n";
    table += "d,moe_x,moe_combine," + machine + "DeepEP intranode,,int4,8,64,2,8,10\n";
    const TemporaryFolder folder;
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = folder.path() / "mine.csv";
    std::ofstream(*options.data) << table;
    const SuiteResult result = suite_named("experts").run(options);
    ASSERT_EQ(result.cases.size(), 4U);
    EXPECT_EQ(result.cases[0].id, "t_4b/1024");
    EXPECT_EQ(result.cases[0].group, "t");
    EXPECT_EQ(result.cases[0].like.operation, "moe_dispatch");
    EXPECT_GT(result.cases[0].simulated, result.cases[2].simulated);
    EXPECT_EQ(result.cases[3].id, "t/1024/knee");
    EXPECT_EQ(result.cases[3].measured, 16);
    ASSERT_EQ(result.unmatched.size(), 4U);
    EXPECT_EQ(result.unmatched[0].why, "moe_prepare is neither dispatch nor combine");
    EXPECT_EQ(result.unmatched[1].why, "the kernel DeepEP internode is not simulated");
    EXPECT_EQ(result.unmatched[2].why, "the row does not say how many experts there are");
    EXPECT_EQ(result.unmatched[3].why, "the datatype \"int4\" is not known");
}

}  // namespace
}  // namespace switchfold::validation::experts_test
