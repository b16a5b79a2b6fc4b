// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/numerics/functions.h"
#include "training/learning/numerics/matrix.h"

#include <memory>
#include <vector>

namespace switchfold::learning {

/// Part of a gradient: left right' is to be added to the weights' gradient from `offset` on. Sums
/// are formed at the update, sample by sample in batch order, regardless of when each part was
/// computed. Hence every schedule that waits for all samples gives identical bits.
struct OuterProduct {
    Index offset = 0;
    Matrix left;
    Matrix right;
};

/// Data that a forward leaves for the backward of the same samples, and the gradients computed by
/// the latter.
struct Tape {
    std::vector<Matrix> kept;
    std::vector<OuterProduct> products;
};

/// A unit of a network that is never cut. Weights of a stage lie in one array.
class Layer {
public:
    Layer() = default;
    virtual ~Layer() = default;
    Layer(const Layer&) = delete;
    Layer& operator=(const Layer&) = delete;

    [[nodiscard]] virtual Index parameters() const = 0;
    virtual void initialise(Normals& random, double* weights) const = 0;
    [[nodiscard]] virtual Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const = 0;
    /// Takes `gradient` of the output; \returns that of the input.
    [[nodiscard]] virtual Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const = 0;
};

enum class Activation { kNone, kTanh };

/// activation(W x + b).
[[nodiscard]] std::unique_ptr<Layer>
dense_layer(Index inputs, Index outputs, Activation activation);
/// x + W2 tanh(W1 x + b1) + b2, with small initial W2.
[[nodiscard]] std::unique_ptr<Layer> residual_block(Index width, Index inside);
/// Attention among a sample's tokens, then a residual block for each token, both on normalised
/// inputs (pre-norm without gain).
[[nodiscard]] std::unique_ptr<Layer>
transformer_block(Index tokens, Index width, Index heads, Index inside);
/// Splits a sample's features into tokens, maps each to the width, and adds a vector per position.
[[nodiscard]] std::unique_ptr<Layer> token_input(Index tokens, Index features, Index width);
/// Maps the mean of a sample's tokens to the outputs.
[[nodiscard]] std::unique_ptr<Layer> token_output(Index tokens, Index width, Index outputs);
/// Passes its input on and adds curvature/2 |w|^2 + w n to the last row, with n the layer's own
/// input rows, from `first` on: a quadratic bowl with gradient noise.
[[nodiscard]] std::unique_ptr<Layer>
quadratic_layer(Index parameters, Index first, double curvature, double start);

}  // namespace switchfold::learning
