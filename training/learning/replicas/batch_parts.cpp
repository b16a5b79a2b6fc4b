// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/batch_parts.h"

#include "core/error.h"

#include <numeric>

namespace switchfold::learning {

std::vector<BatchPart>
parts_of(std::uint32_t batch, std::uint32_t takers, const std::vector<std::uint32_t>& shares) {
    SWITCHFOLD_CHECK(
        shares.empty() || shares.size() == takers, "{} shares for {}", shares.size(), takers);
    const std::uint64_t all =
        shares.empty() ? takers : std::accumulate(shares.begin(), shares.end(), std::uint64_t{0});
    std::vector<BatchPart> parts;
    std::uint64_t before = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t r = 0; r < takers; ++r) {
        before += shares.empty() ? 1 : shares[r];
        const auto end = static_cast<std::uint32_t>(before * batch / all);
        parts.push_back({begin, end});
        begin = end;
    }
    return parts;
}

}  // namespace switchfold::learning
