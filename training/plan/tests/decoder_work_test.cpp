// SPDX-License-Identifier: Apache-2.0
// What tensor, context and expert parallelism do with the layers of newer decoders.
#include "training/network/decoder.h"
#include "training/plan/step/plan_step.h"
#include "training/plan/tests/small_gpt.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

namespace switchfold::decoder_work_test {
namespace {

using test_data::a100;

LlamaShape small_llama() {
    LlamaShape s;
    s.layers = 1;
    s.hidden = 512;
    s.heads = 8;
    s.sequence = 256;
    s.vocabulary = 1024;
    s.feed_forward = 1024;
    return s;
}

std::string problem_of(const ParallelPlan& plan, const Network& network) {
    const PlanProblems problems = problems_of(plan, network);
    return problems.empty() ? "" : problems.front().first + " " + problems.front().second;
}

/// Bytes of the collectives of a stage's pass, by their names.
std::map<std::string, std::uint64_t>
collectives(const Network& network, const ParallelPlan& plan, PassKind kind) {
    const StageWork work(network, a100(), plan, {0});
    std::map<std::string, std::uint64_t> bytes;
    for (const WorkItem& item : work.work(kind, 0))
        if (const auto* collective = std::get_if<CollectiveItem>(&item))
            bytes[collective->name] += collective->bytes.count();
    return bytes;
}
double
flops(const Network& network, const ParallelPlan& plan, PassKind kind, const std::string& layer) {
    const StageWork work(network, a100(), plan, {0});
    double sum = 0;
    for (const WorkItem& item : work.work(kind, 0))
        if (const auto* kernel = std::get_if<KernelItem>(&item))
            if (kernel->name.starts_with(layer + " "))
                sum += kernel->kernel.flops;
    return sum;
}

TEST(DecoderWork, TensorRanksDivideHeadsOfKeysOrAreRefused) {
    LlamaShape s = small_llama();
    s.kv_heads = 2;
    const Network network = decoder("d", s);
    ParallelPlan plan;
    plan.tensor = 2;
    EXPECT_EQ(problem_of(plan, network), "");
    plan.tensor = 4;
    EXPECT_EQ(
        problem_of(plan, network),
        "/tensor 4 ranks do not divide the 2 heads of keys and values of layers.0.self_attn.sdpa, "
        "and several would compute the same; expected a divisor");
}

/// Ranks that divide tokens gather the keys and values that there are, not one for each query head.
TEST(DecoderWork, ContextRanksGatherSharedKeysOnce) {
    LlamaShape s = small_llama();
    ParallelPlan plan;
    plan.context = 2;
    const std::string name = "layers.0.self_attn.sdpa keys and values";
    const std::uint64_t all = collectives(decoder("d", s), plan, PassKind::kForward).at(name);
    EXPECT_EQ(all, 2U * 2 * 256 * 512);
    s.kv_heads = 2;
    EXPECT_EQ(collectives(decoder("d", s), plan, PassKind::kForward).at(name), all / 4);
}

/// The narrow products are not divided among tensor-parallel ranks; with a divided sequence each
/// rank has its own tokens, and the narrow vectors are gathered instead of the hidden state.
TEST(DecoderWork, LatentAttentionGathersNarrowVectors) {
    LlamaShape s = small_llama();
    s.latent = LatentParams{96, 64, 32, 16, 32};
    const Network network = decoder("d", s);
    ParallelPlan plan;
    plan.tensor = 4;
    plan.sequence = true;
    ASSERT_EQ(problem_of(plan, network), "");
    const auto gathered = collectives(network, plan, PassKind::kForward);
    EXPECT_EQ(gathered.at("layers.0.self_attn.q_b_proj input"), 2U * 256 * 96);
    EXPECT_EQ(gathered.at("layers.0.self_attn.kv_b_proj input"), 2U * 256 * 64);
    EXPECT_FALSE(gathered.contains("layers.0.self_attn.q_a_proj input"));
    EXPECT_FALSE(gathered.contains("layers.0.self_attn.kv_a_proj input"));
    const double whole = 2.0 * 256 * 512 * 96;
    const std::string narrow = "layers.0.self_attn.q_a_proj";
    EXPECT_DOUBLE_EQ(flops(network, plan, PassKind::kForward, narrow), whole / 4);
    EXPECT_DOUBLE_EQ(flops(network, plan, PassKind::kWeightGradient, narrow), whole / 4);
    plan.sequence = false;
    EXPECT_DOUBLE_EQ(flops(network, plan, PassKind::kForward, narrow), whole);
    const StageWork work(network, a100(), plan, {0});
    const double narrow_weights = 512.0 * 96 + 512 * (64 + 16) + 96 + 64;
    ParallelPlan alone;
    const StageWork one(network, a100(), alone, {0});
    const double norms = 3 * 512.0;
    EXPECT_DOUBLE_EQ(
        4 * (work.parameters(0) - narrow_weights - norms),
        one.parameters(0) - narrow_weights - norms);
}

/// Backward of latent attention keeps queries, keys, values and the result as the kernel reads
/// them.
TEST(DecoderWork, LatentAttentionKeepsWhatItsKernelsRead) {
    LlamaShape s = small_llama();
    s.latent = LatentParams{96, 64, 32, 16, 24};
    const auto kept = [&](std::uint32_t layers) {
        s.layers = layers;
        return StageWork(decoder("d", s), a100(), {}, {0}).kept(0).until_input_gradient;
    };
    const double tokens = 2.0 * 256;
    const double attention = 8 * (2 * (32 + 16) + 2 * 24);  // of all heads
    const double narrow = 2 * 96 + (64 + 16) + 64;          // before and after the norms
    const double others = 4 * 512 + 3 * 1024;
    EXPECT_DOUBLE_EQ(kept(3) - kept(2), tokens * (attention + narrow + others));
}

TEST(DecoderWork, ANormOfAllHeadsNeedsTheSquaresOfOtherRanks) {
    LlamaShape s = small_llama();
    s.query_norm = QueryNorm::kWidth;
    ParallelPlan plan;
    plan.tensor = 2;
    for (const PassKind kind : {PassKind::kForward, PassKind::kBackward})
        EXPECT_EQ(
            collectives(decoder("d", s), plan, kind).at("layers.0.self_attn.q_norm squares"),
            4U * 256);
    s.query_norm = QueryNorm::kHead;
    EXPECT_FALSE(collectives(decoder("d", s), plan, PassKind::kForward)
                     .contains("layers.0.self_attn.q_norm squares"));
}

TEST(DecoderWork, AWindowMakesAttentionShorter) {
    LlamaShape s = small_llama();
    s.sequence = 4096;
    const std::string name = "layers.0.self_attn.sdpa";
    ParallelPlan plan;
    const auto both = [&](const ParallelPlan& of) {
        const Network network = decoder("d", s);
        return flops(network, of, PassKind::kForward, name) +
               flops(network, of, PassKind::kBackward, name);
    };
    const double whole = both(plan);
    s.window = 512;
    const double window = both(plan);
    // (2 t w - w^2) / t^2 of the pairs, in whole tiles.
    const double share = (2.0 * 4096 * 512 - 512 * 512) / (4096.0 * 4096);
    EXPECT_GT(window / whole, share);
    EXPECT_LT(window / whole, 1.6 * share);
    // Ranks that divide the tokens divide the work.
    plan.context = 2;
    EXPECT_NEAR(both(plan) / window, 0.5, 0.05);
}

TEST(DecoderWork, GatesOfOtherFunctionsAreFusedToo) {
    LlamaShape s = small_llama();
    for (const Activation activation :
         {Activation::kSwiglu, Activation::kGeglu, Activation::kReglu}) {
        s.activation = activation;
        ParallelPlan plan;
        const auto kept = [&](std::uint32_t layers, GateKernels gate) {
            s.layers = layers;
            plan.gate = gate;
            return StageWork(decoder("d", s), a100(), plan, {0}).kept(0).until_input_gradient;
        };
        const double inner = 2.0 * 256 * 1024;
        // Both inputs of the gate, and the result, which the last product reads.
        const double rest = 2.0 * 256 * (4 * 512 + 4 * 512);
        EXPECT_DOUBLE_EQ(
            kept(3, GateKernels::kFused) - kept(2, GateKernels::kFused), 3 * inner + rest);
        // PyTorch's ReLU keeps its result alone, which the product reads too.
        EXPECT_DOUBLE_EQ(
            kept(3, GateKernels::kUnfused) - kept(2, GateKernels::kUnfused),
            (activation == Activation::kReglu ? 3 : 4) * inner + rest);
    }
}

TEST(DecoderWork, TokensCrossTheNetworkOnceForEachNodeThatTheyGoTo) {
    MixtureShape s{small_llama(), {}};
    s.experts = 16;
    s.top_k = 4;
    const Network network = decoder("d", s);
    ParallelPlan plan;
    plan.data = plan.expert = 8;
    plan.node_ranks = 2;
    const auto sent = [&](Sharing sharing, const char* what) {
        const StageWork work(network, a100(), plan, {0});
        double bytes = 0;
        for (const WorkItem& item : work.work(PassKind::kForward, 0))
            if (const auto* c = std::get_if<CollectiveItem>(&item))
                if (c->sharing == sharing && c->name.ends_with(what))
                    bytes += static_cast<double>(c->bytes.count());
        return bytes;
    };
    const double all = 256.0 * 512 * 4 * 2;
    for (const char* what : {"tokens to experts", "tokens back"}) {
        plan.expert_nodes = 0;
        EXPECT_EQ(sent(Sharing::kExpert, what), all);
        plan.expert_nodes = 1;
        EXPECT_EQ(sent(Sharing::kExpert, what), 0);
        EXPECT_EQ(sent(Sharing::kExpertRail, what), all / 4);
        EXPECT_EQ(sent(Sharing::kExpertNode, what), all);
        // Of four experts on two nodes by chance 15 in 16 are not all on one: 2 (1 - 1/16) nodes.
        plan.expert_nodes = 2;
        EXPECT_EQ(sent(Sharing::kExpertRail, what), all / 4 * 1.875);
    }
    const RankMap map(plan);
    EXPECT_EQ(map.sharing(Sharing::kExpertNode, 5), (std::vector<std::uint32_t>{4, 5}));
    EXPECT_EQ(map.sharing(Sharing::kExpertRail, 5), (std::vector<std::uint32_t>{1, 3, 5, 7}));
    // Within a node nothing is passed on.
    plan.node_ranks = 8;
    EXPECT_EQ(sent(Sharing::kExpert, "tokens back"), all);
    plan.node_ranks = 3;
    EXPECT_EQ(
        problem_of(plan, network),
        "/expert_nodes needs as many of the 8 ranks that hold a layer's experts in each node of 3 "
        "GPUs; expected 0, or expert, tensor and context that divide so");
    plan.node_ranks = 0;
    EXPECT_EQ(
        problem_of(plan, network),
        "/expert_nodes needs the nodes that experts lie on, and ranks do not follow each other on "
        "nodes of as many; expected 0, or as many GPUs of each machine, one machine after the "
        "other");
    plan.expert = 1;
    EXPECT_EQ(
        problem_of(plan, network),
        "/expert_nodes bounds the nodes that a token is sent to, and each rank holds all experts; "
        "expected 0, or expert above 1");
}

TEST(DecoderWork, SharedExpertsAreDividedLikeAnyFeedForward) {
    MixtureShape s{small_llama(), {}};
    s.experts = 4;
    s.top_k = 2;
    s.shared_width = 512;
    const Network network = decoder("d", s);
    ParallelPlan plan;
    plan.data = 2;
    plan.expert = 2;
    plan.tensor = 2;
    ASSERT_EQ(problem_of(plan, network), "");
    const StageWork work(network, a100(), plan, {0});
    EXPECT_DOUBLE_EQ(work.expert_parameters(0), 4 * 3 * 512.0 * 1024 / 2 / 2);
    EXPECT_EQ(
        collectives(network, plan, PassKind::kForward)
            .at("layers.0.moe.shared_experts.down_proj output"),
        2U * 256 * 512);
}

}  // namespace
}  // namespace switchfold::decoder_work_test
