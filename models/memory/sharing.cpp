// SPDX-License-Identifier: Apache-2.0
#include "models/memory/sharing.h"

#include <algorithm>
#include <cstddef>

namespace switchfold {

void max_min_share(double capacity, std::span<const double> demands, std::vector<double>& shares) {
    shares.assign(demands.size(), 0.0);
    std::size_t open = demands.size();
    double left = capacity;
    std::vector<bool> served(demands.size(), false);
    while (open > 0) {
        const double equal = left / static_cast<double>(open);
        bool any = false;
        for (std::size_t i = 0; i < demands.size(); ++i)
            if (!served[i] && demands[i] <= equal) {
                shares[i] = demands[i];
                left -= demands[i];
                served[i] = true;
                --open;
                any = true;
            }
        if (any)
            continue;
        for (std::size_t i = 0; i < demands.size(); ++i)
            if (!served[i])
                shares[i] = equal;
        return;
    }
}

}  // namespace switchfold
