// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace switchfold {

/// The sections of docs/statistics.md.
[[nodiscard]] std::string statistics_docs();

}  // namespace switchfold
