// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace switchfold {

/// Formats rows as a table. Each column is as wide as its widest cell; the first is aligned left,
/// the others right. Every row has as many cells as the first.
[[nodiscard]] std::string align_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace switchfold
