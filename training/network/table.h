// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/network/network.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace switchfold {

template <>
struct EnumNames<TensorSplit> {
    static constexpr std::array<std::pair<TensorSplit, std::string_view>, 6> kNames{
        {{TensorSplit::kNone, "none"},
         {TensorSplit::kColumns, "columns"},
         {TensorSplit::kRows, "rows"},
         {TensorSplit::kHeads, "heads"},
         {TensorSplit::kVocabulary, "vocabulary"},
         {TensorSplit::kExperts, "experts"}}};
};

/// Reads a table with one layer per line, as described in docs/networks.md. Requires the columns
/// layer, type, params, fwd_macs_per_sample and out_elems_per_sample; also knows inputs,
/// in_elems_per_sample, out_shape, shares, split, block, groups, heads, forward_us and backward_us.
/// Without `inputs` each layer reads the one before it. The network's own input is assumed to be as
/// large as the layer's output unless in_elems_per_sample states it. Throws ConfigError "file: line
/// N: ..." with all problems, IoError if the file cannot be read.
[[nodiscard]] Network read_network_table(const std::filesystem::path& path);
[[nodiscard]] Network parse_network_table(std::string_view text, const std::string& label);

}  // namespace switchfold
