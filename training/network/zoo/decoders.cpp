// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"
#include "training/network/zoo/families.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace switchfold::zoo {

namespace of_decoders {

struct Row {
    std::string_view name;
    std::variant<GptShape, LlamaShape, MixtureShape> shape;
};

// GPT: layers, hidden, heads, sequence, vocabulary.

/// Grouped keys, squared ReLU, rotary positions, no biases, a head of its own.
constexpr GptShape
nemotron(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t inner) {
    GptShape shape{layers, hidden, heads, 4096, 256'000, inner};
    shape.tied = false;
    shape.kv_heads = 8;
    shape.activation = Activation::kSquaredRelu;
    shape.positions = Positions::kRotary;
    shape.bias = false;
    return shape;
}

/// layers, hidden, heads, kv_heads, sequence, vocabulary, feed_forward
constexpr LlamaShape llama(
    std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t kv_heads,
    std::uint32_t sequence, std::uint32_t vocabulary, std::uint32_t inner) {
    LlamaShape shape;
    shape.layers = layers;
    shape.hidden = hidden;
    shape.heads = heads;
    shape.kv_heads = kv_heads;
    shape.sequence = sequence;
    shape.vocabulary = vocabulary;
    shape.feed_forward = inner;
    return shape;
}
constexpr LlamaShape qwen3(
    std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads, std::uint32_t kv_heads,
    std::uint32_t inner) {
    LlamaShape shape = llama(layers, hidden, heads, kv_heads, 4096, 151'936, inner);
    shape.head_width = 128;
    shape.query_norm = QueryNorm::kHead;
    return shape;
}
constexpr LlamaShape
olmo2(std::uint32_t layers, std::uint32_t hidden, std::uint32_t kv_heads, std::uint32_t inner) {
    LlamaShape shape = llama(layers, hidden, hidden / 128, kv_heads, 4096, 100'352, inner);
    shape.norms = NormPlaces::kAfter;
    shape.query_norm = QueryNorm::kWidth;
    return shape;
}
constexpr LlamaShape gpt_oss(std::uint32_t layers) {
    LlamaShape shape = llama(layers, 2880, 64, 8, 4096, 201'088, 2880);
    shape.head_width = 64;
    shape.bias = true;
    shape.window = 128;
    shape.whole_every = 2;
    shape.sinks = true;
    return shape;
}
constexpr LlamaShape grok1() {
    LlamaShape shape = llama(64, 6144, 48, 8, 8192, 131'072, 32'768);
    shape.activation = Activation::kGeglu;
    shape.norms = NormPlaces::kBoth;
    shape.tied = true;
    return shape;
}
constexpr LlamaShape deepseek_v3(std::uint32_t predicted_ahead) {
    LlamaShape shape = llama(61, 7168, 128, 0, 4096, 129'280, 2048);
    shape.latent = LatentParams{1536, 512, 128, 64, 128};
    shape.predicted_ahead = predicted_ahead;
    return shape;
}

// Mixtures: the shape of the blocks; then experts, top_k, shared_width, dense_blocks,
// mixture_every, dense_feed_forward.
constexpr std::array kRows{
    Row{"gpt2_small", GptShape{12, 768, 12, 1024, 50'257}},
    Row{"gpt2_medium", GptShape{24, 1024, 16, 1024, 50'257}},
    Row{"gpt2_xl", GptShape{48, 1600, 25, 1024, 50'257}},
    Row{"gpt3_175b", GptShape{96, 12'288, 96, 2048, 50'257}},  // arXiv 2005.14165
    // arXiv 2401.10241, table 3. The vocabulary is not stated: 32,000 fits all four stated sizes.
    Row{"gpt_1_5b", GptShape{22, 2304, 24, 1024, 32'000}},
    Row{"gpt_6_2b", GptShape{30, 4096, 32, 1024, 32'000}},
    // arXiv 2205.05198, table 3.
    Row{"gpt_22b", GptShape{48, 6144, 64, 2048, 51'200}},
    Row{"gpt_175b", GptShape{96, 12'288, 96, 2048, 51'200}},
    Row{"llama_7b", llama(32, 4096, 32, 32, 2048, 32'000, 11'008)},   // arXiv 2302.13971
    Row{"llama3_8b", llama(32, 4096, 32, 8, 8192, 128'256, 14'336)},  // arXiv 2407.21783
    Row{"llama3_70b", llama(80, 8192, 64, 8, 8192, 128'256, 28'672)},
    Row{"llama3_405b", llama(126, 16'384, 128, 8, 8192, 128'256, 53'248)},
    // config.json of meta-llama on Hugging Face; text alone
    Row{"llama4_scout", MixtureShape{llama(48, 5120, 40, 8, 8192, 202'048, 8192), {16, 1, 8192}}},
    Row{"llama4_maverick",
        MixtureShape{llama(48, 5120, 40, 8, 8192, 202'048, 8192), {128, 1, 8192, 0, 2, 16'384}}},
    Row{"nemotron4_15b", nemotron(32, 6144, 48, 24'576)},     // arXiv 2402.16819
    Row{"nemotron4_340b", nemotron(96, 18'432, 96, 73'728)},  // arXiv 2406.11704
    Row{"olmo2_7b", olmo2(32, 4096, 32, 11'008)},             // arXiv 2501.00656
    Row{"olmo2_13b", olmo2(40, 5120, 40, 13'824)}, Row{"olmo2_32b", olmo2(64, 5120, 8, 27'648)},
    Row{"qwen3_8b", qwen3(36, 4096, 32, 8, 12'288)},  // arXiv 2505.09388
    Row{"qwen3_32b", qwen3(64, 5120, 64, 8, 25'600)},
    Row{"qwen3_30b_a3b", MixtureShape{qwen3(48, 2048, 32, 4, 768), {128, 8}}},
    Row{"qwen3_235b_a22b", MixtureShape{qwen3(94, 4096, 64, 4, 1536), {128, 8}}},
    Row{"mixtral_8x7b",
        MixtureShape{llama(32, 4096, 32, 8, 4096, 32'000, 14'336), {8, 2}}},  // 2401.04088
    // config.json of mistralai/Mixtral-8x22B-v0.1
    Row{"mixtral_8x22b", MixtureShape{llama(56, 6144, 48, 8, 4096, 32'000, 16'384), {8, 2}}},
    Row{"grok_1", MixtureShape{grok1(), {8, 2}}},  // xai-org/grok-1, run.py
    // config.json of openai/gpt-oss
    Row{"gpt_oss_20b", MixtureShape{gpt_oss(24), {32, 4}}},
    Row{"gpt_oss_120b", MixtureShape{gpt_oss(36), {128, 4}}},
    // arXiv 2412.19437; with the module that predicts one token further, as it was trained
    Row{"deepseek_v3", MixtureShape{deepseek_v3(0), {256, 8, 2048, 3, 1, 18'432}}},
    Row{"deepseek_v3_mtp", MixtureShape{deepseek_v3(1), {256, 8, 2048, 3, 1, 18'432}}}};

template <std::size_t index>
Network made() {
    return std::visit(
        [](const auto& shape) { return decoder(std::string(kRows[index].name), shape); },
        kRows[index].shape);
}

template <std::size_t... index>
constexpr std::array<Entry, sizeof...(index)> entries(std::index_sequence<index...> /*of*/) {
    return {Entry{kRows[index].name, &made<index>}...};
}

constexpr auto kEntries = entries(std::make_index_sequence<kRows.size()>());

}  // namespace of_decoders

std::span<const Entry> decoders() {
    return of_decoders::kEntries;
}

}  // namespace switchfold::zoo
