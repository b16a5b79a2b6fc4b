// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

namespace switchfold {

/// The columns of a sweep's results that reports draw, those of a single collective first: a list
/// of {"key", "title", "unit" ("us", "GB/s" or "share"), "less" (is better), "log" (axis),
/// "of_collective"}. Stored in the database for all readers.
[[nodiscard]] OrderedJson sweep_metrics();

}  // namespace switchfold
