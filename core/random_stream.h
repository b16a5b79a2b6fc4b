// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace switchfold {

/// A number each bit of which depends on all bits of `z`: the finaliser of SplitMix64.
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31U);
}

/// Random numbers determined by a seed and a name alone: equal on every platform, which the
/// standard library's distributions do not promise, and independent of other streams. Give every
/// use its own name. SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014) from a start that mixes seed and name; two streams of n draws overlap
/// with probability n / 2^63.
class RandomStream {
public:
    RandomStream(std::uint64_t seed, std::string_view name);

    /// 64 uniform bits.
    std::uint64_t next();
    /// Uniform in [0, bound), without bias. `bound` must not be 0.
    std::uint64_t below(std::uint64_t bound);
    /// Uniform in [0, 1), a multiple of 2^-53.
    double share();

private:
    std::uint64_t state_;
};

}  // namespace switchfold
