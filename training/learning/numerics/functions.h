// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/random_stream.h"

#include <cstdint>
#include <string_view>

namespace switchfold::learning {

/// Portable elementary functions: the C library's versions depend on the processor and differ in
/// the last bit. These use only sums, products and quotients, so every machine trains identical
/// weights. Relative error below 1e-14; near 0, tanh has that error relative to 1.
[[nodiscard]] double exponential(double x);
[[nodiscard]] double logarithm(double x);  ///< of a positive, finite number
[[nodiscard]] double hyperbolic_tangent(double x);

/// Independent draws with mean 0 and variance 1 (Marsaglia's polar method, 1964).
class Normals {
public:
    Normals(std::uint64_t seed, std::string_view name) : random_(seed, name) {}
    double next();
    RandomStream& uniform() { return random_; }

private:
    RandomStream random_;
    double other_ = 0;
    bool has_other_ = false;
};

}  // namespace switchfold::learning
