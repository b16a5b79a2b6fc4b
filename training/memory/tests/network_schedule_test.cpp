// SPDX-License-Identifier: Apache-2.0
#include "training/memory/access/network_schedule.h"

#include "training/memory/offload/optimal.h"
#include "training/network/builder.h"
#include "training/network/zoo/zoo.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace switchfold::network_schedule_test {
namespace {

const MemoryItem& item_named(const TensorUses& schedule, const std::string& name) {
    const auto found =
        std::find_if(schedule.items.begin(), schedule.items.end(), [&](const MemoryItem& item) {
            return item.name == name;
        });
    if (found == schedule.items.end())
        throw std::runtime_error("no item " + name);
    return *found;
}

/// conv -> relu -> conv -> relu -> linear -> loss.
Network chain() {
    NetworkBuilder net("chain");
    Tensor x = net.conv("conv1", {{3, 8, 8}}, 4, Window::same(3, 3));
    x = net.each("relu1", "relu", x);
    x = net.conv("conv2", x, 8, Window::same(3, 3));
    x = net.each("relu2", "relu", x);
    x = net.linear("fc", x, 10);
    net.loss("loss", "softmax_loss", {x});
    return net.take();
}

TEST(NetworkSchedule, ChainFetchesOnceAndKeepsOnce) {
    NetworkScheduleOptions options;
    options.batch = 2;
    const TensorUses schedule = network_schedule(chain(), options);
    ASSERT_EQ(schedule.steps.size(), 6U + 6 + 3);  // F, B and an update of each layer with weights
    EXPECT_EQ(schedule.steps.front().name, "F conv1");
    EXPECT_EQ(schedule.steps[6].name, "B loss");
    EXPECT_EQ(schedule.steps.back().name, "U fc");
    const MemoryItem& relu1 = item_named(schedule, "relu1");
    EXPECT_EQ(relu1.bytes, 4U * 8 * 8 * 2 * 4);
    EXPECT_EQ(relu1.prefetches, 1U);
    EXPECT_EQ(relu1.offloads, 1U);
    EXPECT_TRUE(relu1.read_by_convolution);
    // The host still has the input, so evicting it needs no copy out.
    EXPECT_EQ(item_named(schedule, "input of conv1").prefetches, 1U);
    EXPECT_EQ(item_named(schedule, "input of conv1").offloads, 0U);
    // The backward pass of a convolution does not read its output, and that of a ReLU does not read
    // its input.
    EXPECT_FALSE(item_named(schedule, "conv1").candidate());
    // A tensor that is made and read in consecutive steps never leaves the GPU.
    EXPECT_FALSE(item_named(schedule, "gradient of relu2").candidate());
    EXPECT_FALSE(item_named(schedule, "loss").candidate());
    EXPECT_FALSE(item_named(schedule, "relu2").read_by_convolution);
    const MemoryItem& moments = item_named(schedule, "moments of conv2");
    EXPECT_EQ(moments.bytes, (4U * 9 + 1) * 8 * 8);
    EXPECT_EQ(moments.copies(), 2U);
    // Gradients are kept until the updates; weights stay on the GPU.
    EXPECT_EQ(item_named(schedule, "weight gradient of fc").copies(), 2U);
    EXPECT_EQ(schedule.resident_bytes, parameters(chain()) * 4);
}

TEST(NetworkSchedule, UpdatesInBackwardNeedNoGradientsBetweenSteps) {
    NetworkScheduleOptions options;
    options.update_in_backward = true;
    options.weights_travel = true;
    const TensorUses schedule = network_schedule(chain(), options);
    EXPECT_EQ(schedule.steps.size(), 12U);
    EXPECT_TRUE(item_named(schedule, "weight gradient of fc").scratch);
    // The forward pass fetches the weights. The backward pass fetches them again and copies out
    // what the update wrote.
    EXPECT_EQ(item_named(schedule, "weights of conv2").prefetches, 2U);
    EXPECT_EQ(item_named(schedule, "weights of conv2").offloads, 1U);
    // The first layer's weights are open in the last step and in the first one of the next
    // iteration.
    EXPECT_EQ(item_named(schedule, "weights of conv1").prefetches, 1U);
    EXPECT_EQ(item_named(schedule, "weights of conv1").offloads, 1U);
    EXPECT_EQ(schedule.resident_bytes, 0U);
}

TEST(NetworkSchedule, SkipsCloseAndComeBack) {
    NetworkBuilder net("skip");
    const Tensor a = net.linear("a", {{16}}, 16);
    Tensor x = net.linear("b", a, 16);
    x = net.linear("c", x, 16);
    x = net.each_of("add", "add", {x, a});
    net.loss("loss", "softmax_loss", {x});
    const TensorUses schedule = network_schedule(net.take(), {});
    // Tensor a is made and read by b, then read again by the sum and by b's backward pass.
    EXPECT_EQ(item_named(schedule, "a").prefetches, 2U);
    EXPECT_EQ(item_named(schedule, "a").offloads, 1U);
    // The sum's backward pass writes the gradient, b's adds to it, and a's reads it.
    EXPECT_EQ(item_named(schedule, "gradient of a").prefetches, 1U);
    EXPECT_EQ(item_named(schedule, "gradient of a").offloads, 1U);
}

TEST(NetworkSchedule, SharedWeightsHaveOneGradient) {
    const Network network = *find_network("gpt2_small");
    const TensorUses schedule = network_schedule(network, {});
    std::uint64_t gradients = 0;
    for (const MemoryItem& item : schedule.items)
        gradients += item.kind == MemoryClass::kGradients ? item.bytes : 0;
    EXPECT_EQ(gradients, parameters(network) * 4);
    NetworkScheduleOptions options;
    options.update_in_backward = true;
    const TensorUses early = network_schedule(network, options);
    // The embedding's gradient stays on the GPU from the head's backward pass on.
    EXPECT_EQ(early.resident_bytes, parameters(network) * 4 + 50'257ULL * 768 * 4);
}

/// The layer above a repeated block reads the output of the block's first forward, which is kept.
TEST(NetworkSchedule, AboveARepeatedBlockItsOutputIsKept) {
    NetworkScheduleOptions options;
    options.again = {{2, 4}};  // conv2 and relu2
    const TensorUses schedule = network_schedule(chain(), options);
    EXPECT_EQ(item_named(schedule, "relu2").prefetches, 1U);
    EXPECT_EQ(item_named(schedule, "relu2").offloads, 1U);
    EXPECT_TRUE(item_named(schedule, "again relu2").scratch);
    EXPECT_TRUE(item_named(schedule, "relu1").candidate());
    EXPECT_FALSE(item_named(schedule, "conv2").candidate());
}

/// A sum's short cut around two layers of a repeated block stays open meanwhile, as does its
/// gradient: neither is retained for the whole iteration, and neither travels.
TEST(NetworkSchedule, WhatARepeatedBlockAloneReadsStaysOpen) {
    NetworkBuilder net("skip");
    Tensor x = net.linear("a", {{16}}, 16);
    const Tensor b = net.linear("b", x, 16);
    x = net.linear("c", b, 16);
    x = net.linear("d", x, 16);
    x = net.each_of("add", "add", {x, b});
    x = net.linear("e", x, 16);
    net.loss("loss", "softmax_loss", {x});
    const Network network = net.take();
    NetworkScheduleOptions options;
    EXPECT_TRUE(item_named(network_schedule(network, options), "gradient of b").candidate());
    options.again = {{1, 5}};  // b to add
    const TensorUses schedule = network_schedule(network, options);
    for (const char* name : {"b", "gradient of b", "again b"}) {
        const MemoryItem& item = item_named(schedule, name);
        EXPECT_TRUE(item.scratch) << name;
        const auto index = static_cast<std::uint32_t>(&item - schedule.items.data());
        std::size_t stays = 0;
        for (const Stay& stay : stays_of(schedule))
            stays += stay.item == index ? 1 : 0;
        EXPECT_EQ(stays, 1U) << name;
    }
    for (const char* name : {"a", "add"})
        EXPECT_TRUE(item_named(schedule, name).candidate()) << name;
}

/// Of each micro-batch, no step reads what no earlier step of it wrote.
RC_GTEST_PROP(NetworkSchedule, NothingIsReadBeforeItIsMade, ()) {
    const Network network = *find_network(
        *rc::gen::element<std::string>("alexnet", "resnet18", "gpt2_small", "unet_416x608"));
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    NetworkScheduleOptions options;
    options.micro_batches = *rc::gen::inRange(1U, 3U);
    options.kept_of_score = *rc::gen::element<std::uint64_t>(0, 2, 5);
    options.update_in_backward = *rc::gen::arbitrary<bool>() && options.micro_batches == 1;
    for (std::uint32_t first = *rc::gen::inRange(0U, layers); first < layers;) {
        const std::uint32_t end = *rc::gen::inRange(first + 1, layers + 1);
        options.again.push_back({first, end});
        first = end + *rc::gen::inRange(0U, layers);
    }
    const TensorUses schedule = network_schedule(network, options);
    std::set<std::pair<std::uint32_t, std::uint32_t>> made;  // micro-batch and item
    for (const LayerUse& step : schedule.steps)
        for (const ItemAccess& access : step.open) {
            const MemoryItem& item = schedule.items[access.item];
            const bool first = made.emplace(step.micro_batch, access.item).second;
            const bool lasts = item.persistent || item.kind == MemoryClass::kGradients;
            RC_ASSERT(!first || access.writes || access.anew || lasts);
        }
}

/// The exact programme handles every network that ships, whatever its skip connections, except
/// dlrm: one of its steps reads 27 tensors.
TEST(NetworkSchedule, NetworksAreNarrowEnough) {
    NetworkScheduleOptions options;
    options.batch = 32;
    for (const std::string_view name : network_names()) {
        const TensorUses schedule = network_schedule(*find_network(name), options);
        for (const Staging staging : {Staging::kSingle, Staging::kWindow}) {
            const LeastCapacity least = least_capacity(offload_problem(schedule, staging));
            const bool too_wide = name == "dlrm";
            EXPECT_EQ(!least.refusal.empty(), too_wide) << name << " " << name_of(staging);
        }
    }
}

}  // namespace
}  // namespace switchfold::network_schedule_test
