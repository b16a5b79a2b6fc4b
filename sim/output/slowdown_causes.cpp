// SPDX-License-Identifier: Apache-2.0
#include "sim/output/slowdown_causes.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

std::vector<const Cause*> shown_causes(const std::vector<const SlowdownByCause*>& all) {
    // Prints as 0.0 % below this.
    constexpr double kNothing = 5e-4;
    std::vector<const Cause*> shown;
    for (const Cause& cause : kCauses)
        if (!cause.rare || std::any_of(all.begin(), all.end(), [&](const SlowdownByCause* causes) {
                return std::abs(causes->*cause.member) >= kNothing;
            }))
            shown.push_back(&cause);
    return shown;
}

}  // namespace switchfold
