// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/config/load.h"
#include "sim/run/sweep/axis.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// One experiment of a sweep: which value of each axis, and what names the experiment that this
/// makes. Points of the same digest are the same experiment.
struct SweepPoint {
    std::vector<std::uint32_t> at;
    std::string digest;
};

/// A sweep whose every point has been read and found to be a right experiment.
struct SweepPlan {
    std::string name;
    SweepFiles files;
    Json experiment;
    std::vector<Axis> axes;
    std::vector<SweepPoint> points;
};

/// More points than this are a mistake: they would not be planned, let alone run.
inline constexpr std::size_t kMostPoints = 1'000'000;

/// Reads a sweep's file and every point of it. Throws ConfigError with what is wrong, of points the
/// first twenty problems, blamed on the axis' value that brings them.
[[nodiscard]] SweepPlan plan_sweep(const std::filesystem::path& file);
/// The same of a sweep that stands in `file` as JSON.
[[nodiscard]] SweepPlan plan_sweep(
    const Json& json, const std::filesystem::path& file, std::size_t most_points = kMostPoints);

/// What a point puts into the experiment.
[[nodiscard]] std::vector<Override> overrides_of(const SweepPlan& plan, const SweepPoint& point);
/// "size=1 KiB, algorithm=ring"
[[nodiscard]] std::string name_of(const SweepPlan& plan, const SweepPoint& point);
/// The point's experiment. Throws ConfigError.
[[nodiscard]] LoadedExperiment load_point(const SweepPlan& plan, const SweepPoint& point);

/// JSON Schema of a sweep's file, and its parameters as a Markdown table.
[[nodiscard]] std::string sweep_schema_text();
[[nodiscard]] std::string sweep_parameter_table();

}  // namespace switchfold
