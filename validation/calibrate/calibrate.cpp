// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/calibrate.h"

#include "sim/config/load.h"
#include "validation/calibrate/penalised.h"
#include "validation/calibrate/simulated_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace switchfold::validation {

namespace {

/// What `validate collectives` allows from 1 MiB on, and below; what `validate kernels` does.
constexpr double kLargeLimit = 0.12;
constexpr double kSmallLimit = 0.25;
constexpr double kKernelLimit = 0.15;
/// Factors nearer to 1 are not worth a line.
constexpr double kLeastChange = 0.003;
/// Gains of the fitted points below this share are scatter.
constexpr double kLeastGain = 0.002;

std::vector<Told> kinds_of(const std::vector<CalibrationPoint>& points) {
    std::set<Told> kinds;
    for (const CalibrationPoint& point : points)
        kinds.insert(point.told());
    return {kinds.begin(), kinds.end()};
}

std::vector<std::size_t> half_of(const std::vector<CalibrationPoint>& points, bool fitted) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i].fitted == fitted)
            which.push_back(i);
    return which;
}

double limit_of(const CalibrationPoint& point) {
    if (point.told() != Told::kCollectives)
        return kKernelLimit;
    return point.large ? kLargeLimit : kSmallLimit;
}

/// Sums of errors, by group.
class ErrorTable {
public:
    explicit ErrorTable(Calibration& out) : out_(out) {}

    void add(const CalibrationPoint& point, double before, double after) {
        const double was = std::abs(before / point.measured_us - 1);
        const double is = std::abs(after / point.measured_us - 1);
        GroupErrors& group = group_of(point);
        for (ErrorChange* change :
             {point.fitted ? &group.fitted : &group.left_out,
              point.fitted ? &out_.fitted : &out_.left_out}) {
            ++change->points;
            change->before += was;
            change->after += is;
        }
    }

    void end() {
        const auto mean = [](ErrorChange& change) {
            if (change.points == 0)
                return;
            change.before /= static_cast<double>(change.points);
            change.after /= static_cast<double>(change.points);
        };
        for (GroupErrors& group : out_.groups) {
            mean(group.fitted);
            mean(group.left_out);
        }
        mean(out_.fitted);
        mean(out_.left_out);
    }

private:
    GroupErrors& group_of(const CalibrationPoint& point) {
        const auto at =
            std::find_if(out_.groups.begin(), out_.groups.end(), [&](const GroupErrors& group) {
                return group.group == point.group && group.large == point.large;
            });
        if (at != out_.groups.end())
            return *at;
        out_.groups.push_back(
            {point.group,
             point.told() == Told::kCollectives,
             point.large,
             limit_of(point),
             {},
             {}});
        return out_.groups.back();
    }

    Calibration& out_;
};

CalibrationVerdict verdict_of(const Calibration& calibration) {
    if (calibration.left_out.after > calibration.left_out.before + kWorseAllowed ||
        much_is_far(calibration) ||
        std::any_of(
            calibration.groups.begin(), calibration.groups.end(),
            [](const GroupErrors& group) { return group.paid(); }))
        return CalibrationVerdict::kUnexplained;
    const bool turned = std::any_of(
        calibration.knobs.begin(), calibration.knobs.end(),
        [](const CalibratedKnob& knob) { return knob.logarithm != 0; });
    const bool gained = calibration.fitted.before - calibration.fitted.after > kLeastGain &&
                        calibration.left_out.after <= calibration.left_out.before;
    if (turned && gained)
        return CalibrationVerdict::kBetter;
    return std::any_of(
               calibration.groups.begin(), calibration.groups.end(),
               [](const GroupErrors& group) {
                   return group.left_out.points > 0 && group.left_out.before > group.limit;
               })
               ? CalibrationVerdict::kUnexplained
               : CalibrationVerdict::kNothing;
}

}  // namespace

std::string GroupErrors::name() const {
    if (!collectives)
        return group;
    return group + (large ? " from 1 MiB" : " below 1 MiB");
}

bool GroupErrors::paid() const {
    constexpr std::size_t kLeastPoints = 2;  // one may be a wrong row
    return left_out.points >= kLeastPoints && left_out.before <= limit &&
           left_out.after > std::max(limit, left_out.before + kWorseAllowed);
}

bool much_is_far(const Calibration& calibration) {
    std::size_t far = 0;
    std::size_t all = 0;
    for (const GroupErrors& group : calibration.groups) {
        all += group.left_out.points;
        far += group.far() ? group.left_out.points : 0;
    }
    return far > 0 && static_cast<double>(far) >= kFarAllowed * static_cast<double>(all);
}

Calibration calibrate(const CalibrationData& data, const CalibrationOptions& options) {
    Calibration out;
    const SystemParams system = load_system(data.system, {});
    out.system = system.name;
    out.data = observe(data);
    const std::vector<CalibrationPoint>& points = out.data.points;
    const std::vector<Told> kinds = kinds_of(points);
    const std::vector<Dial> dials = dials_of(system, kinds);
    SimulatedPoints simulated(system, dials, points, options.run);
    const std::vector<std::size_t> fitted = half_of(points, true);
    const std::vector<std::size_t> left_out = half_of(points, false);

    const std::vector<double> shipped(dials.size(), 0.0);
    const double begin = options.seconds();
    static_cast<void>(simulated.times(fitted, {shipped}));
    const double once = options.seconds() - begin;
    options.planned(
        {dials.size(), fitted.size(), left_out.size(),
         once * static_cast<double>(usual_evaluations(dials.size())) +
             2 * once * static_cast<double>(left_out.size()) / static_cast<double>(fitted.size())});

    std::vector<Unknown> unknowns;
    for (const Dial& dial : dials)
        unknowns.push_back({dial.low, dial.high, dial.knob->sigma});
    PenalisedFit fit =
        fit_penalised(unknowns, [&](const std::vector<std::vector<double>>& settings) {
            std::vector<std::vector<double>> residuals = simulated.times(fitted, settings);
            for (std::vector<double>& of_setting : residuals)
                for (std::size_t i = 0; i < of_setting.size(); ++i)
                    of_setting[i] = std::log(points[fitted[i]].measured_us / of_setting[i]);
            return residuals;
        });
    for (std::size_t k = 0; k < dials.size(); ++k) {
        if (std::abs(fit.values[k]) < kLeastChange)
            fit.values[k] = 0;
        out.knobs.push_back({dials[k], fit.values[k], fit.deviations[k], fit.told[k]});
    }

    ErrorTable errors(out);
    for (const auto& half : {fitted, left_out}) {
        const auto times = simulated.times(half, {shipped, fit.values});
        for (std::size_t i = 0; i < half.size(); ++i) {
            errors.add(points[half[i]], times[0][i], times[1][i]);
            out.times.push_back({half[i], times[0][i], times[1][i]});
        }
    }
    errors.end();
    out.verdict = verdict_of(out);
    out.simulations = simulated.simulations();
    return out;
}

}  // namespace switchfold::validation
