// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <filesystem>
#include <optional>
#include <string_view>

namespace switchfold::validation {

/// The measurements that the repository holds: a part of a whole folder of measurements, laid out
/// like one (reference/, traces/, models/). Relative to SuiteOptions::root.
inline constexpr std::string_view kShippedData = "validation/data";

/// `relative` below the first of these folders that has it: SuiteOptions::data, ::measurements,
/// the repository's own. Empty if none has it.
[[nodiscard]] std::optional<std::filesystem::path>
find_data(const SuiteOptions& options, std::string_view relative);

/// What the suite reads: SuiteOptions::data itself if that is no folder of measurements, else what
/// find_data() finds. Empty if nobody has it and nobody asked for it: the suite is skipped. Throws
/// ConfigError if the user named something that is not there or is something else.
[[nodiscard]] std::optional<std::filesystem::path>
data_of(const Suite& suite, const SuiteOptions& options);

/// Why there is nothing to read, and how to name it.
[[nodiscard]] std::string why_skipped(std::string_view relative);

/// A suite without data: no case, no verdict, and `why_skipped` as its reason.
[[nodiscard]] SuiteResult skipped(const Suite& suite);

}  // namespace switchfold::validation
