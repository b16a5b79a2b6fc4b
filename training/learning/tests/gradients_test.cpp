// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/loss.h"
#include "training/learning/network/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace switchfold::learning::gradients_test {
namespace {

struct Case {
    std::string name;
    NetworkShape shape;
    LossKind loss;
};

class Gradients : public ::testing::TestWithParam<Case> {};

Matrix drawn(Index rows, Index columns, const char* name) {
    Normals random(7, name);
    Matrix m(rows, columns);
    for (double& x : m.reshaped())
        x = random.next();
    return m;
}

/// Loss of a network that is cut into stages, and the gradients of all weights.
double loss_with(
    const std::vector<Stage>& stages, const std::vector<Vector>& weights, LossKind kind,
    const Matrix& inputs, const Matrix& targets, std::vector<Vector>* gradients,
    Matrix* input_gradient) {
    std::vector<std::vector<Tape>> tapes(stages.size());
    Matrix values = inputs;
    for (std::size_t s = 0; s < stages.size(); ++s)
        values = stages[s].forward(weights[s], values, tapes[s]);
    Loss loss = loss_of(kind, values, targets, 0.25);
    if (gradients != nullptr) {
        Matrix gradient = loss.gradient;
        gradients->resize(stages.size());
        for (std::size_t s = stages.size(); s-- > 0;) {
            gradient = stages[s].backward(weights[s], gradient, tapes[s]);
            (*gradients)[s] = Vector::Zero(stages[s].parameters());
            stages[s].add_gradients(tapes[s], (*gradients)[s]);
        }
        *input_gradient = gradient;
    }
    return loss.sum;
}

TEST_P(Gradients, AgreeWithFiniteDifferences) {
    const Case& c = GetParam();
    const bool bowl = c.shape.kind == NetworkKind::kQuadratic;
    const Index features = bowl ? Index{c.shape.depth} * c.shape.width + 1 : 6;
    constexpr Index kOutputs = 3;
    constexpr Index kSamples = 4;
    const Network network(c.shape, features, kOutputs);
    Matrix inputs = drawn(features, kSamples, "inputs");
    Matrix targets = drawn(kOutputs, kSamples, "targets");
    if (c.loss == LossKind::kCrossEntropy)
        targets = (Matrix(kOutputs, kSamples) << 1, 0, 0, 0.5, 0, 1, 0, 0.5, 0, 0, 1, 0).finished();
    for (std::uint32_t count = 1; count <= c.shape.depth; ++count) {
        const std::vector<Stage> stages = network.cut(count);
        std::vector<Vector> weights;
        for (const Stage& stage : stages)
            weights.push_back(stage.initial_weights(11));
        std::vector<Vector> gradients;
        Matrix input_gradient;
        const auto loss = [&] {
            return loss_with(stages, weights, c.loss, inputs, targets, nullptr, nullptr);
        };
        (void)loss_with(stages, weights, c.loss, inputs, targets, &gradients, &input_gradient);
        constexpr double kStep = 1e-5;
        const auto slope_at = [&](double& x) {
            const double before = x;
            x = before + kStep;
            const double above = loss();
            x = before - kStep;
            const double below = loss();
            x = before;
            return (above - below) / (2 * kStep);
        };
        for (std::size_t s = 0; s < stages.size(); ++s)
            for (Index i = 0; i < weights[s].size(); i += 3)
                EXPECT_NEAR(gradients[s][i], slope_at(weights[s][i]), 2e-9)
                    << "stage " << s << " weight " << i;
        for (Index i = 0; i < inputs.rows(); ++i)
            for (Index j = 0; j < inputs.cols(); ++j)
                EXPECT_NEAR(input_gradient(i, j), slope_at(inputs(i, j)), 2e-9) << i << ' ' << j;
    }
}

NetworkShape shape_of(NetworkKind kind) {
    NetworkShape shape;
    shape.kind = kind;
    shape.depth = 4;
    shape.width = 6;
    shape.inside = 5;
    shape.tokens = 3;
    shape.heads = 2;
    shape.curvature = 0.7;
    return shape;
}

INSTANTIATE_TEST_SUITE_P(
    Networks, Gradients,
    ::testing::Values(
        Case{"Mlp", shape_of(NetworkKind::kMlp), LossKind::kSquares},
        Case{"MlpOfClasses", shape_of(NetworkKind::kMlp), LossKind::kCrossEntropy},
        Case{"Residual", shape_of(NetworkKind::kResidual), LossKind::kSquares},
        Case{"Transformer", shape_of(NetworkKind::kTransformer), LossKind::kCrossEntropy},
        Case{"Quadratic", shape_of(NetworkKind::kQuadratic), LossKind::kLastRow}),
    [](const auto& tested) { return tested.param.name; });

TEST(Network, PiecesBeginTheSameHoweverTheyAreCut) {
    const Network network(shape_of(NetworkKind::kResidual), 6, 3);
    const Vector whole = network.cut(1).front().initial_weights(5);
    Vector parts(whole.size());
    Index at = 0;
    for (const Stage& stage : network.cut(3)) {
        parts.segment(at, stage.parameters()) = stage.initial_weights(5);
        at += stage.parameters();
    }
    EXPECT_EQ(at, whole.size());
    EXPECT_EQ(parts, whole);
    EXPECT_NE(whole, network.cut(1).front().initial_weights(6));
}

}  // namespace
}  // namespace switchfold::learning::gradients_test
