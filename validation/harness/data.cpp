// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace switchfold::validation {

namespace {

bool is_there(const std::filesystem::path& path, DataKind kind) {
    std::error_code ignored;
    return (kind != DataKind::kFile && std::filesystem::is_directory(path, ignored)) ||
           (kind != DataKind::kFolder && std::filesystem::is_regular_file(path, ignored));
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view expected) {
    std::error_code ignored;
    throw ConfigError(
        path.string(), "",
        fmt::format(
            "{}; expected {}",
            std::filesystem::exists(path, ignored) ? "is something else" : "does not exist",
            expected));
}

}  // namespace

std::filesystem::path named_measurements() {
    const char* const named = std::getenv("SWITCHFOLD_DATA");
    return named == nullptr ? "" : named;
}

std::optional<std::filesystem::path>
find_data(const SuiteOptions& options, std::string_view relative) {
    std::error_code ignored;
    for (const auto& folder :
         {options.data.value_or(""), options.measurements, options.root / kShippedData})
        if (!folder.empty() && std::filesystem::exists(folder / relative, ignored))
            return folder / relative;
    return std::nullopt;
}

std::vector<std::filesystem::path>
files_in(const std::filesystem::path& folder, std::string_view ending) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
        if (entry.is_regular_file(error) && entry.path().filename().string().ends_with(ending))
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

std::optional<std::filesystem::path> data_of(const Suite& suite, const SuiteOptions& options) {
    if (!options.measurements.empty() && !is_there(options.measurements, DataKind::kFolder))
        refuse(options.measurements, "a folder of measurements");
    const bool folder = suite.data_kind == DataKind::kFolder;
    if (options.data) {
        if (is_there(*options.data / suite.data, suite.data_kind))
            return *options.data / suite.data;
        if (is_there(*options.data, suite.data_kind))
            return *options.data;
        refuse(
            *options.data, fmt::format(
                               "the {} that suite {} reads, or a folder that holds it as {}",
                               folder ? "folder of traces" : "file", suite.name, suite.data));
    }
    const auto found = find_data(options, suite.data);
    if (found && !is_there(*found, suite.data_kind))
        refuse(*found, folder ? "a folder of traces" : "a file");
    return found;
}

std::string why_skipped(std::string_view relative) {
    return fmt::format(
        "no data: {} is not part of the repository; name the folder that holds it with --data or "
        "SWITCHFOLD_DATA (docs/validation.md)",
        relative);
}

SuiteResult skipped(const Suite& suite) {
    SuiteResult result;
    result.name = suite.name;
    result.skipped = why_skipped(suite.data);
    result.unmatched.push_back({result.name, "skipped: " + result.skipped});
    return result;
}

}  // namespace switchfold::validation
