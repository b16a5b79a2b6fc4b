// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/kernel_speed.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {

// Fast path for the default exponent, since these run for every kernel and every change of load.
constexpr double kFour = 4;

double power(double x, double p) {
    return p == kFour ? x * x * (x * x) : std::pow(x, p);
}
double root(double x, double p) {
    return p == kFour ? std::sqrt(std::sqrt(x)) : std::pow(x, 1.0 / p);
}

}  // namespace

Roofline make_roofline(MemoryShare memory, double sharpness) {
    Roofline roofline;
    roofline.sharpness = sharpness;
    const double used = power(memory.hbm, sharpness) + power(memory.l2, sharpness);
    if (used > 1.0) {
        const double scale = root(1.0 / used, sharpness);
        memory.hbm *= scale;
        memory.l2 *= scale;
        roofline.clipped = true;
        roofline.sm = 0;
    } else {
        roofline.sm = root(1.0 - used, sharpness);
    }
    roofline.memory = memory;
    return roofline;
}

double wave_stretch(const Roofline& roofline, const WaveParts& parts) {
    if (parts == WaveParts{})
        return 1.0;
    const double p = roofline.sharpness;
    return root(
        power(roofline.sm * parts.sm, p) + power(roofline.memory.hbm * parts.hbm, p) +
            power(roofline.memory.l2 * parts.l2, p),
        p);
}

}  // namespace switchfold
