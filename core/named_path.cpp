// SPDX-License-Identifier: Apache-2.0
#include "core/named_path.h"

namespace switchfold {

std::filesystem::path
path_from(const std::filesystem::path& folder, const std::filesystem::path& written) {
    return written.is_absolute() ? written : (folder / written).lexically_normal();
}

std::filesystem::path
path_named_in(const std::filesystem::path& file, const std::filesystem::path& written) {
    return path_from(file.parent_path(), written);
}

}  // namespace switchfold
