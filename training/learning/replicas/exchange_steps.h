// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/task/task.h"

#include <cstdint>

namespace switchfold::learning {

/// Decides after which steps replicas exchange weights.
class ExchangeSteps {
public:
    explicit ExchangeSteps(const Task& task) : task_(task) {}

    /// Whether replicas exchange after this step (from 1), whose samples had mean loss `loss`. Call
    /// once per step, in order.
    [[nodiscard]] bool after(std::uint32_t step, double loss);

private:
    [[nodiscard]] bool adaptive(std::uint32_t step, double loss);

    const Task& task_;
    double first_loss_ = 0;
    double sum_ = 0;  ///< of losses since the last exchange
    std::uint32_t last_ = 0;
    std::uint32_t interval_ = 0;
};

}  // namespace switchfold::learning
