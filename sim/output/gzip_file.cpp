// SPDX-License-Identifier: Apache-2.0
#include "sim/output/gzip_file.h"

#include "core/error.h"

#include <cerrno>

#include <zlib.h>

namespace switchfold {

struct GzipFile::Handle {
    gzFile file = nullptr;
    ~Handle() {
        if (file != nullptr)
            gzclose(file);
    }
};

GzipFile::GzipFile(const std::filesystem::path& path) :
    path_(path), handle_(std::make_unique<Handle>()) {
    // zlib's gzip header carries no time stamp, so the bytes repeat.
    handle_->file = gzopen(path.c_str(), "wb6");
    if (handle_->file == nullptr)
        throw IoError(path.string(), errno, "write the file");
}

GzipFile::~GzipFile() = default;

void GzipFile::write(std::string_view text) {
    if (!text.empty() &&
        gzwrite(handle_->file, text.data(), static_cast<unsigned>(text.size())) == 0)
        throw IoError(path_.string(), errno, "write the file");
}

void GzipFile::close() {
    const int code = gzclose(handle_->file);
    handle_->file = nullptr;
    if (code != Z_OK)
        throw IoError(path_.string(), errno, "write the file");
}

}  // namespace switchfold
