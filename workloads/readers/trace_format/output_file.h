// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

struct ZSTD_CCtx_s;

namespace switchfold::trace_format {

/// Writes text as it is, or compressed by zstd. The file appears under its name only when it is
/// complete.
class OutputFile {
public:
    /// Throws IoError, as all members do.
    OutputFile(std::filesystem::path path, bool plain);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    OutputFile(OutputFile&&) = delete;
    OutputFile& operator=(OutputFile&&) = delete;

    void write(std::string_view text);
    void finish();

private:
    void pack(std::string_view text, bool end);
    void put(const char* data, std::size_t size);
    [[noreturn]] void fail() const;

    std::filesystem::path path_;
    std::filesystem::path partial_;
    std::FILE* file_ = nullptr;
    bool whole_ = false;  ///< and under its name
    ZSTD_CCtx_s* zstd_ = nullptr;
    std::vector<char> packed_;
};

}  // namespace switchfold::trace_format
