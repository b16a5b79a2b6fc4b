// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace switchfold::learning {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;  ///< a column a sample (of sequences: a token)
using Vector = Eigen::VectorXd;
using Weights = Eigen::Map<const Matrix>;  ///< a matrix within a stage's weights

/// Products whose sums run over `k` ascending, one term after another: the result of a column
/// depends neither on how many columns there are nor on the machine. Eigen's own products are cut
/// by the sizes of caches and of registers.
void add_product(const Weights& a, const Matrix& b, Matrix& to);                ///< to += a b
void add_product_of_transposed(const Weights& a, const Matrix& b, Matrix& to);  ///< to += a' b
/// to += left right', column after column; `to` has left.rows() rows.
void add_outer_products(const Matrix& left, const Matrix& right, double* to);

/// In order of the index.
[[nodiscard]] double sum_of_squares(const Vector& values);

}  // namespace switchfold::learning
