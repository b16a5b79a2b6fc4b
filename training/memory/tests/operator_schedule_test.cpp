// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/operator_schedule.h"

#include "core/error.h"
#include "training/memory/copies/copy_replay.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>

namespace switchfold::operator_schedule_test {
namespace {

constexpr const char* kOperators =
    "OperatorName,Operator_input,Operator_output,Operator_cudatime,stage\n";
constexpr const char* kTensors =
    "TensorID,TensorShape,TensorNumElement,TensorEachByte,TensorStorgeid\n";

TEST(OperatorSchedule, StoragesAreItems) {
    // Storages: x (1) and w (2) give y (3), with an in-place relu. Backward reads the view (4) of y
    // and makes dx (6) and dw (5).
    const TensorUses schedule = parse_operator_schedule(
        std::string(kOperators) + "conv,[1; 2],[3],10,forward\n"
                                  "relu_,[3],[3],5,forward\n"
                                  "other,[3],[7],5,forward\n"
                                  "loss,[7],[8],1,backward\n"
                                  "relu_back,[8; 4],[6],5,backward\n"
                                  "conv_back,[6; 1; 2],[5],20,backward\n"
                                  "_foreach_add_,[2; 5],[],2,optimizer\n",
        std::string(kTensors) +
            "1,\"[2, 5]\",10,4,1\n2,[3],3,4,2\n3,[20],20,4,3\n4,[20],20,4,3\n5,[3],3,4,5\n"
            "6,[20],20,4,6\n7,[1],1,4,7\n8,[1],1,4,8\n",
        "table");
    ASSERT_EQ(schedule.steps.size(), 7U);
    EXPECT_DOUBLE_EQ(schedule.steps[5].seconds, 20e-6);
    EXPECT_EQ(schedule.resident_bytes, 24U);  // w and dw
    const auto item = [&](const std::string& name) {
        for (const MemoryItem& one : schedule.items)
            if (one.name == name)
                return one;
        throw std::runtime_error(name);
    };
    EXPECT_EQ(item("storage 3").bytes, 80U);
    EXPECT_EQ(item("storage 3").prefetches, 1U);
    EXPECT_EQ(item("storage 3").offloads, 1U);
    EXPECT_EQ(item("storage 1").prefetches, 1U);  // the host still has the input
    EXPECT_EQ(item("storage 1").offloads, 0U);
    EXPECT_EQ(item("storage 6").copies(), 0U);
    EXPECT_EQ(candidate_bytes(schedule), 120U);
}

TEST(OperatorSchedule, SaysWhatIsWrong) {
    const auto problems = [](const std::string& operators, const std::string& tensors) {
        try {
            (void)parse_operator_schedule(operators, tensors, "table");
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(
        problems("OperatorName\n", kTensors).find("table: line 1: has no column Operator_input"),
        std::string::npos);
    const std::string wrong =
        problems(std::string(kOperators) + "a,[9],[],1,sideways\nb,nine,[],x,forward\n", kTensors);
    for (const char* says :
         {"line 2: Operator_input names tensor 9", "line 2: stage is \"sideways\"",
          "line 3: Operator_input is \"nine\"", "line 3: Operator_cudatime is \"x\""})
        EXPECT_NE(wrong.find(says), std::string::npos) << says << " in " << wrong;
    EXPECT_NE(
        problems(kOperators, std::string(kTensors) + "1,2\n").find("has 2 cells; expected 5"),
        std::string::npos);
    EXPECT_NE(problems(kOperators, kTensors).find("are none"), std::string::npos);
}

struct Traced {
    const char* name;
    std::size_t operators;
    double forward_ms;
    double backward_ms;
    double update_ms;
};

void PrintTo(const Traced& traced, std::ostream* out) {
    *out << traced.name;
}

class TracedStep : public ::testing::TestWithParam<Traced> {};

TEST_P(TracedStep, IsPlanned) {
    const auto path = [&](const char* what) {
        return std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/models/triosim" /
               ("h100_bs128_" + std::string(GetParam().name) + "_" + what + ".csv.gz");
    };
    if (!std::filesystem::exists(path("trace")))
        GTEST_SKIP() << "no " << path("trace");
    const TensorUses schedule = read_operator_schedule(path("trace"), path("tensor"));
    EXPECT_EQ(schedule.steps.size(), GetParam().operators);
    std::array<double, 3> ms{};
    for (const LayerUse& step : schedule.steps)
        ms[static_cast<std::size_t>(step.kind)] += step.seconds * 1e3;
    constexpr double kDigit = 0.06;
    EXPECT_NEAR(ms[0], GetParam().forward_ms, kDigit);
    EXPECT_NEAR(ms[1], GetParam().backward_ms, kDigit);
    EXPECT_NEAR(ms[2], GetParam().update_ms, kDigit);
    OffloadPlanOptions options;
    options.memory = 14'000'000'000;
    options.optimal.granule = 1U << 20U;
    const OffloadPlan best = plan_offload(schedule, options);
    options.planner = OffloadPlanner::kOffloadAll;
    const OffloadPlan all = plan_offload(schedule, options);
    ASSERT_EQ(best.refusal, "");
    ASSERT_EQ(all.refusal, "");
    EXPECT_GT(all.moved_bytes(), 2 * candidate_bytes(schedule));  // sums read their inputs again
    EXPECT_LT(best.moved_bytes(), all.moved_bytes() / 5);
    EXPECT_LE(best.floor_bytes(), options.memory);
    EXPECT_LE(*best.gap(), best.saved_bytes / 20);
    const CopyRates rates{55e9, 55e9};
    EXPECT_LT(
        replay_copies(schedule, best, options.memory, rates).stall,
        replay_copies(schedule, all, options.memory, rates).stall / 2);
}

INSTANTIATE_TEST_SUITE_P(
    TrioSim, TracedStep,
    ::testing::Values(
        Traced{"resnet50", 396, 24.7, 57.7, 0.9}, Traced{"vgg13", 77, 28.2, 62.6, 3.7}),
    [](const auto& traced) { return std::string(traced.param.name); });

}  // namespace
}  // namespace switchfold::operator_schedule_test
