// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace switchfold {

/// Default limit on a trace's inflated bytes, for files that inflate without end.
inline constexpr std::uint64_t kMostInflated = 64ULL << 30U;

/// The bytes of a file, inflated if its content is gzip or zstd. Streaming: memory does not grow
/// with the file.
class InputFile {
public:
    /// Throws ConfigError if the file does not exist or cannot be opened.
    explicit InputFile(std::filesystem::path path, std::uint64_t most = kMostInflated);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    InputFile(InputFile&&) = delete;
    InputFile& operator=(InputFile&&) = delete;

    /// Fills `block` as far as possible. \returns the number of bytes; 0 at the end. Throws
    /// ConfigError (byte after inflation, what is wrong) on a damaged or truncated file and above
    /// the limit.
    std::size_t read(std::span<char> block);

    /// Bytes read so far, after inflation.
    [[nodiscard]] std::uint64_t offset() const { return offset_; }

    class Inflater;

private:
    [[noreturn]] void fail(std::string_view what) const;

    std::filesystem::path path_;
    std::uint64_t most_;
    std::uint64_t offset_ = 0;
    std::unique_ptr<Inflater> inflater_;
};

/// The first bytes of a file, inflated: at most `size`.
[[nodiscard]] std::string beginning_of(const std::filesystem::path& path, std::size_t size);

}  // namespace switchfold
