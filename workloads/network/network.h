// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/network/layer.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A network: layers in an order in which the forward pass can run, joined by what each reads.
struct Network {
    std::string name;
    std::vector<Layer> layers;
    std::uint64_t tokens = 0;  ///< of a sample that is a sequence; 0: it is none
};

/// What contradicts itself in a layer of the network, one sentence each: an input that does not
/// come before it, a shape that is not its elements, less input than its producers give, weights of
/// a layer that has none.
[[nodiscard]] std::vector<std::string> problems_of(const Network& network, std::size_t layer);

/// Throws InternalError if a layer contradicts itself, two have one name, or there is none.
void check(const Network& network);

/// Of all layers; weights that several use count once.
[[nodiscard]] std::uint64_t parameters(const Network& network);

/// Multiply-accumulates of a sample's forward pass.
[[nodiscard]] std::uint64_t forward_macs(const Network& network);

/// Elements a sample that cross a cut behind layer `last`: outputs of layers up to it that later
/// layers read, each once, however many read it. Inputs of the network cross no cut: they are read
/// where they are needed.
[[nodiscard]] std::uint64_t crossing_elements(const Network& network, std::size_t last);

/// crossing_elements of every cut, in one pass: what crosses behind layer i is at i.
[[nodiscard]] std::vector<std::uint64_t> crossing_elements(const Network& network);

}  // namespace switchfold
