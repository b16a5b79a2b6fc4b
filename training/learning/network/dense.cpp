// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/affine.h"
#include "training/learning/network/layer.h"

#include <cmath>

namespace switchfold::learning {

namespace {

class Dense : public Layer {
public:
    Dense(Index inputs, Index outputs, Activation activation) :
        map_{0, inputs, outputs}, activation_(activation) {}

    [[nodiscard]] Index parameters() const override { return map_.parameters(); }
    void initialise(Normals& random, double* weights) const override {
        map_.initialise(random, weights);
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        Matrix output = map_.apply(weights, input);
        if (activation_ == Activation::kTanh)
            output = output.unaryExpr(&hyperbolic_tangent);
        tape.kept = {input, output};
        return output;
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        Matrix inside = gradient;
        if (activation_ == Activation::kTanh)
            inside.array() *= 1 - tape.kept[1].array().square();
        return map_.back(weights, tape.kept[0], std::move(inside), tape);
    }

private:
    AffineMap map_;
    Activation activation_;
};

class ResidualBlock : public Layer {
public:
    ResidualBlock(Index width, Index inside) :
        first_{0, width, inside}, second_{first_.parameters(), inside, width} {}

    [[nodiscard]] Index parameters() const override {
        return first_.parameters() + second_.parameters();
    }
    void initialise(Normals& random, double* weights) const override {
        first_.initialise(random, weights);
        second_.initialise(random, weights, kSmall);
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        const Matrix inside = first_.apply(weights, input).unaryExpr(&hyperbolic_tangent);
        tape.kept = {input, inside};
        return input + second_.apply(weights, inside);
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        Matrix inside = second_.back(weights, tape.kept[1], gradient, tape);
        inside.array() *= 1 - tape.kept[1].array().square();
        return gradient + first_.back(weights, tape.kept[0], std::move(inside), tape);
    }

private:
    static constexpr double kSmall = 0.5;  // keeps the sum over many blocks small
    AffineMap first_;
    AffineMap second_;
};

}  // namespace

void AffineMap::initialise(Normals& random, double* weights, double scale) const {
    const double deviation = scale / std::sqrt(static_cast<double>(inputs));
    for (Index i = 0; i < outputs * inputs; ++i)
        weights[offset + i] = deviation * random.next();
    for (Index i = 0; i < outputs; ++i)
        weights[offset + outputs * inputs + i] = 0;
}

Matrix AffineMap::apply(const double* weights, const Matrix& input) const {
    const Eigen::Map<const Vector> bias(weights + offset + outputs * inputs, outputs);
    Matrix output = bias.replicate(1, input.cols());
    add_product(Weights(weights + offset, outputs, inputs), input, output);
    return output;
}

Matrix
AffineMap::back(const double* weights, const Matrix& input, Matrix gradient, Tape& tape) const {
    Matrix result = Matrix::Zero(inputs, input.cols());
    add_product_of_transposed(Weights(weights + offset, outputs, inputs), gradient, result);
    tape.products.push_back(
        {offset + outputs * inputs, gradient, Matrix::Ones(1, gradient.cols())});
    tape.products.push_back({offset, std::move(gradient), input});
    return result;
}

std::unique_ptr<Layer> dense_layer(Index inputs, Index outputs, Activation activation) {
    return std::make_unique<Dense>(inputs, outputs, activation);
}

std::unique_ptr<Layer> residual_block(Index width, Index inside) {
    return std::make_unique<ResidualBlock>(width, inside);
}

}  // namespace switchfold::learning
