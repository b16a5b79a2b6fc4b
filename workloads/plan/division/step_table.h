// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Measured step times of one GPU: seconds by samples, ascending.
using MeasuredSteps = std::map<std::uint32_t, double>;
/// Of several, by their names.
using StepTable = std::map<std::string, MeasuredSteps>;

/// Reads CSV with the columns gpu, batch, seconds; others are not read. Throws ConfigError with
/// every line that is wrong: a batch of no samples or that stands twice, a time that is none.
[[nodiscard]] StepTable parse_step_table(std::string_view text, const std::string& label);
[[nodiscard]] StepTable read_step_table(const std::filesystem::path& path);

/// Seconds by samples up to the largest batch that was measured: linear between measured ones, and
/// below the smallest as long as that. Index 0 is 0. Larger batches are unknown: nothing says that
/// they fit.
[[nodiscard]] std::vector<double> seconds_by_samples(const MeasuredSteps& steps);

}  // namespace switchfold
