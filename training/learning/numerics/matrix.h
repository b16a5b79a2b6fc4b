// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

namespace switchfold::learning {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;  ///< one column per sample (for sequences: per token)
using Vector = Eigen::VectorXd;
using Weights = Eigen::Map<const Matrix>;  ///< a matrix within a stage's weights

/// Products whose sums run over ascending `k`, term by term: a column's result depends neither on
/// the number of columns nor on the machine. Eigen's own products are blocked according to cache
/// and register sizes.
void add_product(const Weights& a, const Matrix& b, Matrix& to);                ///< to += a b
void add_product_of_transposed(const Weights& a, const Matrix& b, Matrix& to);  ///< to += a' b
/// to += left right', column by column; `to` has left.rows() rows.
void add_outer_products(const Matrix& left, const Matrix& right, double* to);

/// Sums in index order.
[[nodiscard]] double sum_of_squares(const Vector& values);

}  // namespace switchfold::learning
