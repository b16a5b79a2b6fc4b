// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/numerics/matrix.h"

#include <cstdint>

namespace switchfold::learning {

enum class OptimizerRule : std::uint8_t {
    /// v = m v + (1 - m) g; w -= rate v. An average of gradients, as SpecTrain has it.
    kAveragedMomentum,
    /// v = m v + g; w -= rate v. As PyTorch has it: 1/(1 - m) times the step.
    kMomentum,
    kAdam,   ///< decay is added to the gradient
    kAdamW,  ///< decay is taken off the weights (Loshchilov and Hutter 2019)
};

struct OptimizerSpec {
    OptimizerRule rule = OptimizerRule::kAveragedMomentum;
    double rate = 0.1;
    double momentum = 0.9;  ///< Adam's beta 1
    double second = 0.999;  ///< Adam's beta 2
    double epsilon = 1e-8;
    double decay = 0;
};

/// A stage's weights after so many updates, and what the optimizer keeps beside them.
struct Version {
    std::uint64_t updates = 0;
    Vector weights;
    Vector first;             ///< velocity, or Adam's first moment
    Vector second;            ///< Adam's second moment; else empty
    double first_power = 1;   ///< beta 1 to the number of updates
    double second_power = 1;  ///< beta 2 likewise
};

[[nodiscard]] Version initial_version(const OptimizerSpec& spec, Vector weights);
/// `scale`: of the learning rate.
[[nodiscard]] Version
updated(const OptimizerSpec& spec, const Version& from, Vector gradient, double scale = 1);
/// The weights that so many more updates would make if each were the last one again: w - s rate v;
/// of Adam with its moments.
[[nodiscard]] Vector predicted(const OptimizerSpec& spec, const Version& from, double ahead);

}  // namespace switchfold::learning
