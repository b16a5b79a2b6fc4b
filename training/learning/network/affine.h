// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/network/layer.h"

namespace switchfold::learning {

/// W x + b; W and then b start at `offset` in a layer's weights.
struct AffineMap {
    Index offset = 0;
    Index inputs = 0;
    Index outputs = 0;

    [[nodiscard]] Index parameters() const { return outputs * (inputs + 1); }
    /// Initialises W with mean 0 and variance scale^2/inputs, b with zeros.
    void initialise(Normals& random, double* weights, double scale = 1) const;
    [[nodiscard]] Matrix apply(const double* weights, const Matrix& input) const;
    /// \returns the gradient of the input; gradients of W and b go onto the tape.
    [[nodiscard]] Matrix
    back(const double* weights, const Matrix& input, Matrix gradient, Tape& tape) const;
};

}  // namespace switchfold::learning
