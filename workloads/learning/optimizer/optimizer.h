// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/numerics/matrix.h"
#include "workloads/learning/task/task.h"

#include <cstdint>

namespace switchfold::learning {

/// A stage's weights after so many updates, and what the optimizer keeps beside them.
struct Version {
    std::uint64_t updates = 0;
    Vector weights;
    Vector first;             ///< velocity, or Adam's first moment
    Vector second;            ///< Adam's second moment; else empty
    double first_power = 1;   ///< beta 1 to the number of updates
    double second_power = 1;  ///< beta 2 likewise
};

/// Bit for bit, moments included.
[[nodiscard]] bool identical(const Version& a, const Version& b);
/// Arrays as large as the weights that a version keeps beside them.
[[nodiscard]] std::uint32_t moments_of(const OptimizerSpec& spec);

[[nodiscard]] Version initial_version(const OptimizerSpec& spec, Vector weights);
/// `scale`: of the learning rate.
[[nodiscard]] Version
updated(const OptimizerSpec& spec, const Version& from, Vector gradient, double scale = 1);
/// The weights that so many more updates would make if each were the last one again: w - s rate v;
/// of Adam with its moments.
[[nodiscard]] Vector predicted(const OptimizerSpec& spec, const Version& from, double ahead);

}  // namespace switchfold::learning
