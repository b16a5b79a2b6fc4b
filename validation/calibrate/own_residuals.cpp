// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/intervals/residuals.h"
#include "sim/machine/likeness.h"
#include "validation/calibrate/calibrate.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

intervals::Likeness like(const CollectivePoint& point, const SystemParams& /*system*/, double /*us*/) {
    intervals::Likeness like = likeness_on(point.run.system, "collective", point.run.ranks);
    like.operation = to_string(point.run.kind);
    like.bytes = static_cast<double>(point.run.bytes.count());
    return like;
}

intervals::Likeness like_kernel(std::string operation, const SystemParams& system, double us) {
    intervals::Likeness like = likeness_on(system, "kernel", 1);
    like.operation = std::move(operation);
    like.us = us;
    return like;
}

intervals::Likeness like(const KernelPoint& point, const SystemParams& system, double us) {
    return like_kernel(
        std::holds_alternative<MatrixProduct>(point.shape) ? "product" : "attention", system, us);
}

intervals::Likeness like(const TracedPoint& /*point*/, const SystemParams& system, double us) {
    return like_kernel("product", system, us);
}

/// Of copies no errors are known: intervals keep their times.
intervals::Likeness like(const CopyPoint& /*point*/, const SystemParams& /*system*/, double /*us*/) {
    return {};
}

}  // namespace

std::string own_residuals_text(const Calibration& calibration, const CalibrationData& data) {
    const SystemParams system = load_system(data.system, {});
    std::vector<intervals::Residual> residuals;
    for (const PointTimes& times : calibration.times) {
        const CalibrationPoint& point = calibration.data.points[times.point];
        if (point.fitted || point.told() == Told::kCopies)
            continue;
        intervals::Residual& r = residuals.emplace_back();
        r.of = std::visit([&](const auto& what) { return like(what, system, times.after); }, point.what);
        r.machine = calibration.system;
        r.table = "calibration";
        r.log_ratio = std::log(point.measured_us / times.after);
        r.standing = "unseen";
    }
    return to_csv(residuals);
}

}  // namespace switchfold::validation
