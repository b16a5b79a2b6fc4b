// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/penalised.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace switchfold::validation {

namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr double kLinearFrom = 2;     ///< errors
constexpr double kDifference = 0.05;  ///< far above what parameters are rounded to
constexpr int kMostSteps = 4;
constexpr int kMostHalvings = 3;
constexpr double kWorthAStep = 0.01;  ///< a smaller gain ends the search
constexpr int kMostRounds = 3;        ///< in which the error is estimated anew
constexpr double kSameError = 0.9;    ///< a new estimate above this share of the old one ends them

/// Inverse of a symmetric positive matrix, by Gauss and Jordan.
Matrix inverse(Matrix a) {
    const std::size_t n = a.size();
    Matrix out(n, Vector(n, 0.0));
    for (std::size_t i = 0; i < n; ++i)
        out[i][i] = 1;
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t pivot = i;
        for (std::size_t r = i + 1; r < n; ++r)
            if (std::abs(a[r][i]) > std::abs(a[pivot][i]))
                pivot = r;
        std::swap(a[i], a[pivot]);
        std::swap(out[i], out[pivot]);
        const double by = 1 / a[i][i];
        for (std::size_t c = 0; c < n; ++c) {
            a[i][c] *= by;
            out[i][c] *= by;
        }
        for (std::size_t r = 0; r < n; ++r) {
            if (r == i)
                continue;
            const double times = a[r][i];
            for (std::size_t c = 0; c < n; ++c) {
                a[r][c] -= times * a[i][c];
                out[r][c] -= times * out[i][c];
            }
        }
    }
    return out;
}

/// Of a residual in errors.
double weight(double residual) {
    const double size = std::abs(residual);
    return size <= kLinearFrom ? 1.0 : kLinearFrom / size;
}

class PenalisedSearch {
public:
    PenalisedSearch(std::span<const Unknown> unknowns, const EvaluateAll& evaluate) :
        unknowns_(unknowns), evaluate_(evaluate), at_(unknowns.size(), 0.0) {}

    PenalisedFit run() {
        residuals_ = at({at_}).front();
        told_.assign(unknowns_.size(), true);
        differentiate();
        for (int rounds = 0; rounds < kMostRounds; ++rounds) {
            search();
            const double left = std::clamp(error_left(), kLeastError, kModelError);
            const bool same = left > kSameError * error_;
            error_ = std::min(error_, left);
            if (same)
                break;
        }
        // What seemed told elsewhere may not be here.
        while (leave_untold())
            search();
        PenalisedFit fit;
        fit.values = at_;
        fit.deviations = final_deviations();
        fit.told = told_;
        fit.error = error_;
        fit.evaluations = evaluations_;
        return fit;
    }

private:
    /// Returns to 0 what the data do not tell. \returns whether that is any more.
    bool leave_untold() {
        if (!fresh_)
            differentiate();
        const Vector now = final_deviations();
        bool any = false;
        for (std::size_t k = 0; k < unknowns_.size(); ++k) {
            if (!told_[k] || now[k] < kToldShare * unknowns_[k].sigma)
                continue;
            told_[k] = false;
            any = true;
            fresh_ = fresh_ && at_[k] == 0;
            at_[k] = 0;
        }
        if (any && !fresh_)
            residuals_ = at({at_}).front();
        return any;
    }

    /// Steps until they gain little.
    void search() {
        for (int steps = 0; steps < kMostSteps;) {
            const double cost = cost_of(at_, residuals_);
            if (step()) {
                ++steps;
                if (cost - cost_of(at_, residuals_) < kWorthAStep * cost)
                    break;
            } else if (!fresh_) {
                differentiate();
            } else {
                break;
            }
        }
    }

    /// Root of the mean square of the residuals as far as they count, for what the unknowns took of
    /// it: each as much of one point as its variance became less.
    [[nodiscard]] double error_left() const {
        double squares = 0;
        for (const double r : residuals_)
            squares += std::pow(weight(r / error_) * r, 2);
        double taken = 0;
        const Vector now = deviations();
        for (std::size_t k = 0; k < now.size(); ++k)
            taken += 1 - std::pow(now[k] / unknowns_[k].sigma, 2);
        return std::sqrt(squares / std::max(1.0, static_cast<double>(residuals_.size()) - taken));
    }

    Matrix at(const Matrix& places) {
        evaluations_ += places.size();
        return evaluate_(places);
    }

    [[nodiscard]] double cost_of(const Vector& values, const Vector& residuals) const {
        double sum = 0;
        for (const double r : residuals) {
            const double size = std::abs(r) / error_;
            sum += size <= kLinearFrom ? size * size : kLinearFrom * (2 * size - kLinearFrom);
        }
        for (std::size_t k = 0; k < values.size(); ++k)
            sum += std::pow(values[k] / unknowns_[k].sigma, 2);
        return sum;
    }

    /// Derivatives of all residuals by the unknowns that are told, here.
    void differentiate() {
        Matrix places;
        std::vector<std::pair<std::size_t, double>> moved;
        for (std::size_t k = 0; k < unknowns_.size(); ++k) {
            if (!told_[k])
                continue;
            const Unknown& unknown = unknowns_[k];
            const double up = unknown.high - at_[k];
            const double down = at_[k] - unknown.low;
            const double by = up >= kDifference || up >= down ? std::min(kDifference, up)
                                                              : -std::min(kDifference, down);
            if (by == 0)
                continue;
            places.push_back(at_);
            places.back()[k] += by;
            moved.emplace_back(k, by);
        }
        slopes_.assign(residuals_.size(), Vector(unknowns_.size(), 0.0));
        const Matrix there = at(places);
        for (std::size_t m = 0; m < moved.size(); ++m)
            for (std::size_t i = 0; i < residuals_.size(); ++i)
                slopes_[i][moved[m].first] = (there[m][i] - residuals_[i]) / moved[m].second;
        fresh_ = true;
    }

    /// Curvature of the cost over the unknowns in `free`.
    [[nodiscard]] Matrix curvature(const std::vector<std::size_t>& free) const {
        Matrix a(free.size(), Vector(free.size(), 0.0));
        for (std::size_t i = 0; i < residuals_.size(); ++i) {
            const double w = weight(residuals_[i] / error_) / (error_ * error_);
            for (std::size_t r = 0; r < free.size(); ++r)
                for (std::size_t c = 0; c < free.size(); ++c)
                    a[r][c] += w * slopes_[i][free[r]] * slopes_[i][free[c]];
        }
        for (std::size_t k = 0; k < free.size(); ++k)
            a[k][k] += 1 / std::pow(unknowns_[free[k]].sigma, 2);
        return a;
    }

    /// Of the unknowns, if points have the error that is assumed.
    [[nodiscard]] Vector deviations() const {
        std::vector<std::size_t> all;
        Vector out;
        for (std::size_t k = 0; k < unknowns_.size(); ++k) {
            out.push_back(unknowns_[k].sigma);
            if (told_[k])
                all.push_back(k);
        }
        const Matrix covariance = inverse(curvature(all));
        for (std::size_t k = 0; k < all.size(); ++k)
            out[all[k]] = std::sqrt(covariance[k][k]);
        return out;
    }

    /// Wider where the residuals are larger than the error.
    [[nodiscard]] Vector final_deviations() const {
        const double wider = residuals_.empty() ? 1.0 : std::max(1.0, error_left() / error_);
        Vector out = deviations();
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = std::min(unknowns_[k].sigma, out[k] * wider);
        return out;
    }

    /// The step to where the cost would be least if residuals were linear. What runs into a bound
    /// stays there, and the others move without it.
    [[nodiscard]] Vector direction() const {
        Vector step(unknowns_.size(), 0.0);
        std::vector<bool> free = told_;
        for (std::size_t rounds = 0; rounds <= unknowns_.size(); ++rounds) {
            std::vector<std::size_t> moving;
            for (std::size_t k = 0; k < free.size(); ++k)
                if (free[k])
                    moving.push_back(k);
            Vector slope(moving.size(), 0.0);
            for (std::size_t i = 0; i < residuals_.size(); ++i) {
                double there = residuals_[i];
                for (std::size_t k = 0; k < free.size(); ++k)
                    if (!free[k])
                        there += slopes_[i][k] * step[k];
                const double w = weight(residuals_[i] / error_) / (error_ * error_);
                for (std::size_t m = 0; m < moving.size(); ++m)
                    slope[m] += w * slopes_[i][moving[m]] * there;
            }
            for (std::size_t m = 0; m < moving.size(); ++m)
                slope[m] += at_[moving[m]] / std::pow(unknowns_[moving[m]].sigma, 2);
            const Matrix inverted = inverse(curvature(moving));
            bool bound = false;
            for (std::size_t m = 0; m < moving.size(); ++m) {
                const std::size_t k = moving[m];
                double by = 0;
                for (std::size_t c = 0; c < moving.size(); ++c)
                    by -= inverted[m][c] * slope[c];
                step[k] = std::clamp(by, unknowns_[k].low - at_[k], unknowns_[k].high - at_[k]);
                if (step[k] != by) {
                    free[k] = false;
                    bound = true;
                }
            }
            if (!bound)
                break;
        }
        return step;
    }

    /// Takes the step, or a part of it that gains something. \returns whether it did.
    bool step() {
        const double cost = cost_of(at_, residuals_);
        Vector by = direction();
        for (int halvings = 0; halvings <= kMostHalvings; ++halvings) {
            Vector there = at_;
            double length = 0;
            for (std::size_t k = 0; k < by.size(); ++k) {
                there[k] += by[k];
                length += by[k] * by[k];
            }
            if (length < 1e-8)
                return false;
            Vector residuals = at({there}).front();
            const bool gained = cost_of(there, residuals) < cost;
            if (gained) {
                update_slopes(by, residuals, length);
                fresh_ = false;
                at_ = std::move(there);
                residuals_ = std::move(residuals);
                return true;
            }
            for (double& part : by)
                part /= 2;
        }
        return false;
    }

    void update_slopes(const Vector& by, const Vector& residuals, double length) {
        for (std::size_t i = 0; i < residuals.size(); ++i) {
            double expected = residuals_[i];
            for (std::size_t k = 0; k < by.size(); ++k)
                expected += slopes_[i][k] * by[k];
            const double missed = (residuals[i] - expected) / length;
            for (std::size_t k = 0; k < by.size(); ++k)
                slopes_[i][k] += missed * by[k];
        }
    }

    std::span<const Unknown> unknowns_;
    const EvaluateAll& evaluate_;
    Vector at_;
    Vector residuals_;
    Matrix slopes_;  ///< by residual and unknown
    std::vector<bool> told_;
    bool fresh_ = false;  ///< whether the slopes are those of here
    double error_ = kModelError;
    std::size_t evaluations_ = 0;
};

}  // namespace

PenalisedFit fit_penalised(std::span<const Unknown> unknowns, const EvaluateAll& evaluate) {
    return PenalisedSearch(unknowns, evaluate).run();
}

}  // namespace switchfold::validation
