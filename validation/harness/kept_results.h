// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace switchfold::validation {

/// Results kept from earlier runs, in a file each, by what they depend on. The program's own bytes
/// are part of every key, so that a changed model never meets the numbers of another.
class KeptResults {
public:
    /// Keeps nothing and finds nothing.
    KeptResults() = default;
    /// Keeps them below a folder, which is made when the first is kept.
    explicit KeptResults(std::filesystem::path folder);

    [[nodiscard]] std::optional<std::string> find(std::string_view key) const;
    /// A folder that cannot be written keeps nothing.
    void keep(std::string_view key, std::string_view bytes) const;

private:
    [[nodiscard]] std::filesystem::path file_of(std::string_view key) const;

    std::filesystem::path folder_;
    std::string program_;  ///< digest of its bytes
};

/// XDG_CACHE_HOME/switchfold, or ~/.cache/switchfold; empty if the environment names neither.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// Digest of the bytes of a file, or of all files below a folder with their names; of nothing if
/// there is none. Throws IoError or filesystem_error if one cannot be read.
[[nodiscard]] std::string digest_of_files(const std::filesystem::path& path);

}  // namespace switchfold::validation
