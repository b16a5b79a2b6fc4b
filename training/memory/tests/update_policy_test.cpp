// SPDX-License-Identifier: Apache-2.0
#include "training/memory/update/update_policy.h"

#include "training/network/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>

namespace switchfold::update_policy_test {
namespace {

UpdateReplay
replay(const std::vector<UpdateLayer>& layers, UpdatePolicy policy, std::uint64_t ring = 0) {
    UpdateOptions options;
    options.policy = policy;
    options.ring = ring;
    return replay_update(layers, layer_groups(layers), options);
}

std::vector<UpdateLayer> equal_layers(std::size_t many, double update = 1) {
    std::vector<UpdateLayer> layers(many, {"l", 2, 3, update, 100, 100});
    layers.front().input_gradient = 0;
    return layers;
}

std::vector<UpdateLayer> random_layers() {
    std::vector<UpdateLayer> layers(*rc::gen::inRange<std::size_t>(1, 9));
    const auto number = [](int low) { return *rc::gen::inRange(low, 20); };
    for (UpdateLayer& layer : layers) {
        layer.input_gradient = number(1);
        layer.weight_gradient = number(1);
        layer.update = number(1);
        layer.gradient = layer.weights = static_cast<std::uint64_t>(number(1));
    }
    layers.front().input_gradient = 0;
    return layers;
}

double sum_of(const std::vector<UpdateLayer>& layers, double UpdateLayer::*what) {
    double sum = 0;
    for (const UpdateLayer& layer : layers)
        sum += layer.*what;
    return sum;
}

TEST(UpdatePolicy, FourEqualLayersSaveThreeQuarters) {
    const auto layers = equal_layers(4);
    EXPECT_EQ(replay(layers, UpdatePolicy::kBatch).peak, 400U);
    EXPECT_EQ(replay(layers, UpdatePolicy::kDelayed).peak, 100U);
    EXPECT_EQ(replay(layers, UpdatePolicy::kImmediate).peak, 100U);
    // The overlapped policy fills two buffers if an update takes longer than X and D. Two of eight
    // layers are the same share as one of four.
    EXPECT_EQ(replay(equal_layers(8, 9), UpdatePolicy::kOverlapped).peak, 200U);
}

RC_GTEST_PROP(UpdatePolicy, TimesAreThoseOfTheFormulas, ()) {
    const auto layers = random_layers();
    const double x = sum_of(layers, &UpdateLayer::input_gradient);
    const double d = sum_of(layers, &UpdateLayer::weight_gradient);
    const double u = sum_of(layers, &UpdateLayer::update);
    const UpdateReplay batch = replay(layers, UpdatePolicy::kBatch);
    RC_ASSERT(batch.seconds == x + d + u);
    RC_ASSERT(replay(layers, UpdatePolicy::kImmediate).seconds == x + d + u);
    double delayed = layers.back().input_gradient + layers.back().weight_gradient;
    for (std::size_t l = layers.size() - 1; l > 0; --l)
        delayed += std::max(layers[l - 1].input_gradient, layers[l].update) +
                   layers[l - 1].weight_gradient;
    delayed += layers.front().update;
    UpdateOptions one_buffer;
    one_buffer.policy = UpdatePolicy::kDelayed;
    one_buffer.fixed_buffers = 1;
    RC_ASSERT(replay_update(layers, layer_groups(layers), one_buffer).seconds == delayed);
    // A ring of the same size also holds two smaller gradients at a time, so it is at least as
    // fast.
    RC_ASSERT(replay(layers, UpdatePolicy::kDelayed).seconds <= delayed);
    RC_ASSERT(delayed <= batch.seconds);
    RC_ASSERT(replay(layers, UpdatePolicy::kOverlapped).seconds <= batch.seconds);
}

RC_GTEST_PROP(UpdatePolicy, LiveGradientsNeverExceedTheRing, ()) {
    const auto layers = random_layers();
    const auto groups = layer_groups(layers);
    const UpdateReplay one = replay(layers, UpdatePolicy::kDelayed);
    RC_ASSERT(one.peak == largest(groups));
    RC_ASSERT(one.reserved == largest(groups));
    RC_ASSERT(one.shadow == 0U);
    RC_ASSERT(one.live.back().bytes == 0U);
    const UpdateReplay two = replay(layers, UpdatePolicy::kDelayed, largest_pair(groups));
    RC_ASSERT(two.peak <= largest_pair(groups));
    RC_ASSERT(two.seconds <= one.seconds);
    const UpdateReplay beside = replay(layers, UpdatePolicy::kOverlapped);
    RC_ASSERT(beside.peak <= largest_pair(groups));
    RC_ASSERT(beside.shadow == largest(groups));
    RC_ASSERT(replay(layers, UpdatePolicy::kBatch).peak == sum_of_bytes(groups));
}

RC_GTEST_PROP(UpdatePolicy, TwoNeighboursNeverStallShortUpdates, ()) {
    auto layers = random_layers();
    for (std::size_t l = 1; l < layers.size(); ++l)
        layers[l].update = std::min(
            layers[l].update, layers[l - 1].input_gradient + layers[l - 1].weight_gradient);
    const auto groups = layer_groups(layers);
    RC_ASSERT(replay(layers, UpdatePolicy::kDelayed, largest_pair(groups)).stall == 0.0);
}

TEST(UpdatePolicy, SharedWeightsStayLive) {
    std::vector<UpdateLayer> layers = equal_layers(4);
    layers[0].gradient = 300;                        // the embedding's matrix ...
    layers.push_back({"head", 1, 1, 0, 0, 0, {0}});  // ... which the head shares
    const auto groups = layer_groups(layers);
    ASSERT_EQ(groups.front().layers, (std::vector<std::uint32_t>{4, 0}));
    const UpdateReplay delayed = replay(layers, UpdatePolicy::kDelayed);
    EXPECT_EQ(delayed.reserved, 400U);
    EXPECT_EQ(delayed.peak, 400U);
    EXPECT_EQ(
        replay(layers, UpdatePolicy::kDelayed, 399).refusal,
        "a ring of 399 bytes does not hold the gradients that are open at the same time; expected "
        "400 or more");
}

/// Who holds an expert is not who holds the layers beside it.
TEST(UpdatePolicy, ExpertsHaveBucketsOfTheirOwn) {
    std::vector<UpdateLayer> layers = equal_layers(6);
    for (const std::size_t expert : {1, 3, 4})
        layers[expert].of_experts = true;
    const auto buckets = bucket_groups(layers, 100, 200);
    ASSERT_EQ(buckets.size(), 4U);
    using Layers = std::vector<std::uint32_t>;
    EXPECT_EQ(buckets[0].layers, (Layers{5}));
    EXPECT_EQ(buckets[1].layers, (Layers{4}));
    EXPECT_EQ(buckets[2].layers, (Layers{3, 1}));
    EXPECT_EQ(buckets[3].layers, (Layers{2, 0}));
    for (const GradientGroup& bucket : buckets)
        for (const std::uint32_t layer : bucket.layers)
            EXPECT_EQ(bucket.of_experts, layers[layer].of_experts);
}

TEST(UpdatePolicy, AnAllReduceHoldsItsBucketLonger) {
    const auto layers = equal_layers(4);
    UpdateOptions options;
    options.reduce_seconds_a_byte = 0.1;  // 10 s per layer; X and D take 5 s
    const auto groups = bucket_groups(layers, 100, 200);
    ASSERT_EQ(groups.size(), 3U);  // 1, 2, 1 layers
    EXPECT_EQ(groups[1].bytes, 200U);
    options.policy = UpdatePolicy::kDelayed;
    const UpdateReplay slow = replay_update(layers, groups, options);
    EXPECT_EQ(slow.peak, 200U);
    EXPECT_GT(slow.stall, 0);
    options.ring = 400;
    const UpdateReplay roomy = replay_update(layers, groups, options);
    EXPECT_LT(roomy.stall, slow.stall);
    EXPECT_LT(roomy.seconds, slow.seconds);
    // A faster all-reduce lowers the stall as well, without more memory.
    options.ring = 0;
    options.reduce_seconds_a_byte = 0.01;
    EXPECT_LT(replay_update(layers, groups, options).stall, slow.stall);
}

TEST(UpdatePolicy, RefusesWhatNeedsAllGradientsTogether) {
    EXPECT_EQ(refusal_of(UpdatePolicy::kDelayed, {}), "");
    GradientUses uses;
    uses.accumulate = 2;
    EXPECT_EQ(
        refusal_of(UpdatePolicy::kDelayed, uses),
        "is delayed, and gradients of several micro-batches add up before the update; expected "
        "batch");
    EXPECT_EQ(refusal_of(UpdatePolicy::kBatch, uses), "");
    uses = {};
    uses.clip_by_global_norm = true;
    EXPECT_NE(refusal_of(UpdatePolicy::kImmediate, uses).find("norm"), std::string::npos);
    uses = {};
    uses.check_loss_scale = true;
    EXPECT_NE(refusal_of(UpdatePolicy::kOverlapped, uses).find("overflow"), std::string::npos);
}

// Table of gradient memory by policy, in percent saved of all gradients.
struct Saved {
    std::string name;
    double one;         ///< delayed
    double two_fixed;   ///< overlapped, two buffers of the largest layer
    double neighbours;  ///< overlapped, a ring of two neighbours
    double one_bucket;  ///< buckets of 1, then 25 MiB
    double two_buckets;
};
void PrintTo(const Saved& saved, std::ostream* out) {
    *out << saved.name;
}
constexpr double kTenth = 0.1;  // percentage points: the table's precision

class GradientTable : public ::testing::TestWithParam<Saved> {};

TEST_P(GradientTable, IsWhatTheReplayHolds) {
    const Saved& want = GetParam();
    const std::filesystem::path path =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/models" / (want.name + ".csv");
    if (!std::filesystem::exists(path))
        GTEST_SKIP() << "no " << path;
    std::vector<UpdateLayer> layers;
    // Updates take longer than the next layers' passes, so the ring fills as far as it can.
    for (const Layer& layer : read_network_table(path).layers)
        if (layer.parameters > 0)
            layers.push_back({layer.name, 1, 1, 10, 4 * layer.parameters, 4 * layer.parameters});
    const auto groups = layer_groups(layers);
    const auto all = static_cast<double>(sum_of_bytes(groups));
    const auto saved = [&](std::uint64_t bytes) {
        return 100 * (1 - static_cast<double>(bytes) / all);
    };
    UpdateOptions options;
    options.policy = UpdatePolicy::kDelayed;
    EXPECT_NEAR(saved(replay_update(layers, groups, options).peak), want.one, kTenth);
    options.policy = UpdatePolicy::kOverlapped;
    EXPECT_NEAR(saved(replay_update(layers, groups, options).peak), want.neighbours, kTenth);
    options.fixed_buffers = 2;
    EXPECT_NEAR(saved(replay_update(layers, groups, options).reserved), want.two_fixed, kTenth);
    constexpr std::uint64_t kMiB = 1U << 20U;
    const auto buckets = bucket_groups(layers, kMiB, 25 * kMiB);
    UpdateOptions bucketed;
    bucketed.policy = UpdatePolicy::kDelayed;
    EXPECT_NEAR(saved(replay_update(layers, buckets, bucketed).peak), want.one_bucket, kTenth);
    bucketed.ring = largest_pair(buckets);
    EXPECT_NEAR(saved(replay_update(layers, buckets, bucketed).peak), want.two_buckets, kTenth);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, GradientTable,
    ::testing::Values(
        Saved{"alexnet", 38.2, -23.6, 10.7, 38.2, 10.7},
        Saved{"vgg16", 25.7, -48.5, 13.6, 25.7, 13.6},
        Saved{"resnet50", 90.8, 81.5, 90.8, 69.2, 43.5},
        Saved{"inception_v3", 91.0, 81.9, 90.9, 74.9, 50.0},
        Saved{"gnmt_4layer", 79.4, 58.8, 71.5, 79.4, 71.5},
        Saved{"bert_large", 90.7, 81.3, 90.5, 90.2, 88.0},
        Saved{"gpt2_small", 69.0, 38.0, 68.4, 64.6, 58.9},
        Saved{"gpt2_medium", 85.5, 71.0, 85.2, 84.0, 81.7},
        Saved{"gpt2_xl", 94.8, 89.7, 94.7, 94.7, 94.1},
        Saved{"llama_7b", 98.1, 96.1, 98.1, 98.1, 97.4}),
    [](const auto& named) { return named.param.name; });

}  // namespace
}  // namespace switchfold::update_policy_test
