// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/pool/pool.h"
#include "validation/calibrate/points.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::validation {

/// Simulates points on a system whose dials stand elsewhere. What was simulated once is kept.
class SimulatedPoints {
public:
    /// `system` and `points` must outlive it.
    SimulatedPoints(
        const SystemParams& system, std::span<const Dial> dials,
        std::span<const CalibrationPoint> points, RunJobs run) :
        system_(system), dials_(dials), points_(points), run_(std::move(run)) {}

    /// us of the points of these indices, for each setting of the dials. Throws what a simulation
    /// throws.
    [[nodiscard]] std::vector<std::vector<double>>
    times(std::span<const std::size_t> which, const std::vector<std::vector<double>>& settings);
    [[nodiscard]] std::size_t simulations() const { return kept_.size(); }

private:
    /// The point, and the dials that are about its kind.
    using Key = std::pair<std::size_t, std::vector<double>>;
    [[nodiscard]] Key key_of(std::size_t point, const std::vector<double>& setting) const;

    /// us, in this process.
    [[nodiscard]] double
    time_of(const CalibrationPoint& point, std::span<const Override> turned) const;

    const SystemParams& system_;
    std::span<const Dial> dials_;
    std::span<const CalibrationPoint> points_;
    RunJobs run_;
    std::map<Key, double> kept_;
};

}  // namespace switchfold::validation
