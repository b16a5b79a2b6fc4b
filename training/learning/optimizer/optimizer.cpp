// SPDX-License-Identifier: Apache-2.0
#include "training/learning/optimizer/optimizer.h"

#include <cmath>
#include <cstring>
#include <utility>

namespace switchfold::learning {

namespace {

bool is_adam(const OptimizerSpec& spec) {
    return spec.rule == OptimizerRule::kAdam || spec.rule == OptimizerRule::kAdamW;
}

/// The vector that the learning rate multiplies.
Vector direction(const OptimizerSpec& spec, const Version& version) {
    if (!is_adam(spec) || version.updates == 0)
        return version.first;
    const double first = 1 - version.first_power;
    const double second = 1 - version.second_power;
    Vector step(version.first.size());
    for (Index i = 0; i < step.size(); ++i)
        step[i] = version.first[i] / first / (std::sqrt(version.second[i] / second) + spec.epsilon);
    return step;
}

bool same_bits(const Vector& a, const Vector& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) ==
               0;
}

}  // namespace

bool identical(const Version& a, const Version& b) {
    return a.updates == b.updates && a.first_power == b.first_power &&
           a.second_power == b.second_power && same_bits(a.weights, b.weights) &&
           same_bits(a.first, b.first) && same_bits(a.second, b.second);
}

std::uint32_t moments_of(const OptimizerSpec& spec) {
    return is_adam(spec) ? 2 : 1;
}

Version initial_version(const OptimizerSpec& spec, Vector weights) {
    Version version;
    version.first = Vector::Zero(weights.size());
    if (is_adam(spec))
        version.second = Vector::Zero(weights.size());
    version.weights = std::move(weights);
    return version;
}

Version updated(const OptimizerSpec& spec, const Version& from, Vector gradient, double scale) {
    if (spec.decay != 0 && spec.rule != OptimizerRule::kAdamW)
        gradient += spec.decay * from.weights;
    Version to = from;
    ++to.updates;
    const double share = spec.rule == OptimizerRule::kMomentum ? 1 : 1 - spec.momentum;
    to.first = spec.momentum * from.first + share * gradient;
    if (is_adam(spec)) {
        to.second =
            spec.second * from.second + (1 - spec.second) * gradient.array().square().matrix();
        to.first_power = from.first_power * spec.momentum;
        to.second_power = from.second_power * spec.second;
    }
    const double rate = spec.rate * scale;
    if (spec.rule == OptimizerRule::kAdamW)
        to.weights -= rate * spec.decay * from.weights;
    to.weights -= rate * direction(spec, to);
    return to;
}

Vector predicted(const OptimizerSpec& spec, const Version& from, double ahead) {
    return from.weights - (ahead * spec.rate) * direction(spec, from);
}

}  // namespace switchfold::learning
