// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/kernel_speed.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

Roofline make_roofline(MemoryShare memory, double sharpness) {
    Roofline roofline;
    roofline.sharpness = sharpness;
    const double used = std::pow(memory.hbm, sharpness) + std::pow(memory.l2, sharpness);
    if (used > 1.0) {
        const double scale = std::pow(1.0 / used, 1.0 / sharpness);
        memory.hbm *= scale;
        memory.l2 *= scale;
        roofline.clipped = true;
        roofline.sm = 0;
    } else {
        roofline.sm = std::pow(1.0 - used, 1.0 / sharpness);
    }
    roofline.memory = memory;
    return roofline;
}

double wave_stretch(const Roofline& roofline, double hbm, double l2) {
    if (hbm == 1.0 && l2 == 1.0)
        return 1.0;
    const double p = roofline.sharpness;
    return std::pow(
        std::pow(roofline.sm, p) + std::pow(roofline.memory.hbm * hbm, p) +
            std::pow(roofline.memory.l2 * l2, p),
        1.0 / p);
}

}  // namespace switchfold
