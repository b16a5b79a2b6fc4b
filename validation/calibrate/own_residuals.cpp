// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/intervals/residuals.h"
#include "sim/machine/likeness.h"
#include "validation/calibrate/calibrate.h"

#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace switchfold::validation {

namespace {

/// What is like a point on the calibrated system, which takes so long.
class LikenessOfPoint {
public:
    LikenessOfPoint(const SystemParams& system, double us) : system_(system), us_(us) {}

    std::optional<intervals::Likeness> operator()(const CollectivePoint& point) const {
        return likeness_of(point.run);
    }
    std::optional<intervals::Likeness> operator()(const KernelPoint& point) const {
        return kernel(std::holds_alternative<MatrixProduct>(point.shape) ? "product" : "attention");
    }
    std::optional<intervals::Likeness> operator()(const TracedPoint& /*point*/) const {
        return kernel("product");
    }
    /// Intervals keep the times of copies.
    std::optional<intervals::Likeness> operator()(const CopyPoint& /*point*/) const {
        return std::nullopt;
    }

private:
    [[nodiscard]] intervals::Likeness kernel(const char* operation) const {
        intervals::Likeness like = likeness_on(system_, "kernel", 1);
        like.operation = operation;
        like.us = us_;
        return like;
    }

    const SystemParams& system_;
    double us_;
};

}  // namespace

std::string own_residuals_text(const Calibration& calibration, const CalibrationData& data) {
    const SystemParams system = load_system(data.system, {});
    std::vector<intervals::Residual> residuals;
    for (const PointTimes& times : calibration.times) {
        const CalibrationPoint& point = calibration.data.points[times.point];
        if (point.fitted)
            continue;
        const auto like = std::visit(LikenessOfPoint(system, times.after), point.what);
        if (!like)
            continue;
        intervals::Residual& r = residuals.emplace_back();
        r.of = *like;
        r.machine = calibration.system;
        r.table = "calibration";
        r.log_ratio = std::log(point.measured_us / times.after);
        r.standing = "unseen";
    }
    return to_csv(residuals);
}

}  // namespace switchfold::validation
