// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/plan_step.h"

#include "training/network/decoder.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/tests/graph_ends.h"
#include "training/plan/tests/random_plan.h"
#include "training/plan/tests/small_gpt.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace switchfold::plan_step_test {
namespace {

Network small_mixture() {
    MixtureShape shape;
    shape.layers = 4;
    shape.hidden = 256;
    shape.heads = 8;
    shape.kv_heads = 4;
    shape.sequence = 128;
    shape.vocabulary = 512;
    shape.feed_forward = 512;
    shape.experts = 8;
    shape.top_k = 2;
    return decoder("mixture", shape);
}

std::string problem_of(const ParallelPlan& plan, const Network& network) {
    const PlanProblems problems = problems_of(plan, network);
    return problems.empty() ? "" : problems.front().first + " " + problems.front().second;
}

/// Bytes of a rank's collectives, by name of the group.
std::map<std::string, std::uint64_t> traffic(const ExecutionGraph& graph, std::uint32_t rank) {
    std::map<std::string, std::uint64_t> bytes;
    for (const Operation& operation : graph.ranks[rank]->operations)
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body))
            bytes[graph.groups[collective->group].name] += collective->bytes.count();
    return bytes;
}

using test_data::a100;
using test_data::ends;
using test_data::small_gpt;

RC_GTEST_PROP(PlanStepProperty, EveryPlanEnds, ()) {
    ParallelPlan plan = test_data::random_plan();
    plan.context = *rc::gen::element(1U, 2U);
    if (plan.tensor > 1)
        plan.tensor = *rc::gen::element(2U, 4U);
    plan.sharding = *rc::gen::element(
        Sharding::kNone, Sharding::kOptimizer, Sharding::kGradients, Sharding::kParameters);
    if (plan.sharding == Sharding::kParameters)
        plan.unit = *rc::gen::element(Bytes(), kibibytes(500), mebibytes(4));
    plan.gradient_as_bucket_view = *rc::gen::arbitrary<bool>();
    plan.launch_times.kernel = microseconds(*rc::gen::element(0U, 40U));
    plan.launch_times.wait_after_pass = *rc::gen::arbitrary<bool>();
    plan.launch_times.wait_around_recomputed = *rc::gen::arbitrary<bool>();
    plan.launch_times.wait_for_batch = *rc::gen::arbitrary<bool>();
    const bool mixture = *rc::gen::arbitrary<bool>();
    plan.expert = mixture ? *rc::gen::element(1U, plan.data) : 1;
    if (plan.expert > 1) {
        plan.node_ranks =
            *rc::gen::element(64U, plan.tensor);  // all in one, or a tensor group each
        plan.expert_nodes = *rc::gen::element(0U, 1U, 2U);
    }
    const Network network = mixture ? small_mixture() : small_gpt();
    std::size_t made = 0;
    // A fourth of the schedules a case is run: all would take a minute and a half.
    constexpr std::size_t kEvery = 4;
    const std::size_t turn = *rc::gen::inRange<std::size_t>(0, kEvery);
    for (const ScheduleGenerator& generator : schedule_generators()) {
        plan.schedule = generator.name;
        plan.update_every = plan.schedule == "1f1b_double_buffered" ? plan.pipeline : 1;
        if (!problems_of(plan, network).empty())
            continue;
        if (made++ % kEvery != turn)
            continue;
        const ExecutionGraph graph = plan_step({network, a100(), plan});
        check(graph);
        RC_LOG() << plan.schedule << " messages " << static_cast<int>(plan.messages)
                 << " recompute " << static_cast<int>(plan.recompute) << " sharding "
                 << static_cast<int>(plan.sharding) << "; ";
        RC_ASSERT(ends(graph));
    }
    // Machines of a tensor group each need not divide the ranks that hold experts evenly.
    if (plan.sharding == Sharding::kNone && plan.expert_nodes == 0)
        RC_ASSERT(made > 0);
}

RC_GTEST_PROP(PlanStepProperty, ReplicatedStagesEnd, ()) {
    ParallelPlan plan;
    plan.schedule = "1f1b_async";
    plan.weights = WeightPolicy::kStash;
    plan.overlap_gradients = *rc::gen::arbitrary<bool>();
    plan.messages = *rc::gen::element(Messages::kOverlapped, Messages::kAhead);
    for (std::uint32_t left = *rc::gen::inRange(1U, 13U); left > 0; left -= plan.replicas.back())
        plan.replicas.push_back(*rc::gen::inRange(1U, left + 1));
    plan.pipeline = std::accumulate(plan.replicas.begin(), plan.replicas.end(), 0U);
    const std::uint32_t turns = rounds_of_replicas(plan);
    RC_PRE(turns < 200U);
    plan.mini_batches = (3 * rounds_to_fill(plan) + turns) / turns * turns;
    const Network network = small_gpt();
    RC_ASSERT(problem_of(plan, network).empty());
    RC_ASSERT(stages_of(plan) == plan.replicas.size());
    ParallelPlan cut = plan;  // a layer in each stage but the last
    cut.partition.resize(plan.replicas.size());
    std::iota(cut.partition.begin(), cut.partition.end(), 0U);
    RC_ASSERT(problem_of(cut, network).empty());
    const ExecutionGraph graph = plan_step({network, a100(), plan});
    check(graph);
    RC_ASSERT(ends(graph));
    ParallelPlan uneven = plan;
    ++uneven.mini_batches;
    RC_ASSERT(problem_of(uneven, network).empty() == (turns == 1));
}

/// Bytes moved by the kernels of `phase` whose names begin with `prefix`.
double moved(const ExecutionGraph& graph, const std::string& prefix, Phase phase) {
    double bytes = 0;
    for (const Operation& operation : graph.ranks[0]->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body);
            kernel != nullptr && operation.phase == phase &&
            graph.names[operation.name].starts_with(prefix))
            bytes += static_cast<double>((kernel->bytes_read + kernel->bytes_written).count());
    return bytes;
}

TEST(PlanStep, ALossOperatorByOperatorGoesThroughMemoryIn32Bits) {
    ParallelPlan plan;
    const Network network = small_gpt();
    const double logits = 256.0 * 1024;
    const ExecutionGraph fused = plan_step({network, a100(), plan});
    EXPECT_EQ(moved(fused, "loss", Phase::kForward), 2 * logits);
    EXPECT_EQ(moved(fused, "loss", Phase::kBackward), 4 * logits);
    plan.loss = LossKernels::kUnfused;
    // Bytes per logit. Forward: the cast 2 + 4, the maximum 4, three operators that read and write
    // 4 each, the sum 4. Backward: one operator 4 + 4 and a cast 4 + 2.
    const ExecutionGraph unfused = plan_step({network, a100(), plan});
    EXPECT_EQ(moved(unfused, "loss", Phase::kForward), (6 + 4 + 3 * 8 + 4) * logits);
    EXPECT_EQ(moved(unfused, "loss", Phase::kBackward), (8 + 6) * logits);
    plan.datatype = Datatype::kFloat32;
    const ExecutionGraph single = plan_step({network, a100(), plan});
    EXPECT_EQ(moved(single, "loss", Phase::kForward), (4 + 3 * 8 + 4) * logits);
}

TEST(PlanStep, FullRecomputationRepeatsBlocksAlone) {
    ParallelPlan plan;
    plan.recompute = Recompute::kFull;
    const ExecutionGraph graph = plan_step({small_gpt(), a100(), plan});
    const auto kernels = [&](const std::string& name) {
        std::size_t count = 0;
        for (const Operation& operation : graph.ranks[0]->operations)
            count += graph.names[operation.name] == name ? 1 : 0;
        return count;
    };
    EXPECT_EQ(kernels("h.3.mlp.c_fc forward"), 2U);
    EXPECT_EQ(kernels("wte forward"), 1U);
    EXPECT_EQ(kernels("ln_f forward"), 1U);
    EXPECT_EQ(kernels("lm_head forward"), 1U);
}

TEST(PlanStep, AttentionThatIsNotFusedChangesItsLayout) {
    ParallelPlan plan;
    plan.attention = AttentionKernels::kUnfused;
    const ExecutionGraph graph = plan_step({small_gpt(1), a100(), plan});
    const double tokens = 256.0 * 512 * 2;  // 2 bytes for each value
    EXPECT_EQ(moved(graph, "h.0.attn.sdpa heads to tokens", Phase::kForward), 2 * tokens);
    EXPECT_EQ(moved(graph, "h.0.attn.sdpa gradient to heads", Phase::kBackward), 2 * tokens);
    EXPECT_EQ(moved(graph, "h.0.attn.sdpa gradients to tokens", Phase::kBackward), 6 * tokens);
}

TEST(PlanStep, TheSoftmaxOfACausalAttentionReadsWhatIsNotMasked) {
    ParallelPlan plan;
    plan.attention = AttentionKernels::kUnfused;
    const ExecutionGraph graph = plan_step({small_gpt(1), a100(), plan});
    const double bytes = moved(graph, "h.0.attn.sdpa softmax", Phase::kForward);
    const double dropped = moved(graph, "h.0.attn.sdpa dropout", Phase::kForward);
    // Softmax reads 2 B of half of the scores and writes 2 B of all; dropout reads 2 and writes 3.
    EXPECT_NEAR(bytes / dropped, 3.0 / 5, 0.01);
    EXPECT_NEAR(
        moved(graph, "h.0.attn.sdpa softmax backward", Phase::kBackward) / dropped, 4.0 / 5, 0.01);
}

TEST(PlanStep, AttentionWithoutDropoutHasNoKernelsForIt) {
    ParallelPlan plan;
    plan.attention = AttentionKernels::kUnfused;
    plan.attention_dropout = false;
    const ExecutionGraph graph = plan_step({small_gpt(1), a100(), plan});
    EXPECT_GT(moved(graph, "h.0.attn.sdpa softmax", Phase::kForward), 0);
    EXPECT_EQ(moved(graph, "h.0.attn.sdpa dropout", Phase::kForward), 0);
    EXPECT_EQ(moved(graph, "h.0.attn.sdpa dropout backward", Phase::kBackward), 0);
}

TEST(PlanStep, ResidualDropoutWritesMasksAndHasABackwardKernel) {
    const auto graph = [](bool drops) {
        ParallelPlan plan;
        plan.residual_dropout = drops;
        return plan_step({small_gpt(1), a100(), plan});
    };
    const ExecutionGraph with = graph(true);
    const ExecutionGraph without = graph(false);
    const double sum = moved(without, "h.0.add_1", Phase::kForward);  // three tensors of 2 B
    EXPECT_GT(sum, 0);
    EXPECT_NEAR(moved(with, "h.0.add_1", Phase::kForward), sum * 7 / 6, 0.001 * sum);
    EXPECT_NEAR(
        moved(with, "h.0.add_1 dropout backward", Phase::kBackward), sum * 5 / 6, 0.001 * sum);
    EXPECT_EQ(moved(without, "h.0.add_1 dropout backward", Phase::kBackward), 0);
}

TEST(PlanStep, RepeatedKeysAreCopiedAndTheirGradientsAddedToZeros) {
    for (const AttentionKernels kernels : {AttentionKernels::kFused, AttentionKernels::kUnfused}) {
        ParallelPlan plan;
        plan.attention = kernels;
        plan.repeat_keys = true;
        const ExecutionGraph graph = plan_step({small_gpt(1), a100(), plan});
        const double tokens = 256.0 * 512 * 2;  // 2 bytes for each value
        for (const std::string what : {"keys", "values"}) {
            const std::string attention = "h.0.attn.sdpa ";
            EXPECT_EQ(moved(graph, attention + "repeat " + what, Phase::kForward), 2 * tokens);
            EXPECT_EQ(
                moved(graph, attention + "zero gradient of " + what, Phase::kBackward), tokens);
            EXPECT_EQ(
                moved(graph, attention + "add to gradient of " + what, Phase::kBackward),
                3 * tokens);
        }
    }
    const ExecutionGraph without = plan_step({small_gpt(1), a100(), ParallelPlan()});
    EXPECT_EQ(moved(without, "h.0.attn.sdpa repeat keys", Phase::kForward), 0);
}

TEST(PlanStep, ReceivesAreAheadOnlyBesideAPassOfTheOtherDirection) {
    const auto waits = [](const char* schedule, Messages messages) {
        ParallelPlan plan;
        plan.pipeline = 4;
        plan.accumulate = 8;
        plan.schedule = schedule;
        plan.messages = messages;
        const ExecutionGraph graph = plan_step({small_gpt(), a100(), plan});
        std::vector<std::vector<std::uint32_t>> of;
        for (const Operation& operation : graph.ranks[1]->operations)
            if (std::holds_alternative<ReceiveOperation>(operation.body))
                of.emplace_back(operation.dependencies.begin(), operation.dependencies.end());
        return of;
    };
    // GPipe turns round once: all forwards, then all backwards.
    const auto ahead = waits("gpipe", Messages::kAhead);
    const auto next = waits("gpipe", Messages::kOverlapped);
    ASSERT_EQ(ahead.size(), next.size());
    std::size_t differ = 0;
    for (std::size_t i = 0; i < ahead.size(); ++i)
        differ += ahead[i] == next[i] ? 0 : 1;
    EXPECT_EQ(differ, 1U);
    EXPECT_NE(waits("1f1b", Messages::kAhead), waits("1f1b", Messages::kOverlapped));
}

TEST(PlanStep, AVocabularyThatIsNotPaddedSlowsItsGradients) {
    const auto times = [](std::uint32_t vocabulary, std::uint32_t tensor, bool padded) {
        GptShape shape;
        shape.layers = 1;
        shape.hidden = 1024;
        shape.heads = 16;
        shape.sequence = 1024;
        shape.vocabulary = vocabulary;
        ParallelPlan plan;
        plan.tensor = tensor;
        plan.pad_vocabulary = padded;
        const ExecutionGraph graph = plan_step({decoder("gpt", shape), a100(), plan});
        std::map<std::string, double> of;
        for (const Operation& operation : graph.ranks[0]->operations)
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                of[graph.names[operation.name]] += to_seconds(kernel->isolated);
        return of;
    };
    auto padded = times(50'257, 1, true);
    auto odd = times(50'257, 1, false);
    for (const char* slow : {"lm_head input gradient", "lm_head weight gradient"})
        EXPECT_GT(odd.at(slow), 1.8 * padded.at(slow)) << slow;
    for (const char* slow : {"lm_head input gradient", "lm_head weight gradient"}) {
        odd.erase(slow);
        padded.erase(slow);
    }
    EXPECT_EQ(odd, padded);
    // 25,128 words a rank are multiples of eight.
    EXPECT_EQ(times(50'256, 2, false), times(50'256, 2, true));
}

TEST(PlanStep, UnfusedAttentionAddsTheBiasesOfItsInputs) {
    ParallelPlan plan;
    const double tokens = 256.0 * 512 * 2;
    EXPECT_EQ(
        moved(plan_step({small_gpt(1), a100(), plan}), "h.0.attn.sdpa bias", Phase::kForward), 0);
    plan.attention = AttentionKernels::kUnfused;
    EXPECT_EQ(
        moved(plan_step({small_gpt(1), a100(), plan}), "h.0.attn.sdpa bias", Phase::kForward),
        6 * tokens);
    // Products without biases.
    const Network mixture = small_mixture();
    const ExecutionGraph graph = plan_step({mixture, a100(), plan});
    for (const Layer& layer : mixture.layers)
        if (layer.type == "attention") {
            EXPECT_EQ(moved(graph, layer.name + " bias", Phase::kForward), 0) << layer.name;
        }
}

TEST(PlanStep, PassesKeepWhatThePlanCountsAndFreeAllOfIt) {
    const Network network = small_gpt();
    for (const char* schedule :
         {"gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_v", "1f1b_async"}) {
        ParallelPlan plan;
        plan.schedule = schedule;
        plan.pipeline = 4;
        plan.chunks = 2;
        plan.accumulate = 8;
        const TrainingStep step(network, a100(), plan);
        const std::vector<MemoryBytes> memory = plan_memory(step);
        const ExecutionGraph graph = plan_step(step);
        for (std::uint32_t device = 0; device < 4; ++device) {
            std::int64_t kept = 0;
            std::int64_t most = 0;
            for (const MemoryChange& change : graph.ranks[device]->memory) {
                EXPECT_EQ(change.what, MemoryClass::kActivations);
                EXPECT_EQ(change.at_end, change.bytes < 0);
                kept += change.bytes;
                most = std::max(most, kept);
            }
            EXPECT_EQ(kept, 0) << schedule;
            MemoryBytes fullest = graph.ranks[device]->held;
            fullest[MemoryClass::kActivations] = memory[device][MemoryClass::kActivations];
            EXPECT_NEAR(static_cast<double>(most), fullest[MemoryClass::kActivations], 64)
                << schedule;
            EXPECT_EQ(fullest, memory[device]) << schedule;
        }
    }
}

TEST(PlanStep, TensorParallelRanksMoveWhatMegatronMoves) {
    // Per block, 2 all-reduces of b s h forward and 2 backward. One more follows the embedding and
    // one the head's input gradient. The loss has three, of one number per token each.
    ParallelPlan plan;
    plan.tensor = 4;
    plan.micro_batch = 2;
    const Network network = small_gpt(8);
    const std::uint64_t tensor = 2ULL * 256 * 512 * 2;
    const auto moved = traffic(plan_step({network, a100(), plan}), 0);
    EXPECT_EQ(moved.at("tensor"), (4 * 8 + 2) * tensor + 3 * 4 * 2 * 256);
    // With sequence parallelism, each all-reduce becomes a reduce-scatter and an all-gather. What
    // was gathered is gathered again for the weight gradient.
    plan.sequence = true;
    const auto parts = traffic(plan_step({network, a100(), plan}), 0);
    EXPECT_EQ(parts.at("tensor"), (8 * (2 * 4 + 2) + 2 * 2 + 1) * tensor + 3 * 4 * 2 * 256);
}

TEST(PlanStep, ExpertParallelRanksExchangeTokensAndReduceTheirExpertsApart) {
    // Tokens go out and come back in both passes: four exchanges of k s b h a block.
    ParallelPlan plan;
    plan.data = 4;
    plan.expert = 2;
    plan.micro_batch = 3;
    const Network network = small_mixture();
    const double experts = 4 * 3 * 256.0 * 512 * 8;
    const double others = static_cast<double>(parameters(network)) - experts;
    const TrainingStep step(network, a100(), plan);
    const auto moved = traffic(plan_step(step), 1);
    EXPECT_EQ(moved.at("expert"), 4 * 4 * 3 * 2ULL * 128 * 256 * 2);
    // Gradients have 4 bytes, and a rank holds half of the experts.
    EXPECT_NEAR(static_cast<double>(moved.at("gradients of experts")), 4 * experts / 2, 64.0 * 20);
    EXPECT_NEAR(static_cast<double>(moved.at("gradients")), 4 * others, 64.0 * 20);
    const ExecutionGraph graph = plan_step(step);
    for (const Group& group : graph.groups) {
        if (group.name == "gradients of experts") {
            EXPECT_EQ(group.ranks[1] - group.ranks[0], 2U);
        }
    }
    EXPECT_EQ(plan_memory(step)[0][MemoryClass::kMoments], (others + experts / 2) * 12);
    plan.sharding = Sharding::kOptimizer;
    EXPECT_EQ(
        plan_memory({network, a100(), plan})[0][MemoryClass::kMoments],
        (others / 4 + experts / 2 / 2) * 12);
    plan.sharding = Sharding::kNone;
    // With expert parallelism a rank has as much work as without: fewer experts, each with the
    // tokens of all ranks that share them. Only the exchange is missing without it.
    ParallelPlan alone = plan;
    alone.expert = 1;
    EXPECT_EQ(traffic(plan_step({network, a100(), alone}), 1).count("expert"), 0U);
    plan.expert = 3;
    plan.data = 3;
    EXPECT_EQ(
        problem_of(plan, network),
        "/expert 3 ranks do not divide the 8 experts of layers.0.moe.gate_proj");
}

TEST(PlanStep, TensorParallelRanksShareExpertsByColumnsAndRows) {
    ParallelPlan plan;
    plan.tensor = 2;
    const Network network = small_mixture();
    // A block's attention reduces as in a dense block. The experts' outputs (two per token) are
    // summed once forward and once backward.
    const std::uint64_t tokens = 128ULL * 256 * 2;
    const std::uint64_t blocks = 4 * (2 * tokens + 2 * 2 * tokens);
    EXPECT_EQ(
        traffic(plan_step({network, a100(), plan}), 0).at("tensor"),
        blocks + 2 * tokens + 3 * 4 * 128);
    plan.data = 2;
    plan.expert = 2;
    plan.sequence = true;  // each tensor rank sends its own tokens
    EXPECT_EQ(traffic(plan_step({network, a100(), plan}), 0).at("expert"), 4 * 4 * 2 * tokens / 2);
}

TEST(PlanStep, DataParallelRanksReduceEveryGradientOnce) {
    ParallelPlan plan;
    plan.data = 4;
    plan.accumulate = 3;
    const Network network = small_gpt(4);
    const std::uint64_t gradients = 4 * parameters(network);
    const auto moved = traffic(plan_step({network, a100(), plan}), 2);
    EXPECT_NEAR(
        static_cast<double>(moved.at("gradients")), static_cast<double>(gradients), 64.0 * 20);
    plan.sharding = Sharding::kParameters;  // per micro-batch: weights twice, gradients once
    const auto sharded = traffic(plan_step({network, a100(), plan}), 2);
    EXPECT_NEAR(
        static_cast<double>(sharded.at("gradients")),
        3.0 * static_cast<double>(gradients + 2 * 2 * parameters(network)),
        1e-3 * 3 * static_cast<double>(gradients));
}

TEST(PlanStep, ReplicasOfOneGpuAreOneObject) {
    const Network network = small_gpt(4);
    ParallelPlan plan;
    plan.data = 4;
    const ExecutionGraph alike = plan_step({network, a100(), plan});
    check(alike);
    for (const auto& rank : alike.ranks)
        EXPECT_EQ(rank, alike.ranks.front());
    EXPECT_EQ(alike.groups.size(), 1U);
    // Of two kinds, each is one.
    const TrainingStep one(network, a100(), plan);
    const TrainingStep other(network, a100(), plan);
    const ExecutionGraph two = plan_step({&one, &other, &one, &other});
    check(two);
    EXPECT_TRUE(ends(two));
    EXPECT_EQ(two.ranks[0], two.ranks[2]);
    EXPECT_EQ(two.ranks[1], two.ranks[3]);
    EXPECT_NE(two.ranks[0], two.ranks[1]);
    plan.data = 2;
    plan.tensor = 2;
    const ExecutionGraph groups = plan_step({network, a100(), plan});
    EXPECT_NE(groups.ranks[0], groups.ranks[2]) << "they reduce with others";
}

TEST(PlanStep, StagesHoldAllParametersAndTheHeadItsOwnCopy) {
    const Network network = small_gpt(8);
    ParallelPlan plan;
    plan.pipeline = 4;
    const StageWork work(network, a100(), plan, equal_partition(network, 4));
    double sum = 0;
    for (std::uint32_t stage = 0; stage < 4; ++stage)
        sum += work.parameters(stage);
    EXPECT_EQ(sum, static_cast<double>(parameters(network)) + 1024.0 * 512);
    EXPECT_EQ(work.shared_layer(3), std::optional<std::uint32_t>(0));
    EXPECT_EQ(work.message(0).count(), 256ULL * 512 * 2);
}

TEST(PlanStep, ActivationsOfABlockAreKorthikantisFormula) {
    // s b h (34 + 5 a s / h) bytes a block. Ours has no dropout after attention and feed-forward,
    // which saves two masks of one byte, and does not keep the sums.
    const Network network = small_gpt(4);
    ParallelPlan plan;
    plan.micro_batch = 2;
    plan.attention = AttentionKernels::kUnfused;
    const auto blocks = [&](std::uint32_t from, std::uint32_t to) {
        std::vector<std::uint32_t> first{0};
        for (std::uint32_t i = 1; i < network.layers.size(); ++i)
            if (network.layers[i].block != network.layers[i - 1].block)
                first.push_back(i);
        const StageWork work(network, a100(), plan, first);
        double sum = 0;
        for (std::uint32_t s = from; s < to; ++s)
            sum += work.kept(s).until_input_gradient;
        return sum;
    };
    const double sbh = 256.0 * 2 * 512;
    EXPECT_NEAR(blocks(1, 2) / sbh, 32 + 5.0 * 8 * 256 / 512, 0.01);
    plan.attention = AttentionKernels::kFused;
    EXPECT_NEAR(blocks(1, 2) / sbh, 32, 0.01);
    plan.recompute = Recompute::kFull;
    EXPECT_NEAR(blocks(1, 2) / sbh, 2, 0.01);
}

TEST(PlanStep, TellsWhatIsWrong) {
    const Network network = small_gpt();
    ParallelPlan plan;
    plan.tensor = 3;
    EXPECT_EQ(
        problem_of(plan, network), "/tensor 3 ranks do not divide the 8 heads of h.0.attn.sdpa");
    plan = {};
    plan.tensor = 2;
    EXPECT_EQ(
        problem_of(plan, *find_network("vgg16")),
        "/tensor is 2, and vgg16 has no layer that tensor parallelism divides; expected 1");
    plan = {};
    plan.context = 2;
    EXPECT_EQ(
        problem_of(plan, *find_network("vgg16")),
        "/context vgg16 has no tokens that context parallelism shares out");
    plan.context = 3;
    EXPECT_EQ(problem_of(plan, network), "/context 3 ranks do not divide samples of 256 tokens");
    plan = {};
    plan.pipeline = 4;
    plan.accumulate = 6;
    plan.schedule = "interleaved_1f1b";
    EXPECT_EQ(
        problem_of(plan, network),
        "/schedule interleaved_1f1b: 6 micro-batches; expected a multiple of the 4 devices");
    plan.schedule = "1f1b";
    plan.partition = {0, 9, 9, 20};
    EXPECT_EQ(
        problem_of(plan, network),
        "/partition is not a list of first layers; expected 0 and then larger numbers below 86");
    plan.partition = {};
    plan.pipeline = 100;
    EXPECT_EQ(
        problem_of(plan, network),
        "/pipeline 100 stages of 86 layers; expected at most as many stages as layers");
    plan.pipeline = 80;
    plan.accumulate = 1'000'000;
    EXPECT_EQ(
        problem_of(plan, network),
        "/accumulate is 1000000, which is 80000000 forward passes in 80 stages; expected at most "
        "20000000 passes");
    plan.accumulate = 6;
    plan.pipeline = 2;
    plan.weights = WeightPolicy::kPredict;
    EXPECT_EQ(
        problem_of(plan, network), "/weights 1f1b flushes: every pass sees the latest weights");
    plan.weights = WeightPolicy::kLatest;
    plan.schedule = "dualpipe";
    plan.accumulate = 4;
    plan.messages = Messages::kBlocking;
    EXPECT_EQ(
        problem_of(plan, network),
        "/messages are blocking, and devices of dualpipe would wait for each other to take what "
        "they send; expected overlapped or ahead");
    plan.messages = Messages::kOverlapped;
    plan.weights = WeightPolicy::kPredict;
    plan.schedule = "1f1b_async";
    plan.mini_batches = 8;
    EXPECT_EQ(
        problem_of(plan, network),
        "/mini_batches are 8, too few for a steady pace; expected at least 12");
}

}  // namespace
}  // namespace switchfold::plan_step_test
