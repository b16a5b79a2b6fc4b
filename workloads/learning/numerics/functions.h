// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/random_stream.h"

#include <cstdint>
#include <string_view>

namespace switchfold::learning {

/// The C library's functions choose their code by the processor and differ in the last bit. These
/// use sums, products and quotients alone, so that every machine trains the same weights. Relative
/// error below 1e-14; tanh near 0 has that error of 1 instead.
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
