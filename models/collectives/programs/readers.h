// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"
#include "core/xml.h"
#include "models/collectives/programs/chakra_graphs.h"
#include "models/collectives/programs/program.h"

#include <filesystem>
#include <string>

namespace switchfold::programs {

/// Largest programs; what is larger is refused, not read for hours.
inline constexpr std::uint32_t kMostRanks = 1024;
inline constexpr std::uint64_t kMostInstructions = 2'000'000;
inline constexpr std::uint32_t kMostPlaces = 1U << 16U;  ///< of a rank
inline constexpr std::uint32_t kMostBlocks = 256;        ///< of a rank
inline constexpr std::uint64_t kMostTurns = 2'000'000;   ///< of loops, of all ranks
/// Places of all ranks' memories, and those that all instructions touch: what the proof holds.
inline constexpr std::uint64_t kMostPlacesOfAll = 1ULL << 22U;
inline constexpr std::uint64_t kMostMoves = 1ULL << 24U;

/// Our own form for these ranks (docs/programs.md). Throws ConfigError.
[[nodiscard]] Program
program_from_json(const Json& json, const std::filesystem::path& file, const Shape& shape);
/// What it says of itself without ranks.
struct JsonHead {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Protocol protocol = Protocol::kAuto;
    std::string name;
};
[[nodiscard]] JsonHead head_of_json(const Json& json, const std::filesystem::path& file);
/// Instances that it asks for; 0: as many as the machine's rings have channels.
[[nodiscard]] std::uint32_t
instances_of_json(const Json& json, const std::filesystem::path& file, const Shape& shape);
/// What it needs of the ranks and has not; empty: nothing.
[[nodiscard]] std::string
why_not_shape(const Json& json, const std::filesystem::path& file, const Shape& shape);

/// An MSCCL program as msccl-tools writes it. Throws ConfigError.
[[nodiscard]] Program program_from_msccl(const XmlElement& root, const std::filesystem::path& file);

/// A custom collective of ASTRA-sim: Chakra's graphs PREFIX.RANK.et. Throws ConfigError.
[[nodiscard]] Program
program_from_chakra(const ChakraGraphs& graphs, const std::filesystem::path& prefix);

}  // namespace switchfold::programs
