// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/gradient_sums.h"

#include <cstddef>
#include <utility>

namespace switchfold::learning {

Vector rounded_sum(const GradientSums& sums, const std::vector<Vector>& of_replicas) {
    const auto numbers = static_cast<std::size_t>(of_replicas.front().size());
    const auto rounded = [](const GradientSums::Rounds& rounds, std::vector<float>& values) {
        if (rounds)
            rounds(values);
    };
    std::vector<float> sum;
    for (const Vector& gradient : of_replicas) {
        std::vector<float> operands(numbers);
        for (std::size_t i = 0; i < numbers; ++i)
            operands[i] = static_cast<float>(gradient[static_cast<Index>(i)]);
        rounded(sums.sent, operands);
        if (sum.empty()) {
            sum = std::move(operands);
            continue;
        }
        for (std::size_t i = 0; i < numbers; ++i)
            sum[i] += operands[i];
        rounded(sums.added, sum);
    }
    rounded(sums.received, sum);
    Vector out(static_cast<Index>(numbers));
    for (std::size_t i = 0; i < numbers; ++i)
        out[static_cast<Index>(i)] = double{sum[i]};
    return out;
}

}  // namespace switchfold::learning
