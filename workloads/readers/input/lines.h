// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold {

/// The lines of a file, inflated, one after the other.
class LineReader {
public:
    explicit LineReader(const std::filesystem::path& path, std::uint64_t most = kMostInflated);
    /// Puts the next line into `line`, without its end. \returns false behind the last. Throws
    /// ConfigError like InputFile, and on a line of more than 16 MiB.
    bool next(std::string& line);
    /// Of the line that was read last, from 1.
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
