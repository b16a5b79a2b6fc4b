// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/numerics/matrix.h"
#include "training/learning/task/task.h"

#include <cstdint>

namespace switchfold::learning {

/// A stage's weights after a number of updates, with the optimizer's state.
struct Version {
    std::uint64_t updates = 0;
    Vector weights;
    Vector first;             ///< velocity, or Adam's first moment
    Vector second;            ///< Adam's second moment; else empty
    double first_power = 1;   ///< beta 1 to the number of updates
    double second_power = 1;  ///< beta 2 likewise
};

/// Compares bit for bit, including moments.
[[nodiscard]] bool identical(const Version& a, const Version& b);
/// Number of state arrays, each as large as the weights, that a version keeps besides them.
[[nodiscard]] std::uint32_t moments_of(const OptimizerSpec& spec);

[[nodiscard]] Version initial_version(const OptimizerSpec& spec, Vector weights);
/// `scale`: factor on the learning rate.
[[nodiscard]] Version
updated(const OptimizerSpec& spec, const Version& from, Vector gradient, double scale = 1);
/// The weights after `ahead` further updates if each repeated the last one: w - s rate v; for Adam
/// with its moments.
[[nodiscard]] Vector predicted(const OptimizerSpec& spec, const Version& from, double ahead);

}  // namespace switchfold::learning
