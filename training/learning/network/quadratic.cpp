// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/layer.h"

namespace switchfold::learning {

namespace {

class Quadratic : public Layer {
public:
    Quadratic(Index parameters, Index first, double curvature, double start) :
        parameters_(parameters), first_(first), curvature_(curvature), start_(start) {}

    [[nodiscard]] Index parameters() const override { return parameters_; }
    void initialise(Normals& /*random*/, double* weights) const override {
        for (Index i = 0; i < parameters_; ++i)
            weights[i] = start_;
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        Matrix output = input;
        const Index last = input.rows() - 1;
        for (Index j = 0; j < input.cols(); ++j)
            for (Index i = 0; i < parameters_; ++i)
                output(last, j) +=
                    weights[i] * (0.5 * curvature_ * weights[i] + input(first_ + i, j));
        tape.kept = {input.middleRows(first_, parameters_)};
        return output;
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        const Eigen::Map<const Vector> w(weights, parameters_);
        const Index last = gradient.rows() - 1;
        Matrix slope = tape.kept[0];
        slope.colwise() += curvature_ * w;
        Matrix result = gradient;
        for (Index j = 0; j < gradient.cols(); ++j) {
            slope.col(j) *= gradient(last, j);
            result.col(j).segment(first_, parameters_) += w * gradient(last, j);
        }
        tape.products.push_back({0, std::move(slope), Matrix::Ones(1, gradient.cols())});
        return result;
    }

private:
    Index parameters_;
    Index first_;
    double curvature_;
    double start_;
};

}  // namespace

std::unique_ptr<Layer>
quadratic_layer(Index parameters, Index first, double curvature, double start) {
    return std::make_unique<Quadratic>(parameters, first, curvature, start);
}

}  // namespace switchfold::learning
