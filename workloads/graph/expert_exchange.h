// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Data type in which dispatched tokens travel. Combines use bfloat16.
enum class ExpertPayload : std::uint8_t {
    kBfloat16,
    kFloat8,  ///< with a float32 scale per 128 elements
    kNvfp4,   ///< with a one-byte scale per 16 elements
};

/// How tokens choose experts.
enum class ExpertRouting : std::uint8_t {
    kRandom,    ///< distinct experts, equally likely
    kBalanced,  ///< neighbouring ranks in turn, equally many copies for each
    kSkewed,    ///< distinct experts, expert e with weight 1 / (e + 1)^skew
};

/// The tokens of a mixture-of-experts layer that travel to their experts and back.
struct ExpertExchange {
    std::uint32_t tokens = 0;   ///< per rank; with `splits`, those of the rank with the most
    std::uint32_t hidden = 0;   ///< elements per token
    std::uint32_t top_k = 0;    ///< experts that a token chooses
    std::uint32_t experts = 0;  ///< divided evenly over the ranks, in blocks
    ExpertPayload payload = ExpertPayload::kFloat8;
    ExpertRouting routing = ExpertRouting::kRandom;
    double skew = 0;
    std::uint64_t seed = 1;
    /// Rows of tokens, one for each expert that a token chooses: by the rank of the tokens and that
    /// of the experts, at from * ranks + to. Empty: `routing` says.
    std::vector<std::uint32_t> splits;
    bool operator==(const ExpertExchange&) const = default;
};

/// Bytes of a token's elements, without scales, and of its scales.
struct TokenBytes {
    std::uint64_t elements = 0;
    std::uint64_t scales = 0;
    [[nodiscard]] std::uint64_t all() const { return elements + scales; }
};
[[nodiscard]] constexpr TokenBytes token_bytes(ExpertPayload payload, std::uint64_t hidden) {
    constexpr std::uint64_t kElementsOfFloat = 128;
    constexpr std::uint64_t kElementsOfByte = 16;
    switch (payload) {
    case ExpertPayload::kFloat8:
        return {hidden, hidden / kElementsOfFloat * sizeof(float)};
    case ExpertPayload::kNvfp4:
        return {hidden / 2, hidden / kElementsOfByte};
    case ExpertPayload::kBfloat16:
        break;
    }
    return {2 * hidden, 0};
}

}  // namespace switchfold
