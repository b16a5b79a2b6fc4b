// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/loss.h"

#include "training/learning/numerics/functions.h"

#include <algorithm>

namespace switchfold::learning {

namespace {

double squares(const Matrix& outputs, const Matrix& targets, Index sample, Matrix& gradient) {
    double sum = 0;
    for (Index i = 0; i < outputs.rows(); ++i) {
        const double distance = outputs(i, sample) - targets(i, sample);
        gradient(i, sample) = distance;
        sum += 0.5 * distance * distance;
    }
    return sum;
}

double cross_entropy(const Matrix& outputs, const Matrix& targets, Index sample, Matrix& gradient) {
    double largest = outputs(0, sample);
    for (Index i = 1; i < outputs.rows(); ++i)
        largest = std::max(largest, outputs(i, sample));
    double sum = 0;
    for (Index i = 0; i < outputs.rows(); ++i) {
        gradient(i, sample) = exponential(outputs(i, sample) - largest);
        sum += gradient(i, sample);
    }
    const double normal = largest + logarithm(sum);
    double loss = 0;
    for (Index i = 0; i < outputs.rows(); ++i) {
        gradient(i, sample) = gradient(i, sample) / sum - targets(i, sample);
        loss += targets(i, sample) * (normal - outputs(i, sample));
    }
    return loss;
}

}  // namespace

Loss loss_of(LossKind kind, const Matrix& outputs, const Matrix& targets, double share) {
    Loss loss{0, Matrix::Zero(outputs.rows(), outputs.cols())};
    for (Index sample = 0; sample < outputs.cols(); ++sample) {
        double one = 0;
        switch (kind) {
        case LossKind::kSquares:
            one = squares(outputs, targets, sample, loss.gradient);
            break;
        case LossKind::kCrossEntropy:
            one = cross_entropy(outputs, targets, sample, loss.gradient);
            break;
        case LossKind::kLastRow:
            one = outputs(outputs.rows() - 1, sample);
            loss.gradient(outputs.rows() - 1, sample) = 1;
            break;
        }
        loss.sum += share * one;
    }
    loss.gradient *= share;
    return loss;
}

}  // namespace switchfold::learning
