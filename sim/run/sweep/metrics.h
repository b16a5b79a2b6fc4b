// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/json.h"

namespace switchfold {

/// The columns of a sweep's results that reports draw, first those of a single collective: a list
/// of
/// {"key", "title", "unit" ("us", "GB/s" or "share"), "less" (is better), "log" (axis),
/// "of_collective"}. The database keeps it for whoever draws.
[[nodiscard]] OrderedJson sweep_metrics();

}  // namespace switchfold
