// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/input/whole_file.h"

#include "core/error.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace switchfold {

namespace {

/// Whether the file begins like gzip or zstd.
bool is_compressed(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 2> kPacked{"\x1f\x8b", "\x28\xb5\x2f\xfd"};
    std::array<char, 4> first{};
    std::ifstream file(path, std::ios::binary);
    file.read(first.data(), first.size());
    const std::string_view beginning(first.data(), static_cast<std::size_t>(file.gcount()));
    return beginning.starts_with(kPacked[0]) || beginning.starts_with(kPacked[1]);
}

/// Creates a temporary file that no other process uses; its path is stored in `path`.
class NewFile {
public:
    explicit NewFile(std::filesystem::path& path) {
        std::error_code error;
        const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
        if (error)
            throw IoError("TMPDIR", error.value(), "find the temporary folder");
        std::string name = (folder / "switchfold-XXXXXX").string();
        file_ = mkostemp(name.data(), O_CLOEXEC);
        if (file_ < 0)
            throw IoError(name, errno, "make a temporary file");
        path = name;
    }
    ~NewFile() { close(file_); }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    NewFile(NewFile&&) = delete;
    NewFile& operator=(NewFile&&) = delete;

    void write(std::string_view bytes, const std::filesystem::path& path) const {
        while (!bytes.empty()) {
            const ssize_t count = ::write(file_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                throw IoError(path.string(), errno, "write the inflated trace");
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
    }

private:
    int file_ = -1;
};

}  // namespace

WholeFile::WholeFile(const std::filesystem::path& path, std::uint64_t most) : path_(path) {
    if (is_compressed(path))
        inflate(path, most);
}

void WholeFile::inflate(const std::filesystem::path& packed, std::uint64_t most) {
    constexpr std::size_t kBlock = 1U << 18U;
    InputFile source(packed, most);
    const NewFile file(path_);
    temporary_ = true;
    std::vector<char> block(kBlock);
    try {
        while (const std::size_t count = source.read(block))
            file.write({block.data(), count}, path_);
    } catch (...) {
        unlink(path_.c_str());
        throw;
    }
}

WholeFile::~WholeFile() {
    if (temporary_)
        unlink(path_.c_str());
}

}  // namespace switchfold
