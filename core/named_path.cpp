// SPDX-License-Identifier: Apache-2.0
#include "core/named_path.h"

#include <algorithm>

namespace switchfold {

std::filesystem::path
path_from(const std::filesystem::path& folder, const std::filesystem::path& written) {
    return written.is_absolute() ? written : (folder / written).lexically_normal();
}

std::filesystem::path
path_to_write(const std::filesystem::path& folder, const std::filesystem::path& file) {
    constexpr std::ptrdiff_t kFar = 4;
    const auto whole = std::filesystem::weakly_canonical(file);
    const auto near = whole.lexically_relative(std::filesystem::weakly_canonical(folder));
    return near.empty() || std::count(near.begin(), near.end(), "..") > kFar ? whole : near;
}

std::filesystem::path
path_named_in(const std::filesystem::path& file, const std::filesystem::path& written) {
    return path_from(file.parent_path(), written);
}

}  // namespace switchfold
