// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/root.h"

#include "core/error.h"

#include <optional>

namespace switchfold::validation {

namespace {

bool is_root(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::is_directory(folder / "configs/systems", ignored);
}

std::optional<std::filesystem::path> at_or_above(std::filesystem::path folder) {
    while (!is_root(folder)) {
        if (const auto installed = folder / "share/switchfold"; is_root(installed))
            return installed;
        const auto above = folder.parent_path();
        if (above == folder || above.empty())
            return std::nullopt;
        folder = above;
    }
    return folder;
}

}  // namespace

std::filesystem::path find_root(const std::filesystem::path& given) {
    if (!given.empty()) {
        if (is_root(given))
            return given;
        throw ConfigError(
            given.string(), "", "holds no configs/systems; expected the folder of the repository");
    }
    std::error_code error;
    if (auto found = at_or_above(std::filesystem::current_path(error)))
        return *found;
    if (auto found = at_or_above(std::filesystem::read_symlink("/proc/self/exe", error)))
        return *found;
    throw ConfigError(
        "configs/systems", "",
        "is neither in the working folder or one above it nor above the program; expected --root "
        "FOLDER, the folder of the repository; commands without it are called within that folder");
}

}  // namespace switchfold::validation
