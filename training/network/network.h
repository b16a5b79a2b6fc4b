// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A network: layers in topological order, with the layers that each reads.
struct Network {
    std::string name;
    std::vector<Layer> layers;
    std::uint64_t tokens = 0;  ///< per sample of sequences; 0: samples are not sequences
};

/// Contradictions in a layer of the network, one sentence each: an input that does not precede it,
/// a shape that does not match its elements, less input than its producers' outputs, shared weights
/// of a layer that has none.
[[nodiscard]] std::vector<std::string> problems_of(const Network& network, std::size_t layer);

/// Throws InternalError if a layer contradicts itself, names repeat, or the network is empty.
void check(const Network& network);

/// Parameters of all layers; shared weights count once.
[[nodiscard]] std::uint64_t parameters(const Network& network);

/// Layers whose weights a device with the layers [first, end) updates: those that have weights, and
/// an earlier one whose weights its layers share.
[[nodiscard]] std::vector<std::uint32_t>
updated_layers(const Network& network, std::uint32_t first, std::uint32_t end);

/// Multiply-accumulates of a sample's forward pass.
[[nodiscard]] std::uint64_t forward_macs(const Network& network);

/// Elements per sample that cross a cut after layer `last`: outputs of layers up to it that later
/// layers read, each counted once. Inputs of the network do not count: they are available
/// everywhere.
[[nodiscard]] std::uint64_t crossing_elements(const Network& network, std::size_t last);

/// crossing_elements for every cut, in one pass: element i is for the cut after layer i.
[[nodiscard]] std::vector<std::uint64_t> crossing_elements(const Network& network);

}  // namespace switchfold
