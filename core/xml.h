// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// An element of an XML file: its attributes and the elements in it. Texts between them are left
/// out: what we read has none.
struct XmlElement {
    std::string name;
    std::string pointer;  ///< such as /algo/gpu[3]/tb[0], each counted among those of its name
    std::vector<std::pair<std::string, std::string>> attributes;
    std::vector<XmlElement> children;

    /// Null if it is not there.
    [[nodiscard]] const std::string* attribute(std::string_view key) const;
};

/// Limits on what a file may hold, so that a hostile one ends in a message.
struct XmlLimits {
    std::uint64_t bytes = 64ULL << 20U;
    std::uint32_t depth = 32;
};

/// The root of a text that came from `file`. Document types and entities of one's own are refused.
/// Throws ConfigError.
[[nodiscard]] XmlElement
parse_xml(const std::string& text, const std::filesystem::path& file, XmlLimits limits = {});
[[nodiscard]] XmlElement load_xml(const std::filesystem::path& file, XmlLimits limits = {});

}  // namespace switchfold
