// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"
#include "training/plan/schedule/generators.h"
#include "training/plan/search/lower_bound.h"
#include "training/plan/search/plan_space.h"
#include "training/plan/tests/random_plan.h"
#include "training/plan/tests/small_gpt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace switchfold::plan_search_test {
namespace {

Network small_gpt(std::uint32_t layers = 8) {
    GptShape shape;
    shape.layers = layers;
    shape.hidden = 256;
    shape.heads = 8;
    shape.sequence = 128;
    shape.vocabulary = 1024;
    return decoder("small", shape);
}

using test_data::a100;

/// A floor with a single link rate, at which every byte of a collective is sent once.
class Rate : public LinkFloor {
public:
    explicit Rate(double bytes_a_second) : rate_(bytes_a_second) {}
    double collective(
        CollectiveKind /*kind*/, double bytes,
        const std::vector<std::uint32_t>& ranks) const override {
        return ranks.size() > 1 ? bytes / rate_ : 0;
    }
    double port(CollectiveKind /*kind*/, double bytes, std::size_t ranks) const override {
        return ranks > 1 ? bytes / rate_ : 0;
    }
    double message(double bytes, std::uint32_t /*from*/, std::uint32_t /*to*/) const override {
        return bytes / rate_;
    }

private:
    double rate_;
};

/// Runs a graph on a machine without contention. Kernels take their isolated times. Collectives and
/// messages begin when all participants have arrived and take what `floor` says. \returns seconds.
double ideal_seconds(const ExecutionGraph& graph, const LinkFloor& floor) {
    const std::size_t ranks = graph.ranks.size();
    std::vector<std::vector<double>> ends(ranks);
    std::vector<std::vector<bool>> done(ranks);
    std::vector<std::vector<double>> free(ranks);
    std::vector<std::vector<std::vector<std::uint32_t>>> streams(ranks);
    std::vector<std::vector<std::size_t>> next(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
        const RankGraph& rank = *graph.ranks[r];
        ends[r].assign(rank.operations.size(), 0);
        done[r].assign(rank.operations.size(), false);
        free[r].assign(rank.streams.size(), 0);
        streams[r].resize(rank.streams.size());
        next[r].assign(rank.streams.size(), 0);
        for (std::uint32_t i = 0; i < rank.operations.size(); ++i)
            streams[r][rank.operations[i].stream].push_back(i);
    }
    struct Meeting {
        std::set<std::pair<std::size_t, std::uint32_t>> come;
        double ready = 0;
    };
    std::map<std::string, Meeting> meetings;
    double last = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t r = 0; r < ranks; ++r)
            for (std::size_t s = 0; s < streams[r].size(); ++s) {
                if (next[r][s] == streams[r][s].size())
                    continue;
                const std::uint32_t i = streams[r][s][next[r][s]];
                const Operation& operation = graph.ranks[r]->operations[i];
                double begin = free[r][s];
                bool ready = true;
                for (const std::uint32_t before : operation.dependencies) {
                    ready = ready && done[r][before];
                    begin = std::max(begin, ends[r][before]);
                }
                if (!ready)
                    continue;
                std::string key;
                std::size_t wanted = 1;
                double takes = 0;
                if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
                    takes = to_seconds(kernel->isolated);
                } else if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                    key = "c" + std::to_string(c->group) + "." + std::to_string(c->sequence);
                    wanted = graph.groups[c->group].ranks.size();
                    takes = floor.collective(
                        c->kind, static_cast<double>(c->bytes.count()),
                        graph.groups[c->group].ranks);
                } else if (const auto* send = std::get_if<SendOperation>(&operation.body)) {
                    key = "m" + std::to_string(r) + "." + std::to_string(send->peer) + "." +
                          std::to_string(send->tag);
                    wanted = 2;
                    takes = floor.message(static_cast<double>(send->bytes.count()), 0, 1);
                } else if (const auto* got = std::get_if<ReceiveOperation>(&operation.body)) {
                    key = "m" + std::to_string(got->peer) + "." + std::to_string(r) + "." +
                          std::to_string(got->tag);
                    wanted = 2;
                    takes = floor.message(static_cast<double>(got->bytes.count()), 0, 1);
                }
                std::vector<std::pair<std::size_t, std::uint32_t>> ended{{r, i}};
                if (wanted > 1) {
                    Meeting& meeting = meetings[key];
                    if (!meeting.come.insert({r, i}).second)
                        continue;
                    meeting.ready = std::max(meeting.ready, begin);
                    moved = true;
                    if (meeting.come.size() < wanted)
                        continue;
                    begin = meeting.ready;
                    ended.assign(meeting.come.begin(), meeting.come.end());
                }
                for (const auto& [rank, index] : ended) {
                    const std::uint32_t stream = graph.ranks[rank]->operations[index].stream;
                    ends[rank][index] = free[rank][stream] = begin + takes;
                    done[rank][index] = true;
                    ++next[rank][stream];
                    last = std::max(last, begin + takes);
                }
                moved = true;
            }
    }
    for (const auto& rank : done)
        EXPECT_TRUE(std::all_of(rank.begin(), rank.end(), [](bool ended) { return ended; }));
    return last;
}

RC_GTEST_PROP(PlanBound, IsNeverAboveAMachineWithoutContention, ()) {
    const Network network = small_gpt();
    ParallelPlan plan = test_data::random_plan();
    plan.schedule = *rc::gen::element<std::string>(
        "gpipe", "1f1b", "interleaved_1f1b", "zb_h1", "zb_h2", "zb_v", "chimera", "dualpipe_v");
    plan.sharding = *rc::gen::element(
        Sharding::kNone, Sharding::kOptimizer, Sharding::kGradients, Sharding::kParameters);
    if (plan.sharding == Sharding::kParameters)
        plan.unit = *rc::gen::element(Bytes(), kibibytes(500), mebibytes(4));
    plan.bucket = *rc::gen::element(kibibytes(64), mebibytes(1), mebibytes(25));
    plan.first_bucket = *rc::gen::element(kibibytes(16), mebibytes(1));
    RC_PRE(problems_of(plan, network).empty());
    const TrainingStep step(network, a100(), plan);
    constexpr double kFast = 1e15;
    const double rate = *rc::gen::element(1e9, 2e10, kFast);
    const Rate links(rate);
    const PlanBound bound = plan_bound(step, links);
    const double ideal = ideal_seconds(plan_step(step), links);
    constexpr double kRounding = 1e-6;
    // On the ideal machine collectives do not share links, so the bound must hold.
    if (bound.path > ideal * (1 + kRounding))
        RC_FAIL(fmt::format("{}: bound {} s, ideal {} s", name_of(plan), bound.path, ideal));
    RC_ASSERT(bound.arithmetic <= bound.path * (1 + kRounding));
    // With links this fast, the bound leaves out only what overlaps.
    if (rate == kFast && plan.schedule != "dualpipe_v" && plan.messages == Messages::kOverlapped)
        RC_ASSERT(bound.path >= ideal * 0.9);
}

TEST(PlanBound, OfOneGpuIsItsKernels) {
    ParallelPlan plan;
    plan.micro_batch = 4;
    plan.accumulate = 3;
    const TrainingStep step(small_gpt(), a100(), plan);
    double kernels = 0;
    const ExecutionGraph graph = plan_step(step);
    for (const Operation& operation : graph.ranks.front()->operations)
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            kernels += to_seconds(kernel->isolated);
    const PlanBound bound = plan_bound(step, Rate(1e9));
    EXPECT_NEAR(bound.seconds(), kernels, kernels * 1e-9);
    EXPECT_NEAR(bound.arithmetic, kernels, kernels * 1e-9);
    EXPECT_EQ(bound.links, 0);
}

TEST(PlanBound, OfSlowLinksIsWhatTheyCarry) {
    ParallelPlan plan;
    plan.data = 4;
    const TrainingStep step(small_gpt(), a100(), plan);
    constexpr double kSlow = 1e6;
    const PlanBound bound = plan_bound(step, Rate(kSlow));
    const double bytes = step.work().parameters(0) * element_bytes(plan.gradient);
    EXPECT_NEAR(bound.links, bytes / kSlow, bytes / kSlow * 1e-9);
    EXPECT_GT(bound.path, bound.links) << "the update waits for it";
    EXPECT_LT(bound.path, bound.links * 1.01);
}

PlanSpace space_of(std::uint32_t batch, std::uint32_t gpus) {
    PlanSpace space;
    space.global_batch = batch;
    space.gpus = gpus;
    return space;
}

TEST(PlanSpace, HasEachPlanOnceAndAllOfThemUseTheGpusAndTheBatch) {
    const Network network = small_gpt();
    const EnumeratedPlans found = enumerate_plans(space_of(48, 8), {}, network);
    std::set<std::string> names;
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> shares;
    for (const ParallelPlan& plan : found.plans) {
        EXPECT_EQ(ranks_of(plan), 8U);
        EXPECT_EQ(plan.data * plan.micro_batch * plan.accumulate, 48U);
        EXPECT_TRUE(problems_of(plan, network).empty());
        EXPECT_TRUE(names.insert(name_of(plan)).second) << name_of(plan);
        shares.insert({plan.data, plan.tensor, plan.pipeline});
    }
    EXPECT_EQ(shares.size(), 10U) << "ordered factors of 8 = 2^3 in three";
    std::uint64_t refused = 0;
    for (const auto& [why, plans] : found.refused)
        refused += plans.plans;
    EXPECT_EQ(found.plans.size() + refused, found.combinations);
}

TEST(PlanSpace, KeepsToItsLists) {
    PlanSpace space = space_of(16, 4);
    space.tensor = {2};
    space.pipeline = {1, 2};
    space.micro_batch = {4};
    space.sequence = Tried::kNo;
    space.sharding = {Sharding::kNone};
    space.recompute = {Recompute::kFull};
    space.schedule = {"gpipe"};
    space.overlap_gradients = Tried::kYes;
    const EnumeratedPlans found = enumerate_plans(space, {}, small_gpt());
    ASSERT_EQ(found.plans.size(), 2U);
    EXPECT_EQ(name_of(found.plans[0]), "data 2, tensor 2, micro-batch 4 x 2, full recompute");
    EXPECT_EQ(
        name_of(found.plans[1]), "tensor 2, pipeline 2, gpipe, micro-batch 4 x 4, full recompute");
}

TEST(PlanSpace, SaysWhatKeepsPlansOut) {
    PlanSpace space = space_of(10, 8);
    space.pipeline = {1};
    const EnumeratedPlans found = enumerate_plans(space, {}, small_gpt());
    ASSERT_TRUE(found.refused.contains("the batch"));
    EXPECT_EQ(found.refused.at("the batch").example, "8 replicas do not divide 10 samples");
    space.tensor = {8};
    space.global_batch = 8;
    Network odd = small_gpt();
    for (Layer& layer : odd.layers)
        if (layer.heads > 0)
            layer.heads = 6;
    const EnumeratedPlans none = enumerate_plans(space, {}, odd);
    EXPECT_TRUE(none.plans.empty());
    ASSERT_TRUE(none.refused.contains("tensor"));
    EXPECT_NE(
        none.refused.at("tensor").example.find("8 ranks do not divide the 6 heads"),
        std::string::npos)
        << none.refused.at("tensor").example;
}

TEST(PlanSpace, FusedAttentionHasNothingToComputeAgainSelectively) {
    ParallelPlan base;
    PlanSpace space = space_of(4, 1);
    space.micro_batch = {4};
    EXPECT_EQ(enumerate_plans(space, base, small_gpt()).plans.size(), 2U);
    base.attention = AttentionKernels::kUnfused;
    EXPECT_EQ(enumerate_plans(space, base, small_gpt()).plans.size(), 3U);
}

}  // namespace
}  // namespace switchfold::plan_search_test
