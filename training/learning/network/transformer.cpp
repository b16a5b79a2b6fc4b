// SPDX-License-Identifier: Apache-2.0
#include "training/learning/network/affine.h"
#include "training/learning/network/layer.h"

#include <cmath>

namespace switchfold::learning {

namespace {

/// Scales each column to mean 0 and variance 1; `scale` receives 1 / deviation.
Matrix normalised(const Matrix& input, Vector& scale) {
    constexpr double kEpsilon = 1e-5;
    const auto rows = static_cast<double>(input.rows());
    Matrix output(input.rows(), input.cols());
    scale.resize(input.cols());
    for (Index j = 0; j < input.cols(); ++j) {
        double mean = 0;
        for (Index i = 0; i < input.rows(); ++i)
            mean += input(i, j);
        mean /= rows;
        double square = 0;
        for (Index i = 0; i < input.rows(); ++i)
            square += (input(i, j) - mean) * (input(i, j) - mean);
        scale[j] = 1 / std::sqrt(square / rows + kEpsilon);
        for (Index i = 0; i < input.rows(); ++i)
            output(i, j) = (input(i, j) - mean) * scale[j];
    }
    return output;
}

Matrix back_of_normalised(const Matrix& output, const Vector& scale, const Matrix& gradient) {
    const auto rows = static_cast<double>(output.rows());
    Matrix result(output.rows(), output.cols());
    for (Index j = 0; j < output.cols(); ++j) {
        double mean = 0;
        double along = 0;
        for (Index i = 0; i < output.rows(); ++i) {
            mean += gradient(i, j);
            along += gradient(i, j) * output(i, j);
        }
        for (Index i = 0; i < output.rows(); ++i)
            result(i, j) = scale[j] * (gradient(i, j) - mean / rows - output(i, j) * along / rows);
    }
    return result;
}

/// Multi-head attention among each sample's tokens. Queries, keys and values are stacked as rows of
/// one matrix.
class Heads {
public:
    Heads(Index tokens, Index width, Index heads) :
        tokens_(tokens), width_(width), heads_(heads), size_(width / heads) {}

    /// `shares`: attention weights, one column per query, ordered by sample, then head.
    [[nodiscard]] Matrix forward(const Matrix& qkv, Matrix& shares) const {
        Matrix output = Matrix::Zero(width_, qkv.cols());
        shares.resize(tokens_ * heads_, qkv.cols());
        for (Index column = 0; column < qkv.cols(); ++column) {
            const Index first = column / tokens_ * tokens_;
            for (Index head = 0; head < heads_; ++head) {
                auto share = shares.col(column).segment(head * tokens_, tokens_);
                double largest = -HUGE_VAL;
                for (Index t = 0; t < tokens_; ++t) {
                    share[t] = scale() * dot(qkv, query(head), column, key(head), first + t);
                    largest = std::max(largest, share[t]);
                }
                double sum = 0;
                for (Index t = 0; t < tokens_; ++t) {
                    share[t] = exponential(share[t] - largest);
                    sum += share[t];
                }
                for (Index t = 0; t < tokens_; ++t) {
                    share[t] /= sum;
                    for (Index i = 0; i < size_; ++i)
                        output(head * size_ + i, column) +=
                            share[t] * qkv(value(head) + i, first + t);
                }
            }
        }
        return output;
    }

    [[nodiscard]] Matrix
    backward(const Matrix& qkv, const Matrix& shares, const Matrix& gradient) const {
        Matrix result = Matrix::Zero(qkv.rows(), qkv.cols());
        Vector of_share(tokens_);
        for (Index column = 0; column < qkv.cols(); ++column) {
            const Index first = column / tokens_ * tokens_;
            for (Index head = 0; head < heads_; ++head) {
                const auto share = shares.col(column).segment(head * tokens_, tokens_);
                double mean = 0;
                for (Index t = 0; t < tokens_; ++t) {
                    of_share[t] = 0;
                    for (Index i = 0; i < size_; ++i) {
                        const double g = gradient(head * size_ + i, column);
                        of_share[t] += g * qkv(value(head) + i, first + t);
                        result(value(head) + i, first + t) += share[t] * g;
                    }
                    mean += share[t] * of_share[t];
                }
                for (Index t = 0; t < tokens_; ++t) {
                    const double of_score = scale() * share[t] * (of_share[t] - mean);
                    for (Index i = 0; i < size_; ++i) {
                        result(query(head) + i, column) += of_score * qkv(key(head) + i, first + t);
                        result(key(head) + i, first + t) += of_score * qkv(query(head) + i, column);
                    }
                }
            }
        }
        return result;
    }

private:
    [[nodiscard]] double scale() const { return 1 / std::sqrt(static_cast<double>(size_)); }
    [[nodiscard]] Index query(Index head) const { return head * size_; }
    [[nodiscard]] Index key(Index head) const { return width_ + head * size_; }
    [[nodiscard]] Index value(Index head) const { return 2 * width_ + head * size_; }
    [[nodiscard]] double
    dot(const Matrix& m, Index row_a, Index column_a, Index row_b, Index column_b) const {
        double sum = 0;
        for (Index i = 0; i < size_; ++i)
            sum += m(row_a + i, column_a) * m(row_b + i, column_b);
        return sum;
    }

    Index tokens_;
    Index width_;
    Index heads_;
    Index size_;
};

class TransformerBlock : public Layer {
public:
    TransformerBlock(Index tokens, Index width, Index heads, Index inside) :
        heads_(tokens, width, heads),
        qkv_{0, width, 3 * width},
        out_{qkv_.parameters(), width, width},
        first_{out_.offset + out_.parameters(), width, inside},
        second_{first_.offset + first_.parameters(), inside, width} {}

    [[nodiscard]] Index parameters() const override {
        return second_.offset + second_.parameters();
    }
    void initialise(Normals& random, double* weights) const override {
        constexpr double kSmall = 0.5;
        qkv_.initialise(random, weights);
        out_.initialise(random, weights, kSmall);
        first_.initialise(random, weights);
        second_.initialise(random, weights, kSmall);
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        Vector scale;
        Vector scale_inside;
        Matrix shares;
        const Matrix normal = normalised(input, scale);
        const Matrix qkv = qkv_.apply(weights, normal);
        const Matrix attended = heads_.forward(qkv, shares);
        const Matrix middle = input + out_.apply(weights, attended);
        const Matrix normal_inside = normalised(middle, scale_inside);
        const Matrix inside = first_.apply(weights, normal_inside).unaryExpr(&hyperbolic_tangent);
        tape.kept = {normal, scale, qkv, shares, attended, normal_inside, scale_inside, inside};
        return middle + second_.apply(weights, inside);
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        const std::vector<Matrix>& kept = tape.kept;
        Matrix inside = second_.back(weights, kept[7], gradient, tape);
        inside.array() *= 1 - kept[7].array().square();
        const Matrix normal_inside = first_.back(weights, kept[5], std::move(inside), tape);
        const Matrix middle = gradient + back_of_normalised(kept[5], kept[6], normal_inside);
        const Matrix attended = out_.back(weights, kept[4], middle, tape);
        const Matrix normal =
            qkv_.back(weights, kept[0], heads_.backward(kept[2], kept[3], attended), tape);
        return middle + back_of_normalised(kept[0], kept[1], normal);
    }

private:
    Heads heads_;
    AffineMap qkv_;
    AffineMap out_;
    AffineMap first_;
    AffineMap second_;
};

class TokenInput : public Layer {
public:
    TokenInput(Index tokens, Index features, Index width) :
        tokens_(tokens), map_{0, features / tokens, width} {}

    [[nodiscard]] Index parameters() const override {
        return map_.parameters() + tokens_ * map_.outputs;
    }
    void initialise(Normals& random, double* weights) const override {
        constexpr double kPlace = 0.5;
        map_.initialise(random, weights);
        for (Index i = map_.parameters(); i < parameters(); ++i)
            weights[i] = kPlace * random.next();
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        // Features of a token are contiguous, so the same data are viewed as shorter columns.
        const Matrix tokens = Weights(input.data(), map_.inputs, input.cols() * tokens_);
        Matrix output = map_.apply(weights, tokens);
        const Weights places(weights + map_.parameters(), map_.outputs, tokens_);
        for (Index j = 0; j < output.cols(); ++j)
            output.col(j) += places.col(j % tokens_);
        tape.kept = {tokens};
        return output;
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        Matrix place = Matrix::Zero(tokens_, gradient.cols());
        for (Index j = 0; j < gradient.cols(); ++j)
            place(j % tokens_, j) = 1;
        tape.products.push_back({map_.parameters(), gradient, std::move(place)});
        const Matrix result = map_.back(weights, tape.kept[0], gradient, tape);
        return Weights(result.data(), map_.inputs * tokens_, gradient.cols() / tokens_);
    }

private:
    Index tokens_;
    AffineMap map_;
};

class TokenOutput : public Layer {
public:
    TokenOutput(Index tokens, Index width, Index outputs) :
        tokens_(tokens), map_{0, width, outputs} {}

    [[nodiscard]] Index parameters() const override { return map_.parameters(); }
    void initialise(Normals& random, double* weights) const override {
        map_.initialise(random, weights);
    }

    [[nodiscard]] Matrix
    forward(const double* weights, const Matrix& input, Tape& tape) const override {
        Matrix mean = Matrix::Zero(input.rows(), input.cols() / tokens_);
        for (Index j = 0; j < input.cols(); ++j)
            mean.col(j / tokens_) += input.col(j);
        mean /= static_cast<double>(tokens_);
        tape.kept = {mean};
        return map_.apply(weights, mean);
    }

    [[nodiscard]] Matrix
    backward(const double* weights, const Matrix& gradient, Tape& tape) const override {
        const Matrix mean = map_.back(weights, tape.kept[0], gradient, tape);
        Matrix result(mean.rows(), mean.cols() * tokens_);
        for (Index j = 0; j < result.cols(); ++j)
            result.col(j) = mean.col(j / tokens_) / static_cast<double>(tokens_);
        return result;
    }

private:
    Index tokens_;
    AffineMap map_;
};

}  // namespace

std::unique_ptr<Layer> transformer_block(Index tokens, Index width, Index heads, Index inside) {
    return std::make_unique<TransformerBlock>(tokens, width, heads, inside);
}

std::unique_ptr<Layer> token_input(Index tokens, Index features, Index width) {
    return std::make_unique<TokenInput>(tokens, features, width);
}

std::unique_ptr<Layer> token_output(Index tokens, Index width, Index outputs) {
    return std::make_unique<TokenOutput>(tokens, width, outputs);
}

}  // namespace switchfold::learning
