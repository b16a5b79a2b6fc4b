// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// Measurements in the repository: a subset of a full folder of measurements with the same layout
/// (reference/, traces/, models/). Relative to SuiteOptions::root.
inline constexpr std::string_view kShippedData = "validation/data";

/// The folder of measurements that SWITCHFOLD_DATA names; empty if it names none.
[[nodiscard]] std::filesystem::path named_measurements();

/// Path of `relative` in the first folder that contains it: SuiteOptions::data, ::measurements, or
/// the repository's own. Empty if none does.
[[nodiscard]] std::optional<std::filesystem::path>
find_data(const SuiteOptions& options, std::string_view relative);

/// Files of a folder whose names end so, sorted; none if there is no such folder.
[[nodiscard]] std::vector<std::filesystem::path>
files_in(const std::filesystem::path& folder, std::string_view ending);

/// The suite's input: SuiteOptions::data itself unless it is a folder of measurements, otherwise
/// the result of find_data(). Empty if nothing is found and the user named nothing: the suite is
/// skipped. Throws ConfigError if the user named something that does not exist or does not fit.
[[nodiscard]] std::optional<std::filesystem::path>
data_of(const Suite& suite, const SuiteOptions& options);

/// Says why there is no input, and how to name it.
[[nodiscard]] std::string why_skipped(std::string_view relative);

/// The result of a suite without data: no case, no verdict, and `why_skipped` as its reason.
[[nodiscard]] SuiteResult skipped(const Suite& suite);

}  // namespace switchfold::validation
