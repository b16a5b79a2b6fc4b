// SPDX-License-Identifier: Apache-2.0
#include "core/random_stream.h"

#include "core/error.h"
#include "core/fnv.h"

namespace switchfold {

namespace {

constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;  // 2^64 over the golden ratio, odd

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) :
    state_(mix_bits(mix_bits(seed + kStep) + Fnv().add(name).value())) {}

std::uint64_t RandomStream::next() {
    state_ += kStep;
    return mix_bits(state_);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
    SWITCHFOLD_CHECK(bound > 0, "nothing is below 0");
    if ((bound & (bound - 1)) == 0)
        return next() & (bound - 1);
    // Values above the last whole multiple of the bound would bias the result towards small
    // remainders.
    const std::uint64_t excess = (0 - bound) % bound;  // 2^64 modulo bound
    std::uint64_t value = next();
    while (value < excess)
        value = next();
    return value % bound;
}

double RandomStream::share() {
    return static_cast<double>(next() >> 11U) * 0x1p-53;
}

}  // namespace switchfold
