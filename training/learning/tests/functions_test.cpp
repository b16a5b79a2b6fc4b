// SPDX-License-Identifier: Apache-2.0
#include "training/learning/numerics/functions.h"

#include "training/learning/numerics/matrix.h"

#include <gtest/gtest.h>

#include <cmath>

namespace switchfold::learning::functions_test {
namespace {

TEST(Functions, AgreeWithTheLibrary) {
    for (double x = -30; x < 30; x += 0.0137) {
        EXPECT_NEAR(exponential(x) / std::exp(x), 1, 1e-14) << x;
        EXPECT_NEAR(hyperbolic_tangent(x), std::tanh(x), 1e-15) << x;
        const double positive = std::exp(x);
        EXPECT_NEAR(logarithm(positive), std::log(positive), 1e-14 * (1 + std::abs(x))) << x;
    }
    for (const double x : {-708.0, -707.3, 708.6, 709.0})
        EXPECT_NEAR(exponential(x) / std::exp(x), 1, 1e-13) << x;
    EXPECT_EQ(exponential(1000), HUGE_VAL);
    EXPECT_EQ(exponential(-1000), 0);
    EXPECT_TRUE(std::isnan(hyperbolic_tangent(NAN)));
    EXPECT_TRUE(std::isnan(exponential(NAN)));
}

TEST(Functions, NormalsHaveMeanZeroAndVarianceOne) {
    Normals random(3, "test");
    constexpr int kDraws = 200'000;
    double mean = 0;
    double square = 0;
    double fourth = 0;
    for (int i = 0; i < kDraws; ++i) {
        const double x = random.next();
        mean += x / kDraws;
        square += x * x / kDraws;
        fourth += x * x * x * x / kDraws;
    }
    EXPECT_NEAR(mean, 0, 0.01);
    EXPECT_NEAR(square, 1, 0.015);
    EXPECT_NEAR(fourth, 3, 0.1);
}

TEST(Matrices, ProductsAreSumsInOrder) {
    Normals random(5, "test");
    Matrix a(7, 9);
    Matrix b(9, 5);
    for (double& x : a.reshaped())
        x = random.next();
    for (double& x : b.reshaped())
        x = random.next();
    Matrix c = Matrix::Zero(7, 5);
    add_product(Weights(a.data(), 7, 9), b, c);
    const Matrix a_transposed = a.transpose();
    Matrix d = Matrix::Zero(7, 5);
    add_product_of_transposed(Weights(a_transposed.data(), 9, 7), b, d);
    Matrix e = Matrix::Zero(7, 5);
    const Matrix b_transposed = b.transpose();
    add_outer_products(a, b_transposed, e.data());
    for (Index i = 0; i < 7; ++i)
        for (Index j = 0; j < 5; ++j) {
            double sum = 0;
            for (Index k = 0; k < 9; ++k)
                sum += a(i, k) * b(k, j);
            EXPECT_EQ(c(i, j), sum);
            EXPECT_EQ(d(i, j), sum);
            EXPECT_EQ(e(i, j), sum);
        }
}

}  // namespace
}  // namespace switchfold::learning::functions_test
