// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/input_file.h"

#include "core/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include <zlib.h>
#include <zstd.h>

namespace switchfold {

namespace {

struct FileClose {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, FileClose>;

struct GzClose {
    void operator()(gzFile file) const { gzclose(file); }
};

constexpr unsigned kInflateAtOnce = 1U << 18U;

}  // namespace

/// Decompressor between file and reader. `read` throws std::runtime_error that says what is wrong
/// with the file.
class InputFile::Inflater {
public:
    Inflater() = default;
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    Inflater(Inflater&&) = delete;
    Inflater& operator=(Inflater&&) = delete;
    virtual ~Inflater() = default;
    virtual std::size_t read(std::span<char> block) = 0;
};

namespace {

[[noreturn]] void fail_to_open(const std::filesystem::path& path) {
    throw IoError(path.string(), errno == 0 ? EIO : errno, "open the trace");
}

/// For gzip, and for plain files, which zlib passes through.
class GzipInflater : public InputFile::Inflater {
public:
    explicit GzipInflater(const std::filesystem::path& path) : file_(gzopen(path.c_str(), "rb")) {
        if (!file_)
            fail_to_open(path);
        gzbuffer(file_.get(), kInflateAtOnce);
    }
    std::size_t read(std::span<char> block) override {
        const int count = gzread(file_.get(), block.data(), static_cast<unsigned>(block.size()));
        int code = Z_OK;
        const char* text = gzerror(file_.get(), &code);
        if (count < 0)
            throw std::runtime_error(
                fmt::format("cannot be decompressed ({}); expected a whole gzip file", text));
        if (count == 0 && code != Z_OK && code != Z_STREAM_END)
            throw std::runtime_error("the gzip stream ends too early; expected a whole file");
        return static_cast<std::size_t>(count);
    }

private:
    std::unique_ptr<gzFile_s, GzClose> file_;
};

class ZstdInflater : public InputFile::Inflater {
public:
    explicit ZstdInflater(File file) : file_(std::move(file)), packed_(kInflateAtOnce) {}
    std::size_t read(std::span<char> block) override {
        ZSTD_outBuffer out{block.data(), block.size(), 0};
        while (out.pos == 0) {
            const bool more = in_.pos < in_.size || refill();
            if (!more && left_ == 0)
                return 0;
            // Called without new input too: output that did not fit the previous block is still
            // buffered.
            left_ = ZSTD_decompressStream(stream_.get(), &out, &in_);
            if (ZSTD_isError(left_) != 0U)
                throw std::runtime_error(fmt::format(
                    "cannot be decompressed ({}); expected a whole zstd file",
                    ZSTD_getErrorName(left_)));
            if (!more && out.pos == 0)
                throw std::runtime_error("the zstd stream ends too early; expected a whole file");
        }
        return out.pos;
    }

private:
    struct StreamFree {
        void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
    };
    bool refill() {
        const std::size_t count = std::fread(packed_.data(), 1, packed_.size(), file_.get());
        in_ = {packed_.data(), count, 0};
        return count > 0;
    }

    File file_;
    std::vector<char> packed_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    std::size_t left_ = 1;  ///< 0 when a frame is complete
    std::unique_ptr<ZSTD_DStream, StreamFree> stream_{ZSTD_createDStream()};
};

std::unique_ptr<InputFile::Inflater> open(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        throw ConfigError(
            path.string(), "",
            "does not exist or is not a file; expected a trace (see `trace --help`)");
    File file(std::fopen(path.c_str(), "rb"));
    if (!file)
        fail_to_open(path);
    constexpr std::array<unsigned char, 4> kZstd{0x28, 0xb5, 0x2f, 0xfd};
    std::array<unsigned char, 4> magic{};
    const bool zstd =
        std::fread(magic.data(), 1, magic.size(), file.get()) == magic.size() && magic == kZstd;
    std::rewind(file.get());
    if (zstd)
        return std::make_unique<ZstdInflater>(std::move(file));
    return std::make_unique<GzipInflater>(path);
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, std::uint64_t most) :
    path_(std::move(path)), most_(most), inflater_(open(path_)) {}
InputFile::~InputFile() = default;

void InputFile::fail(std::string_view what) const {
    throw ConfigError(path_.string(), fmt::format("byte {}", offset_), std::string(what));
}

std::size_t InputFile::read(std::span<char> block) {
    std::size_t count = 0;
    try {
        count = inflater_->read(block);
    } catch (const std::runtime_error& error) {
        fail(error.what());
    }
    offset_ += count;
    if (offset_ > most_)
        fail(fmt::format("is more than {} bytes when inflated; expected less", most_));
    return count;
}

std::string beginning_of(const std::filesystem::path& path, std::size_t size) {
    InputFile source(path);
    std::string text(size, '\0');
    std::size_t filled = 0;
    while (filled < size) {
        const std::size_t count = source.read(std::span(text).subspan(filled));
        if (count == 0)
            break;
        filled += count;
    }
    text.resize(filled);
    return text;
}

}  // namespace switchfold
