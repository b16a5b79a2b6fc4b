// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/trace_format/output_file.h"

#include "core/error.h"

#include <cerrno>

#include <zstd.h>

namespace switchfold::trace_format {

namespace {
// Six times as fast as the highest level, at the cost of a few per cent more bytes.
constexpr int kLevel = 9;
}  // namespace

OutputFile::OutputFile(std::filesystem::path path, bool plain) : path_(std::move(path)) {
    partial_ = path_;
    partial_ += ".partial";
    errno = 0;
    file_ = std::fopen(partial_.c_str(), "wb");
    if (file_ == nullptr)
        fail();
    if (plain)
        return;
    zstd_ = ZSTD_createCCtx();
    SWITCHFOLD_CHECK(zstd_ != nullptr, "zstd has no memory");
    ZSTD_CCtx_setParameter(zstd_, ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(zstd_, ZSTD_c_checksumFlag, 1);
    packed_.resize(ZSTD_CStreamOutSize());
}

OutputFile::~OutputFile() {
    ZSTD_freeCCtx(zstd_);
    if (file_ != nullptr)
        static_cast<void>(std::fclose(file_));
    std::error_code ignored;
    if (!whole_)
        std::filesystem::remove(partial_, ignored);
}

void OutputFile::fail() const {
    throw IoError(path_.string(), errno == 0 ? EIO : errno, "write the trace");
}

void OutputFile::put(const char* data, std::size_t size) {
    errno = 0;
    if (std::fwrite(data, 1, size, file_) != size)
        fail();
}

void OutputFile::pack(std::string_view text, bool end) {
    ZSTD_inBuffer in{text.data(), text.size(), 0};
    for (;;) {
        ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
        const std::size_t left =
            ZSTD_compressStream2(zstd_, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        SWITCHFOLD_CHECK(ZSTD_isError(left) == 0, "zstd: {}", ZSTD_getErrorName(left));
        put(packed_.data(), out.pos);
        if (end ? left == 0 : in.pos == in.size)
            return;
    }
}

void OutputFile::write(std::string_view text) {
    if (zstd_ == nullptr)
        put(text.data(), text.size());
    else
        pack(text, false);
}

void OutputFile::finish() {
    if (zstd_ != nullptr)
        pack({}, true);
    errno = 0;
    const int closed = std::fclose(file_);
    file_ = nullptr;
    if (closed != 0)
        fail();
    std::error_code error;
    std::filesystem::rename(partial_, path_, error);
    if (error)
        throw IoError(path_.string(), error.value(), "write the trace");
    whole_ = true;
}

}  // namespace switchfold::trace_format
