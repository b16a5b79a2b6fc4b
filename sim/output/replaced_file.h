// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/writers.h"

#include <filesystem>
#include <string_view>

namespace switchfold {

/// A text file that replaces the one of its name only once it is complete: until close() it is
/// called NAME.partial. A killed process leaves that, and the next one that writes NAME writes over
/// it. Throws IoError.
class ReplacedFile {
public:
    explicit ReplacedFile(std::filesystem::path path);
    /// Without close() nothing stays.
    ~ReplacedFile();
    ReplacedFile(const ReplacedFile&) = delete;
    ReplacedFile& operator=(const ReplacedFile&) = delete;
    ReplacedFile(ReplacedFile&&) = delete;
    ReplacedFile& operator=(ReplacedFile&&) = delete;

    void write(std::string_view text) { file_.write(text); }
    void close();

private:
    std::filesystem::path path_;
    std::filesystem::path partial_;
    TextFile file_;
    bool closed_ = false;
};

/// One that is text already.
void replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace switchfold
