// SPDX-License-Identifier: Apache-2.0
#include "training/network/decoder.h"
#include "training/network/zoo/families.h"

#include <array>

namespace switchfold::zoo {

namespace of_decoders {

// layers, hidden, heads, sequence, vocabulary
constexpr GptShape kGpt2Small{12, 768, 12, 1024, 50'257};
constexpr GptShape kGpt2Medium{24, 1024, 16, 1024, 50'257};
constexpr GptShape kGpt2Xl{48, 1600, 25, 1024, 50'257};
constexpr GptShape kGpt3{96, 12'288, 96, 2048, 50'257};  // arXiv 2005.14165
/// arXiv 2401.10241, table 3. The vocabulary is not stated: 32,000 fits all four stated sizes.
constexpr GptShape kGpt1_5b{22, 2304, 24, 1024, 32'000};
constexpr GptShape kGpt6_2b{30, 4096, 32, 1024, 32'000};
/// arXiv 2205.05198, table 3.
constexpr GptShape kGpt22b{48, 6144, 64, 2048, 51'200};
constexpr GptShape kGpt175b{96, 12'288, 96, 2048, 51'200};

// layers, hidden, heads, kv_heads, sequence, vocabulary, feed_forward
constexpr LlamaShape kLlama7b{32, 4096, 32, 32, 2048, 32'000, 11'008};    // arXiv 2302.13971
constexpr LlamaShape kLlama3_8b{32, 4096, 32, 8, 8192, 128'256, 14'336};  // arXiv 2407.21783
constexpr MixtureShape kMixtral{32, 4096, 32, 8, 4096, 32'000, 14'336, false, 8, 2};  // 2401.04088

constexpr std::array kEntries{
    Entry{"gpt2_small", [] { return decoder("gpt2_small", kGpt2Small); }},
    Entry{"gpt2_medium", [] { return decoder("gpt2_medium", kGpt2Medium); }},
    Entry{"gpt2_xl", [] { return decoder("gpt2_xl", kGpt2Xl); }},
    Entry{"gpt3_175b", [] { return decoder("gpt3_175b", kGpt3); }},
    Entry{"gpt_1_5b", [] { return decoder("gpt_1_5b", kGpt1_5b); }},
    Entry{"gpt_6_2b", [] { return decoder("gpt_6_2b", kGpt6_2b); }},
    Entry{"gpt_22b", [] { return decoder("gpt_22b", kGpt22b); }},
    Entry{"gpt_175b", [] { return decoder("gpt_175b", kGpt175b); }},
    Entry{"llama_7b", [] { return decoder("llama_7b", kLlama7b); }},
    Entry{"llama3_8b", [] { return decoder("llama3_8b", kLlama3_8b); }},
    Entry{"mixtral_8x7b", [] { return decoder("mixtral_8x7b", kMixtral); }}};

}  // namespace of_decoders

std::span<const Entry> decoders() {
    return of_decoders::kEntries;
}

}  // namespace switchfold::zoo
