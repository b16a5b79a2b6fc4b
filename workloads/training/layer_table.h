// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/layer.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Reads a table with the columns layer, type, params, fwd_macs_per_sample, out_elems_per_sample.
/// Throws ConfigError "file: line N: ..." with everything that is wrong, IoError if it cannot be
/// read.
[[nodiscard]] std::vector<Layer> read_layer_table(const std::filesystem::path& path);
[[nodiscard]] std::vector<Layer> parse_layer_table(std::string_view text, const std::string& label);

}  // namespace switchfold
