// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/learning/numerics/functions.h"
#include "workloads/learning/numerics/matrix.h"

#include <memory>
#include <vector>

namespace switchfold::learning {

/// Part of a gradient: left right' is added to the weights' gradient from `offset` on. It is summed
/// up when the update comes, sample by sample in the order of the batch, whoever computed it when:
/// so every schedule that waits for all samples gives the same bits.
struct OuterProduct {
    Index offset = 0;
    Matrix left;
    Matrix right;
};

/// What a forward leaves for the backward of the same samples, and the gradients that that makes.
struct Tape {
    std::vector<Matrix> kept;
    std::vector<OuterProduct> products;
};

/// A piece of a network that is never cut. Weights lie in one array of a stage.
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
    /// \returns the gradient of the input. Takes `gradient`, that of the output.
    [[nodiscard]] virtual Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const = 0;
};

enum class Activation { kNone, kTanh };

/// activation(W x + b).
[[nodiscard]] std::unique_ptr<Layer>
dense_layer(Index inputs, Index outputs, Activation activation);
/// x + W2 tanh(W1 x + b1) + b2, where W2 begins small.
[[nodiscard]] std::unique_ptr<Layer> residual_block(Index width, Index inside);
/// Attention of a sample's tokens to each other and a residual block for each token, both on
/// normalised inputs (pre-norm without gain).
[[nodiscard]] std::unique_ptr<Layer>
transformer_block(Index tokens, Index width, Index heads, Index inside);
/// A sample's features cut into tokens, each mapped to the width, plus a vector by its place.
[[nodiscard]] std::unique_ptr<Layer> token_input(Index tokens, Index features, Index width);
/// The mean of a sample's tokens, mapped to the outputs.
[[nodiscard]] std::unique_ptr<Layer> token_output(Index tokens, Index width, Index outputs);
/// Passes its input on and adds curvature/2 |w|^2 + w n to its last row, where n are its own rows
/// of the input, from `first` on: a bowl whose gradient has noise.
[[nodiscard]] std::unique_ptr<Layer>
quadratic_layer(Index parameters, Index first, double curvature, double start);

}  // namespace switchfold::learning
