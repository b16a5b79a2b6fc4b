// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/numerics/matrix.h"

#include <cstdint>

namespace switchfold::learning {

enum class LossKind : std::uint8_t {
    kSquares,       ///< half the squared distance of output and target
    kCrossEntropy,  ///< of the outputs' softmax; the target's rows are shares of the classes that
                    ///< add up to 1
    kLastRow,       ///< the output's last row is the loss
};

struct Loss {
    double sum = 0;   ///< over the samples in order, each times `share`
    Matrix gradient;  ///< of that sum with respect to the output
};

[[nodiscard]] Loss
loss_of(LossKind kind, const Matrix& outputs, const Matrix& targets, double share);

}  // namespace switchfold::learning
