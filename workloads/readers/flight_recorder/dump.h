// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::flight_recorder {

/// Bytes of an entry's tensors; nothing if there are none or their type is not known.
struct Tensors {
    std::optional<std::uint64_t> bytes;
    std::optional<Datatype> datatype;  ///< of the first
    bool alike = true;                 ///< all have the same bytes
    /// Of an all-to-all whose tensors are a list: bytes of each, if their types are known.
    std::vector<std::uint64_t> parts;
};

/// A call of c10d.
struct Entry {
    enum class What : std::uint8_t { kCollective, kSend, kReceive };
    What what = What::kCollective;
    std::uint32_t name = 0;   ///< index into Dump::names
    std::uint32_t group = 0;  ///< index into Dump::groups
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::uint64_t number = 0;
    std::uint64_t created_ns = 0;
    Time duration;           ///< zero if it is not known
    std::uint32_t own = 0;   ///< rank in the group, of sends and receives
    std::uint32_t peer = 0;  ///< in the group
    Tensors in;
    Tensors out;
};

/// What a rank's flight recorder held.
struct Dump {
    std::vector<std::string> names;
    std::vector<std::string> groups;                            ///< process groups by c10d's names
    std::map<std::string, std::vector<std::uint32_t>> members;  ///< of process groups, ascending
    std::string default_group;                                  ///< that of all ranks, if told
    std::vector<Entry> entries;
    std::uint64_t all = 0;         ///< entries, of all kinds
    std::uint64_t unfinished = 0;  ///< calls that had not completed
    std::map<std::string, std::uint64_t> used;
    std::map<std::string, std::uint64_t> dropped;
};

/// Throws ConfigError ("/entries/3/collective_seq_id").
[[nodiscard]] Dump read_dump(const std::filesystem::path& file, std::uint64_t most);

}  // namespace switchfold::flight_recorder
