// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/pool/pool.h"
#include "validation/calibrate/observations.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// Mean absolute errors before and after.
struct ErrorChange {
    std::size_t points = 0;
    double before = 0;
    double after = 0;
};

/// Errors of points that are alike: an operation below or from 1 MiB, a kind of kernels.
struct GroupErrors {
    std::string group;
    bool collectives = false;
    bool large = false;  ///< of collectives: from 1 MiB on
    double limit = 0;    ///< of the error that is usual (a share)
    ErrorChange fitted;
    ErrorChange left_out;
    /// "all_reduce of 8 GPUs from 1 MiB".
    [[nodiscard]] std::string name() const;
    /// Whether its left-out points were within the limit and are not any more.
    [[nodiscard]] bool paid() const;
    /// Whether they stay off by more than twice the limit.
    [[nodiscard]] bool far() const { return left_out.points > 0 && left_out.after > 2 * limit; }
};

/// A point and what was simulated of it, us.
struct PointTimes {
    std::size_t point = 0;
    double before = 0;
    double after = 0;
};

struct CalibratedKnob {
    Dial dial;
    double logarithm = 0;  ///< of the factor
    double deviation = 0;  ///< of the logarithm, after the data
    bool told = false;
};

enum class CalibrationVerdict {
    kBetter,   ///< an overlay is worth writing
    kNothing,  ///< the shipped values are within the data's scatter
    /// What fits makes the left-out points worse, or a group of them, or leaves much far off.
    kUnexplained,
};

struct Calibration {
    std::string system;
    Observations data;
    std::vector<GroupErrors> groups;
    ErrorChange fitted;
    ErrorChange left_out;
    std::vector<CalibratedKnob> knobs;
    CalibrationVerdict verdict = CalibrationVerdict::kNothing;
    std::vector<PointTimes> times;  ///< of all points
    std::size_t simulations = 0;
};

/// How long it takes, as far as that is known.
struct CalibrationPlan {
    std::size_t knobs = 0;
    std::size_t fitted = 0;
    std::size_t left_out = 0;
    double seconds = 0;
};

struct CalibrationOptions {
    RunJobs run;
    std::function<double()> seconds;                      ///< that have passed
    std::function<void(const CalibrationPlan&)> planned;  ///< told once
};

/// Left-out points may become worse by this much (a share) before an answer is refused.
inline constexpr double kWorseAllowed = 0.01;

/// A fit that leaves this share of the left-out points in groups that are far off explains nothing:
/// its parameters are a compromise.
inline constexpr double kFarAllowed = 0.25;

/// Whether that many are.
[[nodiscard]] bool much_is_far(const Calibration& calibration);

/// Throws ConfigError if the data are no good, and what simulations throw.
[[nodiscard]] Calibration calibrate(const CalibrationData& data, const CalibrationOptions& options);

/// The differences from the system as a file that stands on it (`$base`), with sources. `out`: its
/// name gives the system's, and paths are relative to it.
[[nodiscard]] std::string overlay_text(
    const Calibration& calibration, const CalibrationData& data, const std::filesystem::path& out);

/// How far the left-out points lay from the calibrated system: what intervals of its results are
/// drawn from (sim/uncertainty/own_residuals.h).
[[nodiscard]] std::string
own_residuals_text(const Calibration& calibration, const CalibrationData& data);

/// CSV, a point a line: group, size, fitted or left_out, measured_us, before_us, after_us.
[[nodiscard]] std::string points_text(const Calibration& calibration);

/// For a terminal.
[[nodiscard]] std::string to_text(const Calibration& calibration);

}  // namespace switchfold::validation
