// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace switchfold::validation {

/// 0 to count - 1, the longest first, so that short ones fill the cores at the end; equal ones in
/// order. `work` of an index: about, against that of the others.
template <class Work>
[[nodiscard]] std::vector<std::size_t> longest_first(std::size_t count, const Work& work) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), work);
    return order;
}

}  // namespace switchfold::validation
