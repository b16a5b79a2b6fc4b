// SPDX-License-Identifier: Apache-2.0
#include "training/learning/train/measure.h"

#include "core/fnv.h"

#include <cmath>
#include <optional>
#include <string_view>

namespace switchfold::learning {

void measure(
    TrainingRun& run, LossPoint point, const Samples& samples, const std::vector<Stage>& stages,
    const std::vector<Vector>& weights) {
    const Batch& batch = samples.held_out();
    Matrix values = batch.inputs;
    std::vector<Tape> tapes;
    for (std::size_t s = 0; s < stages.size(); ++s)
        values = stages[s].forward(weights[s], values, tapes);
    const double share = 1.0 / static_cast<double>(batch.inputs.cols());
    point.loss = loss_of(samples.loss(), values, batch.targets, share).sum;
    run.losses.push_back(point);
    constexpr double kBeyond = 1e6;  // multiple of the initial loss
    if (!std::isfinite(point.loss) ||
        std::abs(point.loss) > kBeyond * (1 + std::abs(run.losses.front().loss)))
        run.diverged = {point.step, point.loss};
}

std::uint64_t digest_of(const std::vector<Vector>& weights) {
    Fnv digest;
    for (const Vector& part : weights)
        digest.add(std::string_view(
            reinterpret_cast<const char*>(part.data()),
            static_cast<std::size_t>(part.size()) * sizeof(double)));
    return digest.value();
}

double Distance::root_of_used() const {
    return numbers > 0 ? std::sqrt(used / numbers) : 0;
}

double Distance::root_of_stale() const {
    return numbers > 0 ? std::sqrt(stale / numbers) : 0;
}

std::optional<LossPoint> reached(const TrainingRun& run, double target) {
    for (const LossPoint& point : run.losses)
        if (point.loss <= target)
            return point;
    return {};
}

}  // namespace switchfold::learning
