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
    kNone,        ///< every rank does all of it
    kColumns,     ///< weights by outputs: the whole input, a part of the output
    kRows,        ///< weights by inputs: a part of the input, a partial sum of the whole output
    kHeads,       ///< between columns and rows: a part of the input, of the work and of the output
    kVocabulary,  ///< weights, outputs and losses by words of the vocabulary
    kExperts,     ///< whole experts; a rank that holds an expert does what kColumns and kRows do
};

/// Of a layer that is in no repeated block.
inline constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();

/// One layer of a network: an operation with its work and sizes for one sample (an image, a
/// sequence).
struct Layer {
    std::string name;
    std::string type;                ///< conv, linear, lstm; attention; embedding; batchnorm, ...
    std::uint64_t parameters = 0;    ///< of its own: none of the weights that it shares
    std::uint64_t macs = 0;          ///< multiply-accumulates forward
    std::uint64_t out_elements = 0;  ///< of its output
    /// Layers whose outputs it reads, each before this one. The network's own inputs are not here.
    std::vector<std::uint32_t> inputs = {};
    std::uint64_t in_elements = 0;  ///< of all that it reads, the network's own inputs too
    /// Of its output: channels, height, width; or tokens, width; or width. Empty: not known.
    std::vector<std::uint64_t> out_shape = {};
    /// The earlier layer whose weights it uses.
    std::optional<std::uint32_t> shares = {};
    TensorSplit split = TensorSplit::kNone;
    /// The repeated block (of a transformer, a residual network) that it belongs to.
    std::uint32_t block = kNoBlock;
    /// Equal products beside each other: groups of a convolution, experts.
    std::uint32_t groups = 1;
    std::uint32_t heads = 0;                 ///< of attention; 0 where not known
    std::optional<double> forward_us = {};   ///< measured, a sample
    std::optional<double> backward_us = {};  ///< measured, a sample
};

}  // namespace switchfold
