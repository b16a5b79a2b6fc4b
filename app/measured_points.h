// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <filesystem>

namespace switchfold {

/// Rows of a table of measured all-reduces with a known machine, for a sweep's page: machine,
/// ranks, ran (ring, tree, in_switch, auto), size_bytes, time_us, bus_bandwidth_GBps, table. Throws
/// ConfigError.
[[nodiscard]] OrderedJson measured_points(const std::filesystem::path& table);

}  // namespace switchfold
