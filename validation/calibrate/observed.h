// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/calibrate/observations.h"

namespace switchfold::validation {

/// Adds the rows as points of the system; what is not possible on it is left out with the reason.
void observe_collectives(
    const std::vector<MeasuredRow>& rows, const CalibrationData& data, const Machines& machines,
    Observations& out);

/// Adds tables of kernels or copies, and traces.
void observe_kernels(
    const std::filesystem::path& table, const SystemParams& system, Observations& out);
void observe_copies(const std::filesystem::path& table, Observations& out);
void observe_traces(
    const std::vector<std::filesystem::path>& traces, const SystemParams& system,
    Observations& out);

/// Adds measurements of equal things to one point.
class PointMerger {
public:
    explicit PointMerger(std::vector<CalibrationPoint>& points) : points_(points) {}
    /// `key`: equal for equal things.
    void add(const std::string& key, CalibrationPoint point);

private:
    std::vector<CalibrationPoint>& points_;
    std::map<std::string, std::size_t> places_;
    std::map<std::string, std::pair<double, double>> extremes_;
};

}  // namespace switchfold::validation
