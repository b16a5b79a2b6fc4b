// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace switchfold {

/// Streams text into a gzip file; the same text gives the same bytes. Throws IoError.
class GzipFile {
public:
    explicit GzipFile(const std::filesystem::path& path);
    ~GzipFile();
    GzipFile(const GzipFile&) = delete;
    GzipFile& operator=(const GzipFile&) = delete;
    GzipFile(GzipFile&&) = delete;
    GzipFile& operator=(GzipFile&&) = delete;

    void write(std::string_view text);
    void close();

private:
    struct Handle;
    std::filesystem::path path_;
    std::unique_ptr<Handle> handle_;
};

}  // namespace switchfold
