// SPDX-License-Identifier: Apache-2.0
#include "training/network/builder.h"
#include "training/network/decoder.h"
#include "training/network/zoo/zoo.h"
#include "training/placement/placed_step.h"
#include "training/placement/placement_memory.h"
#include "training/plan/tests/graph_ends.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold::placed_step_test {
namespace {

Network compound() {
    return find_network("compound_lstm_ae_attention").value();
}

ParallelPlan samples(std::uint32_t micro_batch, std::uint32_t accumulate = 1) {
    ParallelPlan plan;
    plan.micro_batch = micro_batch;
    plan.accumulate = accumulate;
    return plan;
}

PlacementChoice into(std::uint32_t parts, std::uint32_t chunk_steps = 0) {
    PlacementChoice choice;
    choice.parts = parts;
    choice.chunk_steps = chunk_steps;
    return choice;
}

PlacementChoice given(std::vector<std::vector<std::string>> layers) {
    PlacementChoice choice;
    choice.parts = static_cast<std::uint32_t>(layers.size());
    choice.layers = std::move(layers);
    return choice;
}

std::unique_ptr<PlacedStep>
cut(const PlacementChoice& choice, ParallelPlan plan, Network network = compound()) {
    PlanProblems problems = problems_of(choice, plan, network);
    EXPECT_TRUE(problems.empty()) << problems.front().first << " " << problems.front().second;
    auto made = PlacedStep::make(
        std::move(network), KernelTimes(test_data::hopper()), std::move(plan), choice,
        {200e9, 80e9}, problems);
    EXPECT_TRUE(problems.empty());
    return made;
}

std::string problem_of(
    const PlacementChoice& choice, const ParallelPlan& plan, const Network& network = compound()) {
    const PlanProblems problems = problems_of(choice, plan, network);
    return problems.empty() ? "" : problems.front().first + " " + problems.front().second;
}

/// Sums over all ranks, in seconds and bytes.
struct Totals {
    double kernels = 0;
    std::size_t kernel_count = 0;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t gradients = 0;
};
Totals totals(const ExecutionGraph& graph) {
    Totals sum;
    for (const auto& rank : graph.ranks)
        for (const Operation& operation : rank->operations) {
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
                sum.kernels += to_seconds(kernel->isolated);
                ++sum.kernel_count;
            } else if (const auto* send = std::get_if<SendOperation>(&operation.body)) {
                sum.sent += send->bytes.count();
            } else if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body)) {
                sum.received += receive->bytes.count();
            } else if (const auto* all = std::get_if<CollectiveOperation>(&operation.body)) {
                if (graph.groups[all->group].name == "gradients")
                    sum.gradients += all->bytes.count();
            }
        }
    return sum;
}

RC_GTEST_PROP(PlacementStepProperty, EveryCutEnds, ()) {
    PlacementChoice choice;
    choice.parts = *rc::gen::element(1U, 2U, 3U, 4U);
    choice.gpus = *rc::gen::element(0U, 1U);
    choice.method = *rc::gen::element(PlacementMethod::kExact, PlacementMethod::kList);
    choice.chunk_steps = *rc::gen::element(0U, 7U, 50U, 100U);
    ParallelPlan plan = samples(*rc::gen::element(1U, 8U), *rc::gen::inRange<std::uint32_t>(1, 4));
    plan.data = *rc::gen::element(1U, 2U);
    plan.messages = *rc::gen::element(Messages::kOverlapped, Messages::kAhead);
    plan.launch_times.kernel = microseconds(*rc::gen::element<std::uint64_t>(0, 10));
    const auto made = cut(choice, plan);
    const ExecutionGraph graph = placed_step_graph(*made);
    check(graph);
    RC_ASSERT(test_data::ends(graph));
    RC_ASSERT(graph.ranks.size() == plan.data * choice.gpus_used());
    const Totals sum = totals(graph);
    RC_ASSERT(sum.sent == sum.received);
    // Every byte that is allocated during the step is freed again.
    for (const auto& rank : graph.ranks) {
        std::int64_t held = 0;
        for (const MemoryChange& change : rank->memory)
            held += change.bytes;
        RC_ASSERT(held == 0);
    }
}

Network small_decoder(bool experts) {
    if (experts) {
        MixtureShape shape;
        shape.layers = 2;
        shape.hidden = 256;
        shape.heads = 4;
        shape.kv_heads = 4;
        shape.sequence = 64;
        shape.vocabulary = 512;
        shape.feed_forward = 512;
        shape.experts = 4;
        return decoder("experts", shape);
    }
    GptShape shape;
    shape.layers = 2;
    shape.hidden = 256;
    shape.heads = 4;
    shape.sequence = 64;
    shape.vocabulary = 512;
    shape.tied = false;
    return decoder("small", shape);
}

/// Plans whose ranks share layers, samples, experts and weights, with layers that run again.
ParallelPlan shared_plan() {
    ParallelPlan plan = samples(*rc::gen::element(1U, 4U), *rc::gen::inRange<std::uint32_t>(1, 4));
    plan.data = *rc::gen::element(1U, 2U, 2U);
    plan.tensor = *rc::gen::element(1U, 2U);
    plan.sequence = plan.tensor > 1 && *rc::gen::arbitrary<bool>();
    plan.context = *rc::gen::element(1U, 1U, 2U);
    plan.recompute = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
    plan.attention = *rc::gen::element(AttentionKernels::kFused, AttentionKernels::kUnfused);
    plan.overlap_gradients = *rc::gen::arbitrary<bool>();
    if (plan.data > 1)
        plan.sharding = *rc::gen::element(
            Sharding::kNone, Sharding::kOptimizer, Sharding::kGradients, Sharding::kParameters);
    return plan;
}

double seconds_in(const ExecutionGraph& graph, Phase phase) {
    double seconds = 0;
    for (const auto& rank : graph.ranks)
        for (const Operation& operation : rank->operations)
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
                if (operation.phase == phase)
                    seconds += to_seconds(kernel->isolated);
    return seconds;
}

/// Ranks that share layers, samples, experts or weights do not deadlock, whatever part they have,
/// and compute what they compute without a placement.
RC_GTEST_PROP(PlacementStepProperty, SharedLayersEndAndTakeTheSame, ()) {
    PlacementChoice choice;
    choice.parts = *rc::gen::element(1U, 2U, 3U);
    choice.gpus = *rc::gen::element(0U, 1U);
    choice.method = PlacementMethod::kList;
    const bool experts = *rc::gen::arbitrary<bool>();
    ParallelPlan plan = shared_plan();
    if (experts && plan.data > 1 && *rc::gen::arbitrary<bool>())
        plan.expert = 2;
    const Network network = small_decoder(experts);
    RC_PRE(problems_of(plan, network).empty());
    plan.gate = GateKernels::kUnfused;
    const auto made = cut(choice, plan, network);
    const ExecutionGraph graph = placed_step_graph(*made);
    check(graph);
    RC_ASSERT(test_data::ends(graph));
    for (const auto& rank : graph.ranks) {
        std::int64_t held = 0;
        for (const MemoryChange& change : rank->memory)
            held += change.bytes;
        RC_ASSERT(held == 0);
    }
    const TrainingStep whole(network, KernelTimes(test_data::hopper()), plan);
    const ExecutionGraph without = plan_step(whole);
    for (const Phase phase : {Phase::kForward, Phase::kBackward})
        RC_ASSERT(std::abs(seconds_in(graph, phase) - seconds_in(without, phase)) < 1e-8);
}

/// What ranks hold of states is what they hold in a plan without a placement.
RC_GTEST_PROP(PlacementStepProperty, SharedStatesAreThoseOfThePlan, ()) {
    const ParallelPlan plan = shared_plan();
    const Network network = small_decoder(false);
    RC_PRE(problems_of(plan, network).empty());
    PlacementChoice choice = into(*rc::gen::element(1U, 2U));
    choice.method = PlacementMethod::kList;
    const auto held = [](const ExecutionGraph& graph, MemoryClass what) {
        double sum = 0;
        for (const auto& rank : graph.ranks)
            sum += rank->held[what];
        return sum;
    };
    const ExecutionGraph graph = placed_step_graph(*cut(choice, plan, network));
    const ExecutionGraph without =
        plan_step(TrainingStep(network, KernelTimes(test_data::hopper()), plan));
    for (const MemoryClass what :
         {MemoryClass::kWeights, MemoryClass::kGradients, MemoryClass::kMoments})
        RC_ASSERT(std::abs(held(graph, what) / held(without, what) - 1) < 1e-9);
}

/// Blocks that run again keep what they read, and less than all.
TEST(PlacementStep, RepeatedBlocksKeepLess) {
    ParallelPlan plan = samples(4, 2);
    const auto most = [&](Recompute how) {
        plan.recompute = how;
        PlacementChoice choice = into(2);
        choice.method = PlacementMethod::kList;
        const auto made = cut(choice, plan, small_decoder(false));
        double sum = 0;
        for (const MemoryBytes& gpu : placement_memory(
                 made->network(), made->graph(), made->work().layers(), made->plan(),
                 made->found().parts))
            sum += gpu[MemoryClass::kActivations];
        return sum;
    };
    EXPECT_LT(most(Recompute::kFull), 0.5 * most(Recompute::kNone));
}

/// Where ranks hold different experts, a block's weights are gathered among two sets of ranks, and
/// its first layer waits for both.
TEST(PlacementStep, TasksWaitForBothGathersOfTheirBlock) {
    ParallelPlan plan = samples(1);
    plan.data = 4;
    plan.expert = 2;
    plan.sharding = Sharding::kParameters;
    plan.gate = GateKernels::kUnfused;
    PlacementChoice choice = into(1);
    choice.method = PlacementMethod::kList;
    const ExecutionGraph graph = placed_step_graph(*cut(choice, plan, small_decoder(true)));
    const auto& operations = graph.ranks[0]->operations;
    std::vector<bool> waited(operations.size(), false);
    std::size_t gathers = 0;
    for (const Operation& operation : operations)
        if (std::holds_alternative<KernelOperation>(operation.body))
            for (const std::uint32_t before : operation.dependencies)
                waited[before] = true;
    for (std::size_t i = 0; i < operations.size(); ++i)
        if (graph.names[operations[i].name] == "gather weights") {
            ++gathers;
            EXPECT_TRUE(waited[i]) << i;
        }
    EXPECT_GT(gathers, 6U);  // more than one a block and pass
}

/// A rank of a faster GPU computes faster, in the parts that it has.
TEST(PlacementStep, EachGpuHasItsOwnTimes) {
    auto made = cut(into(2), samples(8));
    const double alike = seconds_in(placed_step_graph(*made), Phase::kForward);
    const std::uint32_t slower = made->add_kind(KernelTimes(test_data::ampere()));
    made->set_kinds({0, slower});
    const double mixed = seconds_in(placed_step_graph(*made), Phase::kForward);
    made->set_kinds({slower, slower});
    const double all = seconds_in(placed_step_graph(*made), Phase::kForward);
    EXPECT_LT(alike, mixed);
    EXPECT_LT(mixed, all);
}

TEST(PlacementStep, AnyCutHasTheSameKernels) {
    const ExecutionGraph whole = placed_step_graph(*cut(into(1), samples(8, 2)));
    for (const PlacementMethod method :
         {PlacementMethod::kExact, PlacementMethod::kList, PlacementMethod::kBest}) {
        PlacementChoice choice = into(4);
        choice.method = method;
        const ExecutionGraph parts = placed_step_graph(*cut(choice, samples(8, 2)));
        // Each GPU that holds parameters has its own update kernel, instead of one in all.
        const Totals one = totals(whole);
        const Totals all = totals(parts);
        EXPECT_GE(all.kernel_count, one.kernel_count);
        EXPECT_LE(all.kernel_count, one.kernel_count + 3);
        EXPECT_NEAR(all.kernels, one.kernels, 20e-6);
    }
}

TEST(PlacementStep, OnOneGpuIsThePlainStep) {
    // The kernels are the same, except that each LSTM time step is a kernel of its own. Their sum
    // is the LSTM's time.
    PlacementChoice choice = into(1);
    choice.lstm_weights = LstmWeights::kMemory;
    const double steps = totals(placed_step_graph(*cut(choice, samples(8)))).kernels;
    const TrainingStep plain(compound(), KernelTimes(test_data::hopper()), samples(8));
    EXPECT_NEAR(steps, totals(plan_step(plain)).kernels, 1e-9);
}

TEST(PlacementStep, MessagesAreWhatCrosses) {
    const auto made =
        cut(given({{"embedding", "lstm.0"}, {"lstm.1"}, {"autoencoder*"}, {"*"}}), samples(8, 2));
    double bytes = 0;
    for (const PartLoad& load : loads_of(made->graph(), made->found().parts))
        bytes += load.bytes * 2;
    // Every byte counts at its sender and at its receiver. This equals what is sent, because each
    // activation has a gradient of equal size that returns.
    EXPECT_NEAR(static_cast<double>(totals(placed_step_graph(*made)).sent), bytes, 1);
    const auto part = [&](const char* name) {
        const auto& nodes = made->graph().nodes;
        const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const PlacementNode& node) {
            return node.name == name;
        });
        return made->found().parts[static_cast<std::size_t>(found - nodes.begin())];
    };
    EXPECT_EQ(part("lstm.0"), 0);
    EXPECT_EQ(part("lstm.1"), 1);
    EXPECT_EQ(part("lstm.last"), 3);
    EXPECT_EQ(part("autoencoder.dec2"), 2);
    EXPECT_EQ(part("loss"), 3);
}

TEST(PlacementStep, PiecesTravelOneByOne) {
    const auto sends = [](const ExecutionGraph& graph) {
        std::size_t count = 0;
        for (const Operation& operation : graph.ranks[0]->operations)
            count += std::holds_alternative<SendOperation>(operation.body) ? 1 : 0;
        return count;
    };
    const auto parts = given({{"embedding", "lstm.0"}, {"*"}});
    PlacementChoice pieces = parts;
    pieces.chunk_steps = 20;
    EXPECT_EQ(sends(placed_step_graph(*cut(parts, samples(8)))), 1);
    EXPECT_EQ(sends(placed_step_graph(*cut(pieces, samples(8)))), 5);
    EXPECT_EQ(
        totals(placed_step_graph(*cut(parts, samples(8)))).sent,
        totals(placed_step_graph(*cut(pieces, samples(8)))).sent);
}

TEST(PlacementStep, ReplicasSumAllGradients) {
    ParallelPlan plan = samples(8);
    plan.data = 2;
    const std::uint64_t bytes = 2 * 4 * parameters(compound());  // 2 ranks, 32 bits
    const Totals one = totals(placed_step_graph(*cut(into(1), plan)));
    const Totals two = totals(placed_step_graph(*cut(into(2), plan)));
    EXPECT_NEAR(static_cast<double>(one.gradients), static_cast<double>(bytes), 2000);
    EXPECT_NEAR(static_cast<double>(two.gradients), static_cast<double>(bytes), 2000);
}

TEST(PlacementStep, GpusHoldTheirLayersAlone) {
    const auto whole = cut(into(1), samples(8));
    const auto parts = cut(into(4), samples(8));
    const auto all = [](const PlacedStep& cut, MemoryClass what) {
        double sum = 0;
        for (const auto& rank : placed_step_graph(cut).ranks)
            sum += rank->held[what];
        return sum;
    };
    for (const MemoryClass what :
         {MemoryClass::kWeights, MemoryClass::kGradients, MemoryClass::kMoments})
        EXPECT_NEAR(all(*parts, what), all(*whole, what), 1);
    // An activation that two GPUs read is kept on both.
    double kept = 0;
    for (const MemoryBytes& gpu : placement_memory(
             parts->network(), parts->graph(), parts->work().layers(), parts->plan(),
             parts->found().parts))
        kept += gpu[MemoryClass::kActivations];
    EXPECT_GE(
        kept, placement_memory(
                  whole->network(), whole->graph(), whole->work().layers(), whole->plan(),
                  whole->found().parts)[0][MemoryClass::kActivations]);
}

TEST(PlacementChoiceProblems, MorePartsThanLayers) {
    EXPECT_EQ(
        problem_of(into(27), samples(8)), "/placement/parts are 27, and compound_lstm_ae_attention "
                                          "has 26 layers; expected at most as many "
                                          "parts as layers");
}

TEST(PlacementChoiceProblems, GpusThatDoNotShareParts) {
    PlacementChoice choice = into(4);
    choice.gpus = 3;
    EXPECT_EQ(
        problem_of(choice, samples(8)),
        "/placement/gpus are 3, which do not share 4 parts evenly; expected a divisor of them");
    choice.gpus = 2;
    EXPECT_EQ(
        problem_of(choice, samples(8)),
        "/placement/gpus are 2, and 4 parts are to be found, which have a GPU each or one for all; "
        "expected 0 or 1, or the layers of each part");
    choice = given({{"embedding", "lstm.0"}, {"lstm.1"}, {"autoencoder*"}, {"*"}});
    choice.gpus = 2;
    EXPECT_EQ(problem_of(choice, samples(8)), "");
}

TEST(PlacementChoiceProblems, LayersThatAreNotThere) {
    EXPECT_EQ(
        problem_of(given({{"lstm.2"}, {"*"}}), samples(8)),
        "/placement/parts/0/0 names no layer of compound_lstm_ae_attention: \"lstm.2\"; expected a "
        "layer, or how names begin and \"*\"; did you mean \"lstm.0\"?");
    EXPECT_EQ(
        problem_of(given({{"lstm*"}, {"a*"}}), samples(8)),
        "/placement/parts have no embedding; expected each layer on one part");
    EXPECT_EQ(
        problem_of(given({{"lstm*", "*"}, {"lstm*"}}), samples(8)),
        "/placement/parts have lstm.0 twice, on 0 and 1; expected each layer on one part");
    EXPECT_EQ(
        problem_of(given({{"h*"}, {"*", "head"}}), samples(8)),
        "/placement/parts/0 has no layer: other parts name them more closely; expected one at "
        "least");
}

TEST(PlacementChoiceProblems, TimeStepsThatAreNotThere) {
    EXPECT_EQ(
        problem_of(into(2, 200), samples(8)), "/placement/chunk_steps is 200, and a sample of "
                                              "compound_lstm_ae_attention has 100 time steps; "
                                              "expected at most those");
    EXPECT_EQ(
        problem_of(into(2, 10), samples(8), find_network("vgg16").value()),
        "/placement/chunk_steps is 10, and vgg16 has no LSTM whose time steps are known; expected "
        "0");
}

TEST(PlacementChoiceProblems, OtherWaysToShare) {
    ParallelPlan plan = samples(8);
    plan.pipeline = 2;
    EXPECT_EQ(
        problem_of(into(2), plan), "/pipeline does not go with a placement; expected 1: a "
                                   "placement has parts instead of stages");
    plan = samples(8);
    plan.recompute = Recompute::kExact;
    EXPECT_EQ(
        problem_of(into(2), plan),
        "/recompute does not go with a placement; expected none, selective or full: exact is "
        "chosen by a plan of memory");
    plan = samples(8);
    plan.schedule = "gpipe";
    EXPECT_EQ(problem_of(into(2), plan).substr(0, 9), "/schedule");
    plan = samples(8);
    plan.unit = mebibytes(1);
    EXPECT_EQ(problem_of(into(2), plan).substr(0, 5), "/unit");
    EXPECT_EQ(
        problem_of(into(2), samples(8), find_network("gpt2_small").value()),
        "/placement divides no layers that share weights, as lm_head does those of wte; expected a "
        "network "
        "without");
}

TEST(PlacementChoiceProblems, TooWideForTheProgramme) {
    Network network = find_network("resnet50").value();
    PlanProblems problems;
    PlacementChoice choice = into(2);
    choice.method = PlacementMethod::kExact;
    const KernelTimes times(test_data::hopper());
    EXPECT_FALSE(PlacedStep::make(network, times, samples(8), choice, {200e9, 0}, problems));
    ASSERT_EQ(problems.size(), 1);
    EXPECT_EQ(problems[0].first, "/placement/method");
    EXPECT_EQ(
        problems[0].second,
        "is exact, and resnet50 has 175 layers, more than the 64 that are divided exactly; "
        "expected best or list");
    problems.clear();
    choice.method = PlacementMethod::kList;
    EXPECT_TRUE(PlacedStep::make(network, times, samples(8), choice, {200e9, 0}, problems));
    choice.method = PlacementMethod::kBest;
    EXPECT_FALSE(PlacedStep::make(network, times, samples(8), choice, {200e9, 1e6}, problems));
    ASSERT_EQ(problems.size(), 1);
    EXPECT_EQ(
        problems[0].second,
        "are 2, and no division of resnet50 into so many fits the GPUs' memory; expected more "
        "parts, or a smaller micro_batch");
}

}  // namespace
}  // namespace switchfold::placed_step_test
