// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// How Megatron's tensor parallelism (arXiv 1909.08053) divides a layer among the ranks of a group.
enum class TensorSplit : std::uint8_t {
    kNone,        ///< not divided: every rank does all of it
    kColumns,     ///< weights by outputs: whole input, part of the output
    kRows,        ///< weights by inputs: part of the input, partial sums of the whole output
    kHeads,       ///< between columns and rows: part of the input, the work and the output
    kVocabulary,  ///< weights, outputs and losses by vocabulary entries
    kExperts,     ///< whole experts; within an expert as kColumns and kRows
};

/// Block of a layer that belongs to no repeated block.
inline constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();

/// One layer of a network: an operation with its work and sizes for one sample (an image, a
/// sequence).
struct Layer {
    std::string name;
    std::string type;                ///< conv, linear, lstm; attention; embedding; batchnorm, ...
    std::uint64_t parameters = 0;    ///< without shared weights
    std::uint64_t macs = 0;          ///< multiply-accumulates of the forward pass
    std::uint64_t out_elements = 0;  ///< of its output
    /// Layers whose outputs it reads, all before this one. Excludes the network's own inputs.
    std::vector<std::uint32_t> inputs = {};
    std::uint64_t in_elements = 0;  ///< total that it reads, including the network's own inputs
    /// Shape of its output: channels, height, width; or tokens, width; or width. Empty: unknown.
    std::vector<std::uint64_t> out_shape = {};
    /// The earlier layer whose weights it shares.
    std::optional<std::uint32_t> shares = {};
    TensorSplit split = TensorSplit::kNone;
    /// The repeated block (of a transformer, a residual network) to which it belongs.
    std::uint32_t block = kNoBlock;
    /// Number of independent equal products: groups of a convolution, experts.
    std::uint32_t groups = 1;
    std::uint32_t heads = 0;                 ///< of attention; 0 if unknown
    std::uint32_t kv_heads = 0;              ///< of attention's keys and values; 0: as many
    std::uint32_t score_width = 0;           ///< of a head's queries and keys; 0: as its values
    std::uint32_t window = 0;                ///< keys that a query sees at most; 0: no window
    std::optional<double> forward_us = {};   ///< measured, per sample
    std::optional<double> backward_us = {};  ///< measured, per sample
};

}  // namespace switchfold
