// SPDX-License-Identifier: Apache-2.0
#include "training/learning/numerics/functions.h"

#include <bit>
#include <cmath>

namespace switchfold::learning {

namespace {

// ln 2 in two parts; the first ends in zero bits, so that its product with a small integer is
// exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

}  // namespace

double exponential(double x) {
    constexpr double kLargest = 709;
    constexpr double kSmallest = -708;
    if (std::isnan(x))
        return x;
    if (x > kLargest)
        return HUGE_VAL;
    if (x < kSmallest)
        return 0;
    const double n = std::floor(x / kLn2 + 0.5);
    const double r = (x - n * kLn2High) - n * kLn2Low;
    // Taylor series by Horner's rule: |r| < 0.35, so the remainder after 14 terms is below 1e-17.
    double sum = 1;
    for (int k = 13; k > 0; --k)
        sum = 1 + r / k * sum;
    // 2 to the n by its bits: both are normal numbers here, and std::ldexp() takes a tenth of a
    // training's time.
    constexpr int kBias = 1023;
    constexpr int kMantissaBits = 52;
    const auto exponent = static_cast<std::uint64_t>(static_cast<int>(n) + kBias);
    return sum * std::bit_cast<double>(exponent << kMantissaBits);
}

double logarithm(double x) {
    int exponent = 0;
    double mantissa = std::frexp(x, &exponent);  // in [0.5, 1)
    constexpr double kRootOfHalf = 0x1.6a09e667f3bcdp-1;
    if (mantissa < kRootOfHalf) {
        mantissa *= 2;
        --exponent;
    }
    // ln m = 2 artanh z with z = (m - 1) / (m + 1), |z| < 0.172.
    const double z = (mantissa - 1) / (mantissa + 1);
    const double square = z * z;
    double sum = 0;
    for (int k = 21; k > 0; k -= 2)
        sum = sum * square + 1.0 / k;
    return exponent * kLn2High + (2 * z * sum + exponent * kLn2Low);
}

double hyperbolic_tangent(double x) {
    constexpr double kFlat = 20;  // 1 - tanh is less than half a unit in the last place
    if (std::isnan(x))
        return x;
    if (x > kFlat)
        return 1;
    if (x < -kFlat)
        return -1;
    return 1 - 2 / (exponential(2 * x) + 1);
}

double Normals::next() {
    if (has_other_) {
        has_other_ = false;
        return other_;
    }
    double a = 0;
    double b = 0;
    double square = 0;
    do {
        a = 2 * random_.share() - 1;
        b = 2 * random_.share() - 1;
        square = a * a + b * b;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * logarithm(square) / square);
    other_ = b * factor;
    has_other_ = true;
    return a * factor;
}

}  // namespace switchfold::learning
