// SPDX-License-Identifier: Apache-2.0
#include "validation/experts/experts_tables.h"

#include "sim/core/error.h"
#include "validation/experts/knees.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchfold::validation::experts_tables_test {
namespace {

constexpr const char* kHeader = "id,kind,operation,gpu,n_gpus,n_nodes,interconnect,kernel,blocks,"
                                "dtype,num_tokens,hidden,topk,num_experts,time_us\n";

TEST(ExpertsTables, ReadRowsOfExchangesAlone) {
    const auto rows = parse_experts_tables(
        std::string(kHeader) +
            "one_dispatch_8b,moe_deepep_normal,moe_dispatch,H100,8,1,HGX,DeepEP intranode,8,fp8 + "
            "scales,4096,7168,8,256,1081.9\n"
            "other,custom_all_reduce,all_reduce,H100,8,1,HGX,one-shot,,half,,,,,9\n"
            "two,moe_trtllm_alltoall,moe_prepare,GB200,4,1,NVL72,NVLinkOneSided,,int8,1,7168,8,,"
            "12\n",
        "table.csv");
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].group, "one_dispatch");
    EXPECT_EQ(rows[0].operation, CollectiveKind::kMoeDispatch);
    EXPECT_EQ(rows[0].library, ExpertsLibrary::kDeepepNormal);
    EXPECT_EQ(rows[0].payload, ExpertPayload::kFloat8);
    EXPECT_EQ(rows[0].blocks, 8U);
    EXPECT_DOUBLE_EQ(rows[0].time_us, 1081.9);
    EXPECT_EQ(rows[1].group, "two");
    EXPECT_FALSE(rows[1].operation);
    EXPECT_FALSE(rows[1].library);
    EXPECT_FALSE(rows[1].payload);
    EXPECT_FALSE(rows[1].experts);
}

TEST(ExpertsTables, TellEverythingThatIsWrong) {
    try {
        static_cast<void>(parse_experts_tables(
            std::string(kHeader) + "a,moe_x,moe_dispatch,H100,8,1,HGX,K,-1,fp8,,0,8,256,soon\n"
                                   ",moe_x,moe_dispatch,H100,8,1,HGX,K,,fp8,1,1,8,256,1\n",
            "table.csv"));
        FAIL() << "bad rows were taken";
    } catch (const ConfigError& error) {
        std::vector<std::string> texts;
        for (const Problem& problem : error.problems())
            texts.push_back(problem.pointer + ": " + problem.message);
        ASSERT_EQ(texts.size(), 5U);
        EXPECT_EQ(texts[0], "line 2: blocks is \"-1\"; expected a whole number from 1");
        EXPECT_EQ(texts[1], "line 2: num_tokens is \"\"; expected a whole number from 1");
        EXPECT_EQ(texts[2], "line 2: hidden is \"0\"; expected a whole number from 1");
        EXPECT_EQ(texts[3], "line 2: time_us is \"soon\"; expected a number above 0");
        EXPECT_EQ(texts[4], "line 3: id is \"\"; expected the name of a table");
    }
    EXPECT_THROW(static_cast<void>(parse_experts_tables("id\n", "t")), ConfigError);
    EXPECT_THROW(static_cast<void>(parse_experts_tables("id,kind\none,moe_x\n", "t")), ConfigError);
    EXPECT_TRUE(parse_experts_tables("id,kind\none,symmetric_memory\n", "t").empty());
}

TEST(Knees, AreWhereMoreSmsBringLittle) {
    EXPECT_EQ(knee_of({{4, 2068}, {8, 1082}, {12, 754}, {16, 579}, {20, 492}, {24, 498}}), 20U);
    EXPECT_EQ(knee_of({{4, 100}, {8, 50}, {12, 33}}), 12U);
    EXPECT_EQ(knee_of({{4, 10}, {8, 9.5}}), 4U);
}

}  // namespace
}  // namespace switchfold::validation::experts_tables_test
