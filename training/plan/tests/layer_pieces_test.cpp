// SPDX-License-Identifier: Apache-2.0
#include "training/network/zoo/zoo.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/plan_step.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace switchfold::layer_pieces_test {
namespace {

constexpr std::uint32_t kRanks = 4;
constexpr double kInput = 2.0 * 8192 * 4096;  ///< bytes of a layer's input, all tokens

const Network& llama() {
    static const Network network = *find_network("llama3_8b");
    return network;
}

std::uint32_t layer_of(const std::string& part) {
    for (std::uint32_t i = 0; i < llama().layers.size(); ++i)
        if (llama().layers[i].name.find(part) != std::string::npos)
            return i;
    return 0;
}

ParallelPlan plan_of(bool overlap) {
    ParallelPlan plan;
    plan.tensor = kRanks;
    plan.sequence = true;
    plan.tensor_overlap = overlap;
    return plan;
}

/// What of a pass there is, in order: p product, k another kernel, m a message beside, g a gather,
/// s a scatter of sums, j a join.
struct Traced {
    std::string order;
    double messages = 0;            ///< bytes
    double flops = 0;               ///< of products
    std::uint64_t picoseconds = 0;  ///< of products
    double read = 0;                ///< by other kernels
};

Traced trace(const ParallelPlan& plan, const char* layer, bool backward) {
    const KernelTimes times(test_data::hopper());
    Work work;
    const LayerWork layers(llama(), times, plan);
    if (backward)
        layers.input_gradient(layer_of(layer), work);
    else
        layers.forward(layer_of(layer), work);
    Traced traced;
    for (const WorkItem& item : work)
        if (const auto* kernel = std::get_if<KernelItem>(&item)) {
            const bool product = kernel->kernel.kernel_class == KernelClass::kGemmConv;
            traced.order += product ? 'p' : 'k';
            traced.flops += product ? kernel->kernel.flops : 0;
            traced.picoseconds += product ? kernel->kernel.isolated.count() : 0;
            traced.read += product ? 0 : static_cast<double>(kernel->kernel.bytes_read.count());
        } else if (const auto* c = std::get_if<CollectiveItem>(&item)) {
            traced.order += c->kind == CollectiveKind::kSendReceive && c->beside ? 'm'
                            : c->kind == CollectiveKind::kAllGather              ? 'g'
                                                                                 : 's';
            traced.messages += static_cast<double>(c->bytes.count());
        } else if (std::holds_alternative<JoinItem>(item)) {
            traced.order += 'j';
        }
    return traced;
}

TEST(LayerPieces, AnInputArrivesWhileWhatIsThereIsMultiplied) {
    const Traced whole = trace(plan_of(false), "q_proj", false);
    const Traced pieces = trace(plan_of(true), "q_proj", false);
    EXPECT_EQ(whole.order, "gp");
    EXPECT_EQ(pieces.order, "mpjmpjmpjp");
    EXPECT_EQ(pieces.messages, kInput * (kRanks - 1) / kRanks);
    EXPECT_NEAR(pieces.flops, whole.flops, 1e-9 * whole.flops);
    // Those that read the same input need no messages of their own.
    EXPECT_EQ(trace(plan_of(true), "k_proj", false).order, "p");
}

TEST(LayerPieces, SumsLeaveWhileTheNextPieceIsMultiplied) {
    const Traced whole = trace(plan_of(false), "o_proj", false);
    const Traced pieces = trace(plan_of(true), "o_proj", false);
    EXPECT_EQ(whole.order, "ps");
    EXPECT_EQ(pieces.order, "pmpmpmpjk");
    EXPECT_EQ(pieces.messages, kInput * (kRanks - 1) / kRanks);
    EXPECT_EQ(pieces.read, kInput);
    EXPECT_NEAR(pieces.flops, whole.flops, 1e-9 * whole.flops);
}

TEST(LayerPieces, GradientsOfSumsArriveInPiecesToo) {
    EXPECT_EQ(trace(plan_of(false), "o_proj", true).order, "gp");
    EXPECT_EQ(trace(plan_of(true), "o_proj", true).order, "mpjmpjmpjp");
}

TEST(LayerPieces, HeadsAndPlansWithoutSequenceStayWhole) {
    EXPECT_EQ(
        trace(plan_of(true), "lm_head", false).order,
        trace(plan_of(false), "lm_head", false).order);
    ParallelPlan plan = plan_of(true);
    plan.sequence = false;
    const PlanProblems problems = problems_of(plan, llama());
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems.front().first, "/tensor_overlap");
}

/// With groups: P is a product of a share of the whole's time and blocks.
TEST(LayerPieces, AGroupGathersAndScattersAPieceOfSomeWaves) {
    ParallelPlan plan = plan_of(true);
    plan.tensor_exchange = PieceExchange::kGroup;
    plan.tensor_pieces = 2;
    const Traced whole_sum = trace(plan_of(false), "o_proj", false);
    const Traced sums = trace(plan, "o_proj", false);
    EXPECT_EQ(sums.order, "pspsj") << "no sum of pieces: the exchange adds";
    EXPECT_NEAR(sums.messages, whole_sum.messages, 3);
    EXPECT_NEAR(sums.flops, whole_sum.flops, 1e-9 * whole_sum.flops);
    EXPECT_EQ(sums.picoseconds, whole_sum.picoseconds) << "waves of one kernel, no more time";
    const Traced gathers = trace(plan, "q_proj", false);
    EXPECT_EQ(gathers.order, "ggpjp") << "the first piece is awaited, the others come beside";
    EXPECT_NEAR(gathers.messages, kInput, 3);
    EXPECT_EQ(gathers.picoseconds, trace(plan_of(false), "q_proj", false).picoseconds);
    EXPECT_EQ(trace(plan, "o_proj", true).order, "ggpjp");
    plan.tensor_pieces = 1;
    EXPECT_EQ(trace(plan, "o_proj", false).order, "psj");
    plan.tensor_pieces = 0;
    const std::string waves = trace(plan, "o_proj", false).order;
    plan.tensor_pieces = 4096;
    EXPECT_EQ(trace(plan, "o_proj", false).order, waves) << "nothing is finer than a wave";
    EXPECT_GT(waves.size(), 3U);
}

TEST(LayerPieces, SettingsOfGroupsNeedPieces) {
    ParallelPlan plan = plan_of(false);
    plan.tensor_exchange = PieceExchange::kGroup;
    ASSERT_EQ(problems_of(plan, llama()).size(), 1U);
    EXPECT_EQ(problems_of(plan, llama()).front().first, "/tensor_exchange");
    plan = plan_of(true);
    plan.tensor_pieces = 4;
    ASSERT_EQ(problems_of(plan, llama()).size(), 1U);
    EXPECT_EQ(problems_of(plan, llama()).front().first, "/tensor_pieces");
}

TEST(LayerPieces, MessagesOfRoundedInputsHave8Bits) {
    ParallelPlan plan = plan_of(true);
    plan.products = ProductRecipe::kCurrent;
    const Traced pieces = trace(plan, "q_proj", false);
    EXPECT_EQ(pieces.order, "kskmpjmpjmpjp") << "they agree on the largest value first";
    constexpr double kLargest = 4;
    EXPECT_EQ(pieces.messages, kLargest + kInput / 2 * (kRanks - 1) / kRanks);
}

}  // namespace
}  // namespace switchfold::layer_pieces_test
