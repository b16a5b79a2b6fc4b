// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// One layer of a network, for one sample (an image, a sequence).
struct Layer {
    std::string name;
    std::string type;  ///< conv, linear, lstm; embedding; batchnorm, layernorm, ...
    std::uint64_t parameters = 0;
    std::uint64_t macs = 0;          ///< multiply-accumulates forward
    std::uint64_t out_elements = 0;  ///< of its output
};

/// Reads a table with the columns layer, type, params, fwd_macs_per_sample, out_elems_per_sample.
/// Throws ConfigError "file: line N: ..." with everything that is wrong, IoError if it cannot be
/// read.
[[nodiscard]] std::vector<Layer> read_layer_table(const std::filesystem::path& path);
[[nodiscard]] std::vector<Layer> parse_layer_table(std::string_view text, const std::string& label);

}  // namespace switchfold
