// SPDX-License-Identifier: Apache-2.0
// Samples that a seed makes.
#include "core/random_stream.h"
#include "training/learning/data/finite_samples.h"
#include "training/learning/data/row_scale.h"
#include "training/learning/network/network.h"
#include "training/learning/numerics/functions.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace switchfold::learning {

namespace {

class Noise : public Samples {
public:
    Noise(const DataSpec& spec, std::uint64_t seed) :
        rows_(Index{spec.features} + 1), deviation_(spec.noise), seed_(seed) {
        // Without the noise term of the loss.
        held_out_ = {Matrix::Zero(rows_, 1), Matrix::Zero(0, 1)};
    }
    [[nodiscard]] Index features() const override { return rows_; }
    [[nodiscard]] Index outputs() const override { return rows_; }
    [[nodiscard]] LossKind loss() const override { return LossKind::kLastRow; }
    [[nodiscard]] Batch batch(std::uint64_t first, std::uint32_t count) override {
        Batch batch{Matrix::Zero(rows_, count), Matrix::Zero(0, count)};
        for (std::uint32_t j = 0; j < count; ++j) {
            Normals random(seed_, fmt::format("noise {}", first + j));
            for (Index i = 0; i + 1 < rows_; ++i)
                batch.inputs(i, j) = deviation_ * random.next();
        }
        return batch;
    }
    [[nodiscard]] const Batch& held_out() const override { return held_out_; }

private:
    Index rows_;
    double deviation_;
    std::uint64_t seed_;
    Batch held_out_;
};

Batch taught(
    const DataSpec& spec, const Stage& net, const Vector& weights, std::uint32_t count,
    Normals& random) {
    Batch batch;
    batch.inputs.resize(spec.features, count);
    for (Index j = 0; j < batch.inputs.cols(); ++j)
        for (Index i = 0; i < batch.inputs.rows(); ++i)
            batch.inputs(i, j) = random.next();
    std::vector<Tape> tapes;
    batch.targets = net.forward(weights, batch.inputs, tapes);
    return batch;
}

/// Scales each row of `rows` to mean 0 and variance 1, and `others` by the same map.
void normalise(Matrix& rows, Matrix& others) {
    for (Index i = 0; i < rows.rows(); ++i) {
        const auto [mean, deviation] = scale_of_row(rows, i);
        rows.row(i) = (rows.row(i).array() - mean) / deviation;
        others.row(i) = (others.row(i).array() - mean) / deviation;
    }
}

void add_noise(Matrix& values, double deviation, Normals& random) {
    for (Index j = 0; j < values.cols(); ++j)
        for (Index i = 0; i < values.rows(); ++i)
            values(i, j) += deviation * random.next();
}

Batch spirals(const DataSpec& spec, std::uint32_t count, Normals& random) {
    constexpr double kTurns = 1.5;
    constexpr double kPi = 0x1.921fb54442d18p+1;
    Batch batch{Matrix(2, count), Matrix::Zero(2, count)};
    for (Index j = 0; j < batch.inputs.cols(); ++j) {
        // Turns the point by small rotations: the C library's cosine and sine differ between
        // machines.
        const double radius = std::sqrt(random.uniform().share());
        constexpr int kSteps = 1024;
        constexpr double kAngle = 2 * kPi * kTurns / kSteps;
        const int steps = static_cast<int>(radius * kSteps);
        double x = 1;
        double y = 0;
        for (int k = 0; k < steps; ++k) {
            const double moved = x - kAngle * y;
            y += kAngle * moved;
            x = moved;
        }
        const double side = j % 2 == 0 ? 1 : -1;
        batch.inputs(0, j) = side * radius * x;
        batch.inputs(1, j) = side * radius * y;
        batch.targets(j % 2, j) = 1;
    }
    add_noise(batch.inputs, spec.noise, random);
    return batch;
}

}  // namespace

std::unique_ptr<Samples> teacher(const DataSpec& spec, std::uint64_t seed) {
    constexpr std::uint32_t kDepth = 3;
    constexpr std::uint32_t kWidth = 16;
    constexpr double kScale = 2;  // steep enough to be nonlinear
    const Network network({NetworkKind::kMlp, kDepth, kWidth}, spec.features, spec.outputs);
    const Stage net = network.cut(1).front();
    const Vector weights = kScale * net.initial_weights(mix_bits(seed + 1));
    Normals random(seed, "teacher");
    Batch train = taught(spec, net, weights, spec.samples, random);
    Batch held_out = taught(spec, net, weights, spec.held_out, random);
    normalise(train.targets, held_out.targets);
    add_noise(train.targets, spec.noise, random);
    return std::make_unique<FiniteSamples>(
        std::move(train), std::move(held_out), LossKind::kSquares, seed);
}

std::unique_ptr<Samples> two_spirals(const DataSpec& spec, std::uint64_t seed) {
    Normals random(seed, "spirals");
    Batch train = spirals(spec, spec.samples, random);
    Batch held_out = spirals(spec, spec.held_out, random);
    return std::make_unique<FiniteSamples>(
        std::move(train), std::move(held_out), LossKind::kCrossEntropy, seed);
}

std::unique_ptr<Samples> noise(const DataSpec& spec, std::uint64_t seed) {
    return std::make_unique<Noise>(spec, seed);
}

}  // namespace switchfold::learning
