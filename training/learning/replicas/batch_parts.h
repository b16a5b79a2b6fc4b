// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Samples of a batch that one replica or micro-batch computes.
struct BatchPart {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    [[nodiscard]] std::uint32_t count() const { return end - begin; }
};

/// Divides the batch into consecutive parts in proportion to the shares, rounded to whole samples;
/// evenly without shares.
[[nodiscard]] std::vector<BatchPart>
parts_of(std::uint32_t batch, std::uint32_t takers, const std::vector<std::uint32_t>& shares = {});

}  // namespace switchfold::learning
