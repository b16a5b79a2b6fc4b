// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/strategies/data_parallel.h"

#include <cstdint>
#include <numeric>
#include <vector>

namespace switchfold {

/// Gradients that are ready, gathered in buckets in the order of the backward pass. A full one is
/// reduced by a collective of one kind.
class GradientBuckets {
public:
    GradientBuckets(StepBuilder& step, const DataParallelOptions& options, CollectiveKind kind) :
        step_(step), options_(options), kind_(kind) {}

    void add(const Layer& layer);
    /// What is left travels as a last bucket.
    void flush();
    /// The next kernel waits for the last bucket.
    void wait_for_all() {
        if (!parameters_.empty())
            step_.wait_for(last_);
    }
    /// Of the buckets that travel, in this order.
    [[nodiscard]] const std::vector<std::uint64_t>& parameters() const { return parameters_; }
    [[nodiscard]] std::uint64_t all_parameters() const {
        return std::accumulate(parameters_.begin(), parameters_.end(), pending_);
    }

private:
    StepBuilder& step_;
    const DataParallelOptions& options_;
    CollectiveKind kind_;
    std::uint64_t pending_ = 0;  ///< parameters
    std::vector<std::uint64_t> parameters_;
    StepBuilder::Index last_ = 0;
};

}  // namespace switchfold
