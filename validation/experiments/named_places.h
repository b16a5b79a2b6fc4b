// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/json.h"

#include <filesystem>
#include <map>
#include <string>

namespace switchfold::validation {

/// What texts of tables and maps name: files of the repository (`configs/...`,
/// `validation/data/...`), and folders that a
/// map has words for.
class NamedPlaces {
public:
    NamedPlaces(std::filesystem::path root, std::map<std::string, std::string> places);

    /// The value with such texts replaced by paths; also inside of objects and arrays.
    [[nodiscard]] Json placed(const Json& value) const;
    /// A file that `from` names: of the repository, or relative to `from`.
    [[nodiscard]] std::filesystem::path
    file(const std::string& text, const std::filesystem::path& from) const;
    /// A system: its file, or its name in configs/systems. Throws ConfigError if there is none.
    [[nodiscard]] std::string
    system(const std::string& text, const std::filesystem::path& from) const;

private:
    [[nodiscard]] std::string placed_text(const std::string& text) const;

    std::filesystem::path root_;
    std::map<std::string, std::string> places_;
};

}  // namespace switchfold::validation
