// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/load.h"
#include "sim/sweep/axis.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// One experiment of a sweep: the index of each axis' value, and the resulting experiment's digest.
/// Points with equal digests are the same experiment.
struct SweepPoint {
    std::vector<std::uint32_t> at;
    std::string digest;
};

/// A sweep in which every point has been read and is valid.
struct SweepPlan {
    std::string name;
    SweepFiles files;
    Json experiment;
    std::vector<Axis> axes;
    std::vector<SweepPoint> points;
};

/// Limit on points; more are a mistake.
inline constexpr std::size_t kMostPoints = 1'000'000;

/// Reads a sweep's file and all its points. Throws ConfigError with all problems, for points the
/// first twenty, attributed to the axis' value that causes them.
[[nodiscard]] SweepPlan plan_sweep(const std::filesystem::path& file);
/// The same of a sweep that stands in `file` as JSON.
[[nodiscard]] SweepPlan plan_sweep(
    const Json& json, const std::filesystem::path& file, std::size_t most_points = kMostPoints);

/// The values that a point sets in the experiment.
[[nodiscard]] std::vector<Override> overrides_of(const SweepPlan& plan, const SweepPoint& point);
/// "size=1 KiB, algorithm=ring"
[[nodiscard]] std::string name_of(const SweepPlan& plan, const SweepPoint& point);
/// The point's experiment. Throws ConfigError.
[[nodiscard]] LoadedExperiment load_point(const SweepPlan& plan, const SweepPoint& point);

/// JSON Schema of a sweep's file, and its parameters as a Markdown table.
[[nodiscard]] std::string sweep_schema_text();
[[nodiscard]] std::string sweep_parameter_table();

}  // namespace switchfold
