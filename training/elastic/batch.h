// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace switchfold::elastic {

/// Treatment of the batch when the number of members changes.
enum class Keep : std::uint8_t {
    kGlobalBatch,  ///< its samples are redistributed
    kPerGpu,       ///< each member keeps its share
};

/// Samples of a step over members: the first `more` members have one more than the others.
struct BatchShare {
    std::uint32_t least = 0;
    std::uint32_t more = 0;
    [[nodiscard]] std::uint32_t most() const { return least + (more > 0 ? 1 : 0); }
};
[[nodiscard]] constexpr BatchShare share_of(std::uint32_t samples, std::uint32_t members) {
    return {samples / members, samples % members};
}

/// The fewest micro-batches of equal size, at most `largest`, that hold the samples; the last one
/// is padded if necessary.
struct MicroBatches {
    std::uint32_t count = 1;
    std::uint32_t size = 1;
};
[[nodiscard]] constexpr MicroBatches
micro_batches_of(std::uint32_t samples, std::uint32_t largest) {
    const std::uint32_t count = (samples + largest - 1) / largest;
    return {count, (samples + count - 1) / count};
}

}  // namespace switchfold::elastic
