// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// A file for a library that opens files by name and reads anywhere in them: the file itself, or
/// where it is compressed, its bytes in a temporary file that this takes away again. Who has opened
/// that needs its name no longer.
class WholeFile {
public:
    /// Throws ConfigError if the file is not there, damaged or more than `most` bytes when
    /// inflated, IoError if the temporary file cannot be written.
    explicit WholeFile(const std::filesystem::path& path, std::uint64_t most = kMostInflated);
    ~WholeFile();
    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;
    WholeFile(WholeFile&&) = delete;
    WholeFile& operator=(WholeFile&&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    void inflate(const std::filesystem::path& packed, std::uint64_t most);

    std::filesystem::path path_;
    bool temporary_ = false;
};

}  // namespace switchfold
