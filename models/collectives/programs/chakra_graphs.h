// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/programs/program.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::programs {

/// A node of a custom collective as ASTRA-sim runs it: a send, a receive, or a reduction of what
/// receives left.
struct ChakraStep {
    enum class Kind : std::uint8_t { kSend, kReceive, kReduce };
    Kind kind = Kind::kSend;
    std::string pointer;  ///< file and node
    std::uint32_t peer = kNobody;
    std::uint32_t tag = 0;  ///< counted from 0 over all ranks
    std::uint64_t bytes = 0;
    std::vector<std::uint32_t> before;   ///< nodes of the rank, earlier in its list
    std::uint32_t message = 0;           ///< of a send and of a receive
    bool reduced = false;                ///< a receive that a reduction takes
    std::optional<std::uint32_t> chunk;  ///< attribute of ours: first place
};

/// A rank's nodes, each behind those that it waits for; of equals the smaller id goes first.
using ChakraRank = std::vector<ChakraStep>;

struct ChakraMessage {
    std::uint32_t from = 0;  ///< rank
    std::uint32_t to = 0;
    std::uint32_t sent_by = 0;  ///< node of the rank
    std::uint32_t received_by = 0;
};

struct ChakraGraphs {
    std::vector<ChakraRank> ranks;
    std::vector<ChakraMessage> messages;
    std::string collective;      ///< as the metadata say; empty: they do not
    std::uint64_t smallest = 0;  ///< bytes of a message
    std::string text;            ///< of all files
};

/// Whether PREFIX.0.et is there. A folder stands for the only such prefix in it, and a name of a
/// first graph for its prefix.
[[nodiscard]] std::optional<std::filesystem::path> chakra_prefix(const std::filesystem::path& path);
/// Reads PREFIX.0.et, PREFIX.1.et, ... Throws ConfigError for what is no custom collective: nodes
/// of other types, sends without receives, cycles.
[[nodiscard]] ChakraGraphs read_chakra_graphs(const std::filesystem::path& prefix);

}  // namespace switchfold::programs
