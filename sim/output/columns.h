// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchfold {

/// Rows as lines of columns as wide as their widest cell; the first left, the others right. Every
/// row has as many cells as the first.
[[nodiscard]] std::string align_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace switchfold
