// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/data/samples.h"
#include "training/learning/network/network.h"
#include "training/learning/train/run.h"

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// Adds a point with the loss of the held-out samples for the stages' weights; records divergence.
void measure(
    TrainingRun& run, LossPoint point, const Samples& samples, const std::vector<Stage>& stages,
    const std::vector<Vector>& weights);

/// Hash of the weights' bits.
[[nodiscard]] std::uint64_t digest_of(const std::vector<Vector>& weights);

}  // namespace switchfold::learning
