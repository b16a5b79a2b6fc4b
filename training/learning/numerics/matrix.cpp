// SPDX-License-Identifier: Apache-2.0
#include "training/learning/numerics/matrix.h"

namespace switchfold::learning {

namespace {

/// y += x factor, for each of four columns in turn: four loads per store.
void add_columns(
    const double* x, Index stride, const double* factors, Index factor_stride, Index count,
    Index rows, double* y) {
    Index k = 0;
    for (; k + 4 <= count; k += 4) {
        const double* const x0 = x + k * stride;
        const double* const x1 = x0 + stride;
        const double* const x2 = x1 + stride;
        const double* const x3 = x2 + stride;
        const double f0 = factors[k * factor_stride];
        const double f1 = factors[(k + 1) * factor_stride];
        const double f2 = factors[(k + 2) * factor_stride];
        const double f3 = factors[(k + 3) * factor_stride];
        for (Index i = 0; i < rows; ++i)
            y[i] = (((y[i] + x0[i] * f0) + x1[i] * f1) + x2[i] * f2) + x3[i] * f3;
    }
    for (; k < count; ++k) {
        const double* const x0 = x + k * stride;
        const double f0 = factors[k * factor_stride];
        for (Index i = 0; i < rows; ++i)
            y[i] += x0[i] * f0;
    }
}

}  // namespace

void add_product(const Weights& a, const Matrix& b, Matrix& to) {
    for (Index j = 0; j < b.cols(); ++j)
        add_columns(
            a.data(), a.rows(), b.data() + j * b.rows(), 1, a.cols(), a.rows(),
            to.data() + j * to.rows());
}

void add_product_of_transposed(const Weights& a, const Matrix& b, Matrix& to) {
    const Matrix transposed = a.transpose();
    for (Index j = 0; j < b.cols(); ++j)
        add_columns(
            transposed.data(), a.cols(), b.data() + j * b.rows(), 1, a.rows(), a.cols(),
            to.data() + j * to.rows());
}

void add_outer_products(const Matrix& left, const Matrix& right, double* to) {
    for (Index j = 0; j < right.rows(); ++j)
        add_columns(
            left.data(), left.rows(), right.data() + j, right.rows(), left.cols(), left.rows(),
            to + j * left.rows());
}

double sum_of_squares(const Vector& values) {
    double sum = 0;
    for (Index i = 0; i < values.size(); ++i)
        sum += values[i] * values[i];
    return sum;
}

}  // namespace switchfold::learning
