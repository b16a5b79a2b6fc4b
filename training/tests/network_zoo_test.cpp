// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"
#include "training/network/product.h"
#include "training/network/table.h"
#include "training/network/zoo/zoo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace switchfold::network_zoo_test {
namespace {

Network network_of(std::string_view name) {
    auto network = find_network(name);
    if (!network)
        throw std::invalid_argument("no such network");
    return *network;
}

TEST(Zoo, EveryNetworkIsWholeAndNamedOnce) {
    std::set<std::string_view> names;
    for (const std::string_view name : network_names()) {
        SCOPED_TRACE(name);
        EXPECT_TRUE(names.insert(name).second);
        const Network network = network_of(name);
        EXPECT_EQ(network.name, name);
        EXPECT_NO_THROW(check(network));
    }
    EXPECT_EQ(names.size(), 65U);
    EXPECT_FALSE(find_network("resnet51"));
}

TEST(Zoo, ThePageSaysTheirParametersAndTokens) {
    std::ifstream in(SWITCHFOLD_SOURCE_DIR "/docs/networks.md");
    const std::string page((std::istreambuf_iterator<char>(in)), {});
    for (const std::string_view name : network_names()) {
        const Network network = network_of(name);
        std::string count = std::to_string(parameters(network));
        for (std::size_t at = count.size(); at > 3; at -= 3)
            count.insert(at - 3, ",");
        const std::string row = fmt::format(
            "\n| `{}` | {} | {} | {} |", name, count, network.layers.size(),
            network.tokens == 0 ? "" : std::to_string(network.tokens));
        EXPECT_NE(page.find(row), std::string::npos) << row;
    }
}

std::optional<AttentionShape> attention_named(std::string_view network, std::string_view layer) {
    for (const Layer& one : network_of(network).layers)
        if (one.name == layer)
            return attention_of(one);
    return {};
}

struct Published {
    std::string_view name;
    std::uint64_t parameters;
    std::string_view source;
};

TEST(Zoo, ParametersAreThePublishedOnes) {
    const std::vector<Published> published{
        {"alexnet", 61'100'840, "torchvision, table of weights"},
        {"vgg13", 133'047'848, "torchvision, table of weights"},
        {"vgg16", 138'357'544, "torchvision, table of weights"},
        {"vgg19", 143'667'240, "torchvision, table of weights"},
        {"resnet18", 11'689'512, "torchvision, table of weights"},
        {"resnet18_cifar10", 11'173'962, "kuangliu/pytorch-cifar, ResNet18()"},
        {"resnet34", 21'797'672, "torchvision, table of weights"},
        {"resnet50", 25'557'032, "torchvision, table of weights"},
        {"resnet101", 44'549'160, "torchvision, table of weights"},
        {"resnet152", 60'192'808, "torchvision, table of weights"},
        {"densenet121", 7'978'856, "torchvision, table of weights"},
        {"inception_v3", 27'161'264, "torchvision, table of weights, with the auxiliary head"},
        {"inception_v4", 42'679'816, "timm, table of results"},
        {"vit_l_16", 304'326'632, "torchvision, table of weights"},
        {"gpt2_small", 124'439'808, "the released weights"},
        {"gpt2_medium", 354'823'168, "the released weights"},
        {"gpt2_xl", 1'557'611'200, "the released weights"},
        {"bert_large", 335'141'888, "the released weights without the heads of pre-training"},
        {"llama_7b", 6'738'415'616, "the released weights"},
        {"llama3_8b", 8'030'261'248, "the released weights"},
        {"llama3_70b", 70'553'706'496, "the released weights"},
        {"llama3_405b", 405'853'388'800, "the released weights"},
        {"llama4_scout", 107'769'861'120, "the released weights of the text model"},
        {"llama4_maverick", 400'711'848'960, "the released weights of the text model"},
        {"olmo2_7b", 7'298'617'344, "the released weights"},
        {"olmo2_13b", 13'716'198'400, "the released weights"},
        {"olmo2_32b", 32'234'279'936, "the released weights"},
        {"qwen3_8b", 8'190'735'360, "the released weights"},
        {"qwen3_32b", 32'762'123'264, "the released weights"},
        {"qwen3_30b_a3b", 30'532'122'624, "the released weights"},
        {"qwen3_235b_a22b", 235'093'634'560, "the released weights"},
        {"mixtral_8x7b", 46'702'792'704, "the released weights"},
        {"mixtral_8x22b", 140'620'634'112, "the released weights of v0.1"},
        {"gpt_oss_20b", 20'914'757'184, "the released weights"},
        {"gpt_oss_120b", 116'829'156'672, "the released weights"},
        {"deepseek_v3", 671'026'419'200 - 58 * 256,
         "the released weights without the routers' offsets, which no gradient changes"},
    };
    for (const Published& p : published)
        EXPECT_EQ(parameters(network_of(p.name)), p.parameters) << p.name << ": " << p.source;
}

/// For networks whose source prints only a rounded number.
TEST(Zoo, ParametersRoundToThePrintedOnes) {
    struct Printed {
        std::string_view name;
        double parameters;
        double within;
        std::string_view source;
    };
    const std::vector<Printed> printed{
        {"alexnet_one_tower_227", 62.4e6, 0.05e6, "arXiv 1404.5997: one tower"},
        {"unet_416x608", 31.0e6, 0.05e6,
         "31,030,658 with one input channel, and 1,152 for two more"},
        {"gpt3_175b", 175e9, 0.5e9, "arXiv 2005.14165"},
        {"gpt_1_5b", 1.5e9, 0.05e9, "arXiv 2401.10241, table 3"},
        {"gpt_6_2b", 6.2e9, 0.05e9, "arXiv 2401.10241, table 3"},
        {"gpt_22b", 22e9, 0.5e9, "arXiv 2205.05198, table 3"},
        {"gpt_175b", 175e9, 0.5e9, "arXiv 2205.05198, table 3"},
        {"nemotron4_15b", 15.6e9, 0.1e9, "arXiv 2402.16819: 3.2e9 of embeddings, 12.5e9 others"},
        {"nemotron4_340b", 341e9, 0.1e9, "arXiv 2406.11704: 9.4e9 of embeddings, 331.6e9 others"},
        {"grok_1", 314e9, 2e9, "xai-org/grok-1"},
        {"deepseek_v3_mtp", 685e9 - 129'280 * 7168 * 2.0, 3e9,
         "deepseek-ai/DeepSeek-V3: 14e9 beside 671e9, with copies of the embedding and the head"},
        {"transformer_base", 65e6, 2e6, "arXiv 1706.03762, table 3"},
        {"transformer_big", 213e6, 2e6, "arXiv 1706.03762, table 3"},
        {"awd_lm", 24e6, 0.5e6, "arXiv 1708.02182"},
        {"s2vt", 349e6 / 4, 0.5e6 / 4, "349 MB in arXiv 1806.03377"},
        {"fc_speech_429_2048x7_9304", 46e6, 1e6, "Seide et al. 2014"},
    };
    for (const Printed& p : printed)
        EXPECT_NEAR(static_cast<double>(parameters(network_of(p.name))), p.parameters, p.within)
            << p.name << ": " << p.source;
    // ResNet-200's 205 arrays: those of its 203 convolutions and of the last layer, in bytes of
    // float32.
    std::uint64_t bytes = 0;
    for (const Layer& layer : network_of("resnet200_preact").layers)
        if (layer.type == "conv" || layer.type == "linear")
            bytes += 4 * layer.parameters;
    EXPECT_EQ(bytes, 257'991'328U) << "MXNet's symbol resnet, 200 layers";
    // 187,767,399 rows of 128, and the two perceptrons with 171,392 and 2,197,505 parameters.
    EXPECT_EQ(parameters(network_of("dlrm")), 187'767'399ULL * 128 + 171'392 + 2'197'505);
}

/// Tables that others derived from the same architectures must have the same rows in the same
/// order.
TEST(Zoo, RowsAreThoseOfTheReference) {
    const auto folder =
        std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "../shared/reference/training/models";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "no " << folder << ": reference tables are not part of the repository";
    std::size_t compared = 0;
    for (const std::string_view name : network_names()) {
        const auto file = folder / fmt::format("{}.csv", name);
        if (!std::filesystem::exists(file))
            continue;
        SCOPED_TRACE(name);
        ++compared;
        const Network ours = network_of(name);
        const Network theirs = read_network_table(file);
        ASSERT_EQ(ours.layers.size(), theirs.layers.size());
        EXPECT_EQ(ours.tokens, theirs.tokens);
        for (std::size_t i = 0; i < ours.layers.size(); ++i) {
            const Layer& a = ours.layers[i];
            const Layer& b = theirs.layers[i];
            ASSERT_EQ(a.name, b.name);
            EXPECT_EQ(a.type, b.type) << a.name;
            EXPECT_EQ(a.parameters, b.parameters) << a.name;
            EXPECT_EQ(a.macs, b.macs) << a.name;
            EXPECT_EQ(a.out_elements, b.out_elements) << a.name;
            EXPECT_EQ(a.inputs, b.inputs) << a.name;
            EXPECT_EQ(a.in_elements, b.in_elements) << a.name;
            EXPECT_EQ(a.out_shape, b.out_shape) << a.name;
            EXPECT_EQ(a.shares, b.shares) << a.name;
        }
    }
    EXPECT_EQ(compared, 41U);
}

/// A layer's matrix products add up to its multiply-adds, and their columns to its weights.
TEST(Zoo, ProductsAreTheWorkAndTheWeights) {
    for (const std::string_view name : network_names()) {
        for (const Layer& layer : network_of(name).layers) {
            const std::string where = fmt::format("{}, {}", name, layer.name);
            const auto product = product_of(layer);
            const bool multiplies =
                layer.type == "conv" || layer.type == "linear" || layer.type == "lstm";
            ASSERT_EQ(product.has_value(), multiplies) << where;
            if (!product)
                continue;
            const MatrixShape& p = *product;
            EXPECT_EQ(p.rows * p.columns * p.depth * p.count, layer.macs) << where;
            // GNMT's attention has two products for one output, and an up-convolution has one for
            // each pixel, so their columns do not match the weights.
            if (layer.shares || layer.name == "decoder.attn" || layer.name.ends_with(".upconv"))
                continue;
            const std::uint64_t columns = p.columns * (layer.type == "lstm" ? 1 : p.count);
            const std::uint64_t biases = layer.parameters - columns * p.depth;
            EXPECT_TRUE(biases == 0 || biases == columns || biases == 2 * columns) << where;
            Layer without_shape = layer;
            without_shape.out_shape.clear();
            EXPECT_EQ(product_of(without_shape), product) << where;
        }
    }
}

TEST(Zoo, AttentionIsOfItsHeads) {
    const Network gpt = network_of("gpt2_small");
    EXPECT_EQ(attention_of(gpt.layers[5]), (AttentionShape{1024, 1024, 12, 64, true, 12, 64, 0}));
    const Network vit = network_of("vit_l_16");
    EXPECT_EQ(attention_of(vit.layers[5]), (AttentionShape{197, 197, 16, 64, false, 16, 64, 0}));
    EXPECT_FALSE(attention_of(gpt.layers[4]));
    // Keys that several heads share, widths apart, and windows.
    EXPECT_EQ(
        attention_named("qwen3_32b", "layers.0.self_attn.sdpa"),
        (AttentionShape{4096, 4096, 64, 128, true, 8, 128, 0}));
    EXPECT_EQ(
        attention_named("deepseek_v3", "layers.0.self_attn.sdpa"),
        (AttentionShape{4096, 4096, 128, 128, true, 128, 192, 0}));
    EXPECT_EQ(
        attention_named("gpt_oss_20b", "layers.0.self_attn.sdpa"),
        (AttentionShape{4096, 4096, 64, 64, true, 8, 64, 128}));
    EXPECT_EQ(
        attention_named("gpt_oss_20b", "layers.1.self_attn.sdpa"),
        (AttentionShape{4096, 4096, 64, 64, true, 8, 64, 0}));
    for (const std::string_view name : network_names())
        for (const Layer& layer : network_of(name).layers)
            EXPECT_EQ(attention_of(layer).has_value(), layer.type == "attention")
                << name << ", " << layer.name;
}

GptShape random_gpt() {
    GptShape s;
    s.layers = *rc::gen::inRange(1U, 8U);
    s.heads = *rc::gen::inRange(1U, 8U);
    s.hidden = s.heads * *rc::gen::inRange(1U, 64U);
    s.sequence = *rc::gen::inRange(1U, 300U);
    s.vocabulary = *rc::gen::inRange(1U, 5000U);
    return s;
}

RC_GTEST_PROP(Decoder, ParametersFollowTheFormula, ()) {
    GptShape s = random_gpt();
    const std::uint64_t h = s.hidden;
    const std::uint64_t l = s.layers;
    const std::uint64_t tied =
        12 * l * h * h + 13 * l * h + (std::uint64_t{s.vocabulary} + s.sequence) * h + 2 * h;
    RC_ASSERT(parameters(decoder("d", s)) == tied);
    s.tied = false;
    RC_ASSERT(parameters(decoder("d", s)) == tied + h * s.vocabulary);
}

/// Multiply-adds of a block: half of Megatron's 24 s h^2 (1 + s/(6h)) flop, with the attention term
/// halved again because it is causal. Megatron's formula for model flop counts full attention.
RC_GTEST_PROP(Decoder, WorkFollowsTheFormula, ()) {
    const GptShape s = random_gpt();
    const std::uint64_t h = s.hidden;
    const std::uint64_t t = s.sequence;
    const std::uint64_t block = 12 * t * h * h + t * t * h;
    RC_ASSERT(forward_macs(decoder("d", s)) == s.layers * block + t * h * s.vocabulary);
}

RC_GTEST_PROP(Decoder, BetweenBlocksOneResidualCrosses, ()) {
    const GptShape s = random_gpt();
    const Network network = decoder("d", s);
    const std::uint64_t residual = std::uint64_t{s.sequence} * s.hidden;
    const auto crossing = crossing_elements(network);
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        RC_ASSERT(crossing[i] == crossing_elements(network, i));
        const bool last_of_block = network.layers[i].block != kNoBlock &&
                                   network.layers[i].block != network.layers[i + 1].block;
        if (last_of_block)
            RC_ASSERT(crossing[i] == residual);
        else if (network.layers[i].type == "attention")
            RC_ASSERT(crossing[i] == 2 * residual);
    }
    RC_ASSERT(crossing.back() == 0U);
}

RC_GTEST_PROP(Decoder, ExpertsHaveTheirWeightsAndTheirTokens, ()) {
    MixtureShape s;
    s.layers = *rc::gen::inRange(1U, 4U);
    s.kv_heads = *rc::gen::inRange(1U, 4U);
    s.heads = s.kv_heads * *rc::gen::inRange(1U, 4U);
    s.hidden = s.heads * *rc::gen::inRange(1U, 32U);
    s.feed_forward = *rc::gen::inRange(1U, 200U);
    s.sequence = *rc::gen::inRange(1U, 100U);
    s.vocabulary = *rc::gen::inRange(1U, 500U);
    s.experts = *rc::gen::inRange(1U, 16U);
    s.top_k = *rc::gen::inRange(1U, s.experts + 1);
    LlamaShape dense;
    dense.layers = s.layers;
    dense.kv_heads = s.kv_heads;
    dense.heads = s.heads;
    dense.hidden = s.hidden;
    dense.feed_forward = s.feed_forward;
    dense.sequence = s.sequence;
    dense.vocabulary = s.vocabulary;
    const Network sparse = decoder("s", s);
    const std::uint64_t inner = 3ULL * s.hidden * s.feed_forward;
    const std::uint64_t router = std::uint64_t{s.hidden} * s.experts;
    RC_ASSERT(
        parameters(sparse) ==
        parameters(decoder("d", dense)) + s.layers * ((s.experts - 1) * inner + router));
    RC_ASSERT(
        forward_macs(sparse) ==
        forward_macs(decoder("d", dense)) +
            std::uint64_t{s.layers} * s.sequence * ((s.top_k - 1) * inner + router));
    for (const Layer& layer : sparse.layers)
        if (layer.type == "dispatch")
            RC_ASSERT(layer.out_elements == std::uint64_t{s.sequence} * s.top_k * s.hidden);
}

}  // namespace
}  // namespace switchfold::network_zoo_test
