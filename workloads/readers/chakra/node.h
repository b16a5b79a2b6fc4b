// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold::chakra {

// MLCommons Chakra, schema/protobuf/et_def.proto.

enum class NodeType : std::uint8_t {
    kInvalid,
    kMetadata,
    kMemoryLoad,
    kMemoryStore,
    kCompute,
    kSend,
    kReceive,
    kCollective,
};

/// A number, text or truth value; lists are ignored.
using Attribute = std::variant<std::uint64_t, std::int64_t, double, bool, std::string>;

/// An attribute of graphs that `trace convert` writes: whether a kernel's duration is the one that
/// it has without communication beside it.
inline constexpr const char* kIsTimeAlone = "is_time_alone";
/// Another one: whether a node of the host is nothing but the time that the next node waits longer
/// than for its dependencies.
inline constexpr const char* kIsGap = "is_gap";

struct Node {
    std::uint64_t id = 0;
    std::string name;
    NodeType type = NodeType::kInvalid;
    std::vector<std::uint64_t> dependencies;  ///< data
    std::vector<std::uint64_t> controls;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::string input_values;  ///< as text
    std::map<std::string, Attribute> attributes;

    /// A non-negative number, whatever its type; `otherwise` if it is absent.
    [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise) const;
    [[nodiscard]] std::string text(const std::string& name) const;
};

/// Throws WireError if the bytes are not a node.
[[nodiscard]] Node parse_node(std::string_view bytes);
/// The version of a GlobalMetadata message. Throws WireError if the bytes are not one.
[[nodiscard]] std::string parse_version(std::string_view bytes);

}  // namespace switchfold::chakra
