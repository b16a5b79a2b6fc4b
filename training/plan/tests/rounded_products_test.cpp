// SPDX-License-Identifier: Apache-2.0
#include "training/network/zoo/zoo.h"
#include "training/plan/step/layer_work.h"
#include "training/plan/step/plan_memory.h"
#include "training/plan/tests/small_gpt.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace switchfold::rounded_products_test {
namespace {

constexpr double kTokens = 8192;
constexpr double kWidth = 4096;

const Network& llama() {
    static const Network network = *find_network("llama3_8b");
    return network;
}

std::uint32_t layer_of(const Network& network, const std::string& part) {
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        if (network.layers[i].name.find(part) != std::string::npos)
            return i;
    return 0;
}

ParallelPlan with(ProductRecipe recipe) {
    ParallelPlan plan;
    plan.products = recipe;
    return plan;
}

enum class Way : std::uint8_t { kForward, kBackward };

Work work_of(
    const ParallelPlan& plan, const GpuRates& gpu, const std::string& layer, Way way,
    const Network& network = llama()) {
    const KernelTimes times(gpu);
    Work work;
    const LayerWork layers(network, times, plan);
    if (way == Way::kForward)
        layers.forward(layer_of(network, layer), work);
    else
        layers.backward(layer_of(network, layer), work);
    return work;
}

/// Kernels that are no product, by the last words of their names.
std::vector<std::string> beside_products(const Work& work) {
    std::vector<std::string> names;
    for (const WorkItem& item : work)
        if (const auto* kernel = std::get_if<KernelItem>(&item);
            kernel != nullptr && kernel->kernel.kernel_class != KernelClass::kGemmConv)
            names.push_back(kernel->name.substr(kernel->name.find(' ') + 1));
    return names;
}

const KernelOperation& kernel_of(const Work& work, const std::string& what) {
    for (const WorkItem& item : work)
        if (const auto* kernel = std::get_if<KernelItem>(&item);
            kernel != nullptr && kernel->name.find(' ') != std::string::npos &&
            kernel->name.substr(kernel->name.find(' ') + 1) == what)
            return kernel->kernel;
    throw std::out_of_range("no kernel " + what);
}

double bytes_of(const KernelOperation& kernel) {
    return static_cast<double>(kernel.bytes_read.count() + kernel.bytes_written.count());
}

const CollectiveItem& collective_of(const Work& work, const std::string& what) {
    for (const WorkItem& item : work)
        if (const auto* c = std::get_if<CollectiveItem>(&item);
            c != nullptr && c->name.ends_with(what))
            return *c;
    throw std::out_of_range("no collective " + what);
}

using Names = std::vector<std::string>;

TEST(RoundedProducts, ThoseOfLinearLayersAloneAndNoHeadAndNoRouter) {
    for (const char* name : {"llama3_8b", "qwen3_30b_a3b"}) {
        const Network network = *find_network(name);
        const auto rounded = rounded_layers(network, ProductRecipe::kCurrent);
        for (std::uint32_t i = 0; i < network.layers.size(); ++i) {
            const Layer& layer = network.layers[i];
            const bool other = layer.type != "linear" || layer.split == TensorSplit::kVocabulary ||
                               layer.name.ends_with("router");
            EXPECT_EQ(rounded[i].product, !other) << layer.name;
        }
    }
    const auto none = rounded_layers(llama(), ProductRecipe::kNone);
    EXPECT_TRUE(std::none_of(none.begin(), none.end(), [](const RoundedLayer& layer) {
        return layer.product || layer.input || layer.norm;
    }));
}

TEST(RoundedProducts, ALayerWhoseSidesAreNoMultiplesOf16Keeps16Bits) {
    Network network = llama();
    const std::uint32_t layer = layer_of(network, "o_proj");
    network.layers[layer].out_shape.back() += 8;
    network.layers[layer].out_elements =
        network.layers[layer].out_shape.front() * network.layers[layer].out_shape.back();
    EXPECT_FALSE(rounded_layers(network, ProductRecipe::kCurrent)[layer].product);
    EXPECT_TRUE(rounded_layers(llama(), ProductRecipe::kCurrent)[layer].product);
}

TEST(RoundedProducts, AnInputIsRoundedOnceForAllThatReadIt) {
    const ParallelPlan plan = with(ProductRecipe::kCurrent);
    EXPECT_EQ(
        beside_products(work_of(plan, test_data::hopper(), "q_proj", Way::kForward)),
        (Names{"largest input", "input to 8 bits"}));
    for (const char* layer : {"k_proj", "v_proj"})
        EXPECT_TRUE(
            beside_products(work_of(plan, test_data::hopper(), layer, Way::kForward)).empty());
    EXPECT_TRUE(
        beside_products(work_of(plan, test_data::hopper(), "lm_head", Way::kForward)).empty());
}

TEST(RoundedProducts, KernelsReadAndWriteWhatTheRecipeSays) {
    struct Case {
        ProductRecipe recipe;
        GpuRates gpu;
        double written;  ///< bytes an element
    };
    const double micro = 1 + 1.0 / 32;
    const double block = 1 + 4.0 / 128;
    for (const Case& c :
         {Case{ProductRecipe::kCurrent, test_data::hopper(), 2},
          Case{ProductRecipe::kCurrent, test_data::blackwell(), 1},
          Case{ProductRecipe::kMicro, test_data::blackwell(), 2 * micro},
          Case{ProductRecipe::kBlockwise, test_data::hopper(), 2 * block}}) {
        const Work forward = work_of(with(c.recipe), c.gpu, "q_proj", Way::kForward);
        EXPECT_NEAR(
            bytes_of(kernel_of(forward, "input to 8 bits")), kTokens * kWidth * (2 + c.written), 2);
        const Work backward = work_of(with(c.recipe), c.gpu, "down_proj", Way::kBackward);
        EXPECT_NEAR(
            bytes_of(kernel_of(backward, "gradient to 8 bits")), kTokens * kWidth * (2 + c.written),
            2);
        const Names names = beside_products(forward);
        EXPECT_EQ(
            std::count(names.begin(), names.end(), "largest input"),
            c.recipe == ProductRecipe::kCurrent ? 1 : 0);
    }
}

TEST(RoundedProducts, FourBitsHaveAScaleFor16AndOneATensor) {
    const ParallelPlan plan = with(ProductRecipe::kFourBits);
    const Work forward = work_of(plan, test_data::blackwell(), "q_proj", Way::kForward);
    EXPECT_EQ(beside_products(forward), (Names{"largest input", "input to 4 bits"}));
    const double element = 0.5 + 1.0 / 16;
    EXPECT_NEAR(
        bytes_of(kernel_of(forward, "input to 4 bits")), kTokens * kWidth * (2 + 2 * element), 2);
    // The product reads 4 bits and scales, and writes 16.
    const auto product = kernel_of(forward, "forward");
    const auto eight = kernel_of(
        work_of(with(ProductRecipe::kMicro), test_data::blackwell(), "q_proj", Way::kForward),
        "forward");
    EXPECT_LT(product.bytes_read, eight.bytes_read);
    EXPECT_EQ(product.bytes_written, eight.bytes_written);
    EXPECT_EQ(product.flops, eight.flops);
    EXPECT_LT(product.isolated, eight.isolated);
}

TEST(RoundedProducts, ANormWrites8BitsWhereScalesAreKnown) {
    const auto norm = [](ProductRecipe recipe) {
        return kernel_of(
            work_of(with(recipe), test_data::hopper(), "input_layernorm", Way::kForward),
            "forward");
    };
    const auto saved =
        norm(ProductRecipe::kCurrent).bytes_written - norm(ProductRecipe::kDelayed).bytes_written;
    EXPECT_EQ(static_cast<double>(saved.count()), kTokens * kWidth);
    EXPECT_EQ(
        beside_products(
            work_of(with(ProductRecipe::kDelayed), test_data::hopper(), "q_proj", Way::kForward)),
        (Names{"input transposed"}));
    EXPECT_TRUE(
        beside_products(
            work_of(with(ProductRecipe::kDelayed), test_data::blackwell(), "q_proj", Way::kForward))
            .empty());
    // What a gate makes is no norm's.
    EXPECT_EQ(
        beside_products(work_of(
            with(ProductRecipe::kDelayed), test_data::hopper(), "down_proj", Way::kForward)),
        (Names{"input to 8 bits"}));
}

TEST(RoundedProducts, ProductsTakeLittleMoreThanHalfTheTime) {
    const auto seconds = [](ProductRecipe recipe, const char* what, Way way) {
        return to_seconds(
            kernel_of(work_of(with(recipe), test_data::hopper(), "up_proj", way), what).isolated);
    };
    for (const auto& [what, way] :
         {std::pair{"forward", Way::kForward}, std::pair{"input gradient", Way::kBackward},
          std::pair{"weight gradient", Way::kBackward}}) {
        const double ratio =
            seconds(ProductRecipe::kCurrent, what, way) / seconds(ProductRecipe::kNone, what, way);
        EXPECT_GT(ratio, 0.48) << what;
        EXPECT_LT(ratio, 0.65) << what;
    }
}

TEST(RoundedProducts, RanksThatShareALayerGatherWhatIsRounded) {
    const auto gathered = [](ProductRecipe recipe, const char* layer, const char* what, Way way) {
        ParallelPlan plan = with(recipe);
        plan.tensor = 4;
        plan.sequence = true;
        return static_cast<double>(
            collective_of(work_of(plan, test_data::hopper(), layer, way), what).bytes.count());
    };
    const double elements = kTokens * kWidth;
    const double block = 1 + 4.0 / 128;
    EXPECT_EQ(gathered(ProductRecipe::kNone, "q_proj", "input", Way::kForward), 2 * elements);
    EXPECT_EQ(gathered(ProductRecipe::kCurrent, "q_proj", "input", Way::kForward), elements);
    EXPECT_EQ(
        gathered(ProductRecipe::kBlockwise, "q_proj", "input", Way::kForward), block * elements);
    EXPECT_EQ(gathered(ProductRecipe::kCurrent, "q_proj", "input again", Way::kBackward), elements);
    EXPECT_EQ(
        gathered(ProductRecipe::kCurrent, "o_proj", "gradient of the output", Way::kBackward),
        elements);
    // Both directions of the sum have scales of their own.
    EXPECT_EQ(
        gathered(ProductRecipe::kBlockwise, "o_proj", "gradient of the output", Way::kBackward),
        2 * block * elements);
    // A scale of the whole tensor needs the largest value of all ranks, and no other does.
    EXPECT_EQ(gathered(ProductRecipe::kCurrent, "q_proj", "largest of all", Way::kForward), 4);
    EXPECT_EQ(gathered(ProductRecipe::kCurrent, "o_proj", "largest of all", Way::kBackward), 4);
    for (const ProductRecipe recipe : {ProductRecipe::kDelayed, ProductRecipe::kBlockwise})
        EXPECT_THROW(
            gathered(recipe, "q_proj", "largest of all", Way::kForward), std::out_of_range);
    // Sums of outputs keep 16 bits.
    EXPECT_EQ(gathered(ProductRecipe::kCurrent, "o_proj", "output", Way::kForward), 2 * elements);
}

TEST(RoundedProducts, TokensTravelToExpertsWith8BitsAndBackWith16) {
    const Network network = *find_network("qwen3_30b_a3b");
    ParallelPlan plan;
    plan.data = 8;
    plan.expert = 8;
    const auto sent = [&](bool rounded, const char* layer, const char* what, Way way) {
        plan.float8_dispatch = rounded;
        return static_cast<double>(
            collective_of(work_of(plan, test_data::hopper(), layer, way, network), what)
                .bytes.count());
    };
    const double half = sent(false, "dispatch", "tokens to experts", Way::kForward);
    EXPECT_NEAR(
        sent(true, "dispatch", "tokens to experts", Way::kForward), half / 2 * (1 + 4.0 / 128), 1);
    EXPECT_EQ(
        sent(true, "dispatch", "gradients back", Way::kBackward),
        sent(false, "dispatch", "gradients back", Way::kBackward));
}

TEST(RoundedProducts, MemoryHoldsBothOrThe8BitsAlone) {
    const KernelTimes times(test_data::hopper());
    double rounded = 0;
    for (const Layer& layer : llama().layers)
        if (layer.type == "linear" && layer.split != TensorSplit::kVocabulary)
            rounded += static_cast<double>(layer.parameters);
    const auto memory = [&](const ParallelPlan& plan) {
        return plan_memory({llama(), times, plan}).front();
    };
    ParallelPlan plan = with(ProductRecipe::kCurrent);
    const MemoryBytes half = memory(ParallelPlan{});
    const MemoryBytes both = memory(plan);
    // Weights of 8 bits in two directions beside those of 16.
    EXPECT_NEAR(both[MemoryClass::kWeights] - half[MemoryClass::kWeights], 2 * rounded, 1);
    EXPECT_LT(both[MemoryClass::kActivations], half[MemoryClass::kActivations]);
    plan.float8_weights = true;
    EXPECT_NEAR(memory(plan)[MemoryClass::kWeights], half[MemoryClass::kWeights], 1);
    plan.sharding = Sharding::kParameters;
    plan.data = 4;
    ParallelPlan whole;
    whole.sharding = Sharding::kParameters;
    whole.data = 4;
    EXPECT_NEAR(
        memory(whole)[MemoryClass::kWeights] - memory(plan)[MemoryClass::kWeights], rounded / 4, 1);
    plan.moments = Datatype::kBfloat16;
    EXPECT_NEAR(
        memory(whole)[MemoryClass::kMoments] - memory(plan)[MemoryClass::kMoments],
        4 * static_cast<double>(parameters(llama())) / 4, 64);
}

TEST(RoundedProducts, ShardedWeightsAreGatheredInTheirType) {
    const KernelTimes times(test_data::hopper());
    const auto gathered = [&](bool float8) {
        ParallelPlan plan = with(ProductRecipe::kCurrent);
        plan.data = 4;
        plan.sharding = Sharding::kParameters;
        plan.float8_weights = float8;
        const LayerWork layers(llama(), times, plan);
        return layers.gathered_bytes(layer_of(llama(), "up_proj")) /
               layers.parameters(layer_of(llama(), "up_proj"));
    };
    EXPECT_EQ(gathered(false), 2);
    EXPECT_EQ(gathered(true), 1);
    // Gathered with 16 bits they are rounded in each pass.
    ParallelPlan plan = with(ProductRecipe::kBlockwise);
    plan.data = 4;
    plan.sharding = Sharding::kParameters;
    for (const Way way : {Way::kForward, Way::kBackward}) {
        const Names names = beside_products(work_of(plan, test_data::hopper(), "up_proj", way));
        EXPECT_EQ(std::count(names.begin(), names.end(), "weights to 8 bits"), 1);
    }
}

}  // namespace
}  // namespace switchfold::rounded_products_test
