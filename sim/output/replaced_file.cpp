// SPDX-License-Identifier: Apache-2.0
#include "sim/output/replaced_file.h"

#include "core/error.h"

#include <system_error>
#include <utility>

namespace switchfold {

namespace {

std::filesystem::path partial_of(std::filesystem::path path) {
    path += ".partial";
    return path;
}

}  // namespace

ReplacedFile::ReplacedFile(std::filesystem::path path) :
    path_(std::move(path)), partial_(partial_of(path_)), file_(partial_) {}

ReplacedFile::~ReplacedFile() {
    std::error_code ignored;
    if (!closed_)
        std::filesystem::remove(partial_, ignored);
}

void ReplacedFile::close() {
    file_.close();
    std::error_code error;
    std::filesystem::rename(partial_, path_, error);
    if (error)
        throw IoError(path_.string(), error.value(), "rename the finished file");
    closed_ = true;
}

void replace_file(const std::filesystem::path& path, std::string_view text) {
    ReplacedFile file(path);
    file.write(text);
    file.close();
}

}  // namespace switchfold
