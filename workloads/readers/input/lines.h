// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// Reads a file, inflated, line by line.
class LineReader {
public:
    explicit LineReader(const std::filesystem::path& path, std::uint64_t most = kMostInflated);
    /// Reads the next line into `line`, without its end. \returns false after the last. Throws
    /// ConfigError like InputFile, and on a line of more than 16 MiB.
    bool next(std::string& line);
    /// Number of the last line read, from 1.
    [[nodiscard]] std::uint64_t number() const { return number_; }

private:
    std::filesystem::path path_;
    InputFile source_;
    std::vector<char> block_;
    std::size_t at_ = 0;
    std::size_t size_ = 0;
    std::uint64_t number_ = 0;
};

}  // namespace switchfold
