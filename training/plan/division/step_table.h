// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Measured step times of one GPU: seconds by number of samples, ascending.
using MeasuredSteps = std::map<std::uint32_t, double>;
/// Measured step times of several GPUs, by name.
using StepTable = std::map<std::string, MeasuredSteps>;

/// Reads CSV with the columns gpu, batch, seconds and ignores others. Throws ConfigError listing
/// every wrong line: an empty or duplicate batch, or an invalid time.
[[nodiscard]] StepTable parse_step_table(std::string_view text, const std::string& label);
[[nodiscard]] StepTable read_step_table(const std::filesystem::path& path);

/// Seconds by number of samples, up to the largest measured batch: linear between measurements, and
/// constant below the smallest. Element 0 is 0. Larger batches are left out, since they may not fit
/// in memory.
[[nodiscard]] std::vector<double> seconds_by_samples(const MeasuredSteps& steps);

}  // namespace switchfold
