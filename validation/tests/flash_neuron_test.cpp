// SPDX-License-Identifier: Apache-2.0
#include "validation/memory/flash_neuron.h"

#include "sim/core/error.h"
#include "sim/core/tests/temporary_folder.h"
#include "validation/memory/g10_rows.h"
#include "validation/memory/g10_step.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace switchfold::validation::flash_neuron_test {
namespace {

/// A chain x -> Dot w -> Relu -> Dot w -> Relu ..: each tensor has `pages` pages.
std::string chain(int layers, int pages) {
    const std::string size = "2\n99\n" + std::to_string(pages * 1024) + "\n";
    std::string text;
    std::string before = "100";
    for (int i = 0; i < layers; ++i) {
        const std::string dot = std::to_string(200 + 2 * i);
        const std::string relu = std::to_string(201 + 2 * i);
        text += dot + "\nDot\n2\n" + before + "\n" + std::to_string(i) + "\n" + size +
                "1\n1024\n-------------------\n";
        text += relu + "\nRelu\n1\n" + dot + "\n" + size + "-------------------\n";
        before = relu;
    }
    return text;
}

class FlashNeuron : public ::testing::Test {
protected:
    AccessSchedule read(const std::string& network, int kernels, double milliseconds) {
        const auto file = [&](const char* name, const std::string& text) {
            std::ofstream(folder_.path() / name) << text;
            return folder_.path() / name;
        };
        std::string times;
        std::string spaces;
        for (int i = 0; i < kernels; ++i) {
            times += std::to_string(i) + " " + std::to_string(milliseconds) + " ms\n";
            spaces += std::to_string(i) + (i == 0 ? " 5000 B\n" : " 0 B\n");
        }
        return read_g10_step(
            {file("a.net.txt", network), file("times", times), file("spaces", spaces), 1, 100});
    }
    /// Forward, loss, and of each layer: ReLU, weight gradient, input gradient (not of the first),
    /// update.
    AccessSchedule of_layers(int layers, double milliseconds) {
        return read(chain(layers, 10), 2 * layers + 1 + 4 * layers - 1, milliseconds);
    }
    std::string problem_of(const std::string& network, int kernels) {
        try {
            (void)read(network, kernels, 1);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "none";
    }
    TemporaryFolder folder_;
};

TEST_F(FlashNeuron, StepsAreTheFrontEndsKernels) {
    const AccessSchedule schedule = of_layers(2, 1);
    std::vector<std::string> names;
    for (const AccessStep& step : schedule.steps)
        names.push_back(step.name);
    const std::vector<std::string> expected{
        "F Dot",
        "F Relu",
        "F Dot",
        "F Relu",
        "loss",
        "B Relu",
        "D Dot",
        "X Dot",
        "update",
        "B Relu",
        "D Dot",
        "update"};
    EXPECT_EQ(names, expected);
    EXPECT_EQ(schedule.steps[3].kind, StepKind::kForward);
    EXPECT_EQ(schedule.steps[4].kind, StepKind::kBackward);
    std::uint64_t weights = 0;
    std::uint64_t scratch = 0;
    for (const MemoryItem& item : schedule.items) {
        EXPECT_EQ(item.bytes % kPage, 0U) << item.name;
        weights += item.persistent ? item.bytes : 0;
        scratch += item.scratch ? item.bytes : 0;
    }
    EXPECT_EQ(weights, 2 * kPage);
    EXPECT_EQ(scratch, 2 * kPage);  // a workspace of 5,000 bytes
}

TEST_F(FlashNeuron, NothingTravelsWhereAllFits) {
    const AccessSchedule schedule = of_layers(6, 1);
    const auto choice = choose_for_flash_neuron(schedule, 1000);
    ASSERT_TRUE(choice.has_value());
    EXPECT_EQ(choice->pages, 0U);
    const auto times = run_flash_neuron(schedule, *choice, 1000, 1e9);
    ASSERT_TRUE(times.has_value());
    EXPECT_NEAR(times->seconds, 36e-3, 1e-12);
    EXPECT_EQ(times->copying, 0);
}

/// The first tensors go, as many as the excess needs, and come back.
TEST_F(FlashNeuron, CopiesThatKernelsHideCostNothing) {
    const AccessSchedule schedule = of_layers(6, 1);
    // Weights 6, the fullest step (of a ReLU) 30, and 13 tensors of 10 pages are kept for the
    // backward pass.
    const auto choice = choose_for_flash_neuron(schedule, 6 + 30 + 100);
    ASSERT_TRUE(choice.has_value());
    EXPECT_EQ(choice->pages, 40U);  // until less than 100 are held
    EXPECT_EQ(choose_for_flash_neuron(schedule, 36), std::nullopt);
    const double rate = 1e12;
    const auto times = run_flash_neuron(schedule, *choice, 6 + 30 + 100, rate);
    ASSERT_TRUE(times.has_value());
    EXPECT_NEAR(times->copying, 2.0 * 40 * kPage / rate, 1e-12);
    EXPECT_NEAR(times->stalled(), 0, 1e-6);
}

/// The backward pass waits for all copies out, and then for what was not fetched ahead.
TEST_F(FlashNeuron, SlowCopiesStallTheTurn) {
    const AccessSchedule schedule = of_layers(6, 1);
    const std::uint64_t pages = 6 + 30 + 100;
    const auto choice = choose_for_flash_neuron(schedule, pages);
    ASSERT_TRUE(choice.has_value());
    const double rate = 40 * kPage / 30e-3;  // 30 ms each way; the forward pass takes 12
    const auto times = run_flash_neuron(schedule, *choice, pages, rate);
    ASSERT_TRUE(times.has_value());
    EXPECT_GT(times->stalled(), 18e-3);
    EXPECT_GE(times->seconds, 60e-3);  // no copies in both directions at once
    EXPECT_NEAR(times->overlapped() + times->stalled(), times->copying, 1e-12);
}

TEST_F(FlashNeuron, MalformedFilesAreRefusedByLine) {
    EXPECT_NE(problem_of("", 1).find("no operators"), std::string::npos);
    EXPECT_NE(problem_of("1\nAdd\n-1\n", 1).find("line 3"), std::string::npos);
    EXPECT_NE(problem_of("1\nAdd\n0\n", 1).find("are 0 inputs"), std::string::npos);
    EXPECT_NE(problem_of("1\nAdd\n1\n7\n1\n", 1).find("the file ends"), std::string::npos);
    EXPECT_NE(
        problem_of("1\nDot\n1\n7\n1\n8\n-------------------\n", 1).find("of 1 inputs"),
        std::string::npos);
    EXPECT_NE(problem_of("1\nRelu\n1\n7\n1\n8\nx\n", 1).find("is \"x\""), std::string::npos);
    EXPECT_NE(problem_of(chain(1, 1), 3).find("are 3 kernels; expected 6"), std::string::npos);
}

TEST(G10Rows, SayWhatIsMissing) {
    G10Rows rows([](const std::string&) { return std::nullopt; });
    MemoryRow row;
    row.network = "BERT base";
    row.batch = 256;
    row.policy = "FlashNeuron";
    row.quantity = "stalled";
    Case c;
    EXPECT_EQ(rows.answer(row, c), "no profile g10/bert_base.net.txt");
    row.batch = 128;
    EXPECT_NE(rows.answer(row, c).find("kernel times of its batch"), std::string::npos);
    row.policy = "DeepUM+";
    EXPECT_NE(rows.answer(row, c).find("faults"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::validation::flash_neuron_test
