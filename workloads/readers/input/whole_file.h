// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>

namespace switchfold {

/// A file for libraries that open files by name and access them randomly: the file itself or, if it
/// is compressed, a temporary file with its inflated bytes, which the destructor removes. A file
/// already open stays readable after that.
class WholeFile {
public:
    /// Throws ConfigError if the file does not exist, is damaged or exceeds `most` bytes when
    /// inflated; IoError if the temporary file cannot be written.
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
