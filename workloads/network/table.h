// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "workloads/network/network.h"

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

/// Reads a table of layers, one a line, as docs/networks.md describes it. Needs the columns layer,
/// type, params, fwd_macs_per_sample and out_elems_per_sample; knows inputs, in_elems_per_sample,
/// out_shape, shares, split, block, groups, heads, forward_us and backward_us. Without `inputs`
/// each layer reads the one before it. What the network itself is given is taken to be as large as
/// the layer's output where in_elems_per_sample does not say. Throws ConfigError "file: line N:
/// ..." with everything that is wrong, IoError if it cannot be read.
[[nodiscard]] Network read_network_table(const std::filesystem::path& path);
[[nodiscard]] Network parse_network_table(std::string_view text, const std::string& label);

}  // namespace switchfold
