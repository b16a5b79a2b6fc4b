// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace switchfold::validation {

/// One unknown, in logarithms of a factor: 0 is the shipped value.
struct Unknown {
    double low = -1;  ///< bounds
    double high = 1;
    double sigma = 1;  ///< of the normal distribution around 0 that it has before any data
};

/// ln(measured / simulated) of every point, one list for each of the given values of the unknowns.
using EvaluateAll =
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>&)>;

struct PenalisedFit {
    std::vector<double> values;
    std::vector<double> deviations;  ///< standard deviations after the data
    std::vector<bool> told;          ///< whether the data say more than what was known before
    double error = 0;                ///< of a point: what is left, between the two limits above
    std::size_t evaluations = 0;
};

/// What the simulator is off by where nothing was fitted, as a logarithm (docs/accuracy.md): the
/// error that points are first taken to have.
inline constexpr double kModelError = 0.1;
/// What repeated measurements differ by: no fit is trusted to be better.
inline constexpr double kLeastError = 0.01;
/// The data tell an unknown if they leave less than this share of its deviation.
inline constexpr double kToldShare = 0.8;
/// Evaluations that a fit of `unknowns` usually takes, for an estimate of time: derivatives twice,
/// and some steps.
[[nodiscard]] constexpr std::size_t usual_evaluations(std::size_t unknowns) {
    constexpr std::size_t kSteps = 8;
    return 2 * unknowns + kSteps;
}

/// Finds the unknowns for which the sum of (residual / error)^2 + (unknown / sigma)^2 is least:
/// Gauss-Newton steps with derivatives by finite differences, which steps update after Broyden. A
/// residual beyond twice the error counts linearly (Huber), so that no single row decides. The
/// error is kModelError at first; where residuals become smaller, it becomes what they are, and
/// the data weigh more against what was known before. Unknowns that the data do not tell stay 0.
[[nodiscard]] PenalisedFit
fit_penalised(std::span<const Unknown> unknowns, const EvaluateAll& evaluate);

}  // namespace switchfold::validation
