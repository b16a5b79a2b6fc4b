// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/input/input_file.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace switchfold::chakra {

/// Reads a file's messages, each preceded by its length as a varint.
class Messages {
public:
    Messages(const std::filesystem::path& file, std::uint64_t most);
    /// \returns false at the end. Throws ConfigError if the file ends within a message or one is
    /// longer than 16 MiB.
    bool next(std::string& message);
    /// Offset of the last message read, from 0.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }

private:
    bool byte(unsigned char& out);
    bool fill();
    [[noreturn]] void fail(const char* what) const;

    std::string file_;
    InputFile input_;
    std::vector<char> block_;
    std::size_t at_ = 0;
    std::size_t size_ = 0;
    std::uint64_t read_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace switchfold::chakra
