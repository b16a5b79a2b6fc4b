// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/data/samples.h"
#include "training/learning/network/network.h"
#include "training/learning/replicas/batch_parts.h"
#include "training/learning/task/task.h"

#include <cstdint>
#include <vector>

namespace switchfold::learning {

/// The undivided network of a data-parallel replica.
class WholeNetwork {
public:
    /// Looks at the watch within long passes. Task, samples and watch must outlive it.
    WholeNetwork(const Task& task, Samples& samples, const Watch& watch);

    /// Results of a forward and backward pass.
    struct Pass {
        std::vector<Tape> tapes;
        double loss = 0;  ///< summed over the samples
    };
    /// `step` counts from 0.
    [[nodiscard]] Pass pass(const Vector& weights, std::uint32_t step, const BatchPart& part) const;
    /// Adds the gradient, sample by sample.
    void add_gradient(const Pass& pass, Vector& gradient) const;
    /// Gradient of the samples' mean loss.
    [[nodiscard]] Vector mean_gradient(const Pass& pass, const BatchPart& part) const;

    [[nodiscard]] Vector initial_weights(std::uint64_t seed) const;
    [[nodiscard]] Index parameters() const { return net_.front().parameters(); }
    [[nodiscard]] const std::vector<Stage>& stages() const { return net_; }
    [[nodiscard]] const Samples& samples() const { return samples_; }

private:
    const Task& task_;
    Samples& samples_;
    Network network_;
    std::vector<Stage> net_;
};

}  // namespace switchfold::learning
