// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/task/task.h"

#include <cstdint>

namespace switchfold::learning {

/// After which steps replicas exchange weights.
class ExchangeSteps {
public:
    explicit ExchangeSteps(const Task& task) : task_(task) {}

    /// Whether they do after this step, from 1 on, whose samples had this loss on average. To be
    /// asked once for each step, in order.
    [[nodiscard]] bool after(std::uint32_t step, double loss);

private:
    [[nodiscard]] bool adaptive(std::uint32_t step, double loss);

    const Task& task_;
    double first_loss_ = 0;
    double sum_ = 0;  ///< of the losses since the last exchange
    std::uint32_t last_ = 0;
    std::uint32_t interval_ = 0;
};

}  // namespace switchfold::learning
