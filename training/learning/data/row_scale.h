// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/learning/numerics/matrix.h"

#include <cmath>

namespace switchfold::learning {

/// Mean and deviation of a row, summed from the first number to the last.
struct RowScale {
    double mean = 0;
    double deviation = 0;
};

[[nodiscard]] inline RowScale scale_of_row(const Matrix& rows, Index row) {
    RowScale scale;
    for (Index j = 0; j < rows.cols(); ++j)
        scale.mean += rows(row, j);
    scale.mean /= static_cast<double>(rows.cols());
    double square = 0;
    for (Index j = 0; j < rows.cols(); ++j)
        square += (rows(row, j) - scale.mean) * (rows(row, j) - scale.mean);
    scale.deviation = std::sqrt(square / static_cast<double>(rows.cols()));
    return scale;
}

}  // namespace switchfold::learning
