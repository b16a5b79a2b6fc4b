// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/kept_results.h"

#include "core/error.h"
#include "core/fnv.h"
#include "sim/output/replaced_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

namespace switchfold::validation {

namespace {

void hash_file(Fnv& hash, const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::array<char, 1U << 16U> block{};
    while (file.read(block.data(), block.size()) || file.gcount() > 0)
        hash.add({block.data(), static_cast<std::size_t>(file.gcount())});
    if (!file.is_open() || file.bad())
        throw IoError(path.string(), errno, "read the file");
}

std::string digest_text(const Fnv& hash) {
    return fmt::format("{:016x}", hash.value());
}

}  // namespace

KeptResults::KeptResults(std::filesystem::path folder) : folder_(std::move(folder)) {
    try {
        Fnv hash;
        hash_file(hash, "/proc/self/exe");
        program_ = digest_text(hash);
    } catch (const IoError&) {
        folder_.clear();  // whose results these are could not be told
    }
}

std::filesystem::path KeptResults::file_of(std::string_view key) const {
    return folder_ / program_ / digest_text(Fnv().add(key));
}

std::optional<std::string> KeptResults::find(std::string_view key) const {
    if (folder_.empty())
        return std::nullopt;
    std::ifstream file(file_of(key), std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const std::string text = bytes.str();
    // The whole key stands before the result: two keys of one digest are not taken for each other.
    const std::string head = fmt::format("{}\n{}\n", key.size(), key);
    if (!file || !text.starts_with(head))
        return std::nullopt;
    return text.substr(head.size());
}

void KeptResults::keep(std::string_view key, std::string_view bytes) const {
    if (folder_.empty())
        return;
    std::error_code error;
    const std::filesystem::path file = file_of(key);
    std::filesystem::create_directories(file.parent_path(), error);
    // Another run may keep the same result at this moment.
    const std::filesystem::path own = file.string() + fmt::format(".{}", ::getpid());
    try {
        replace_file(own, fmt::format("{}\n{}\n{}", key.size(), key, bytes));
        std::filesystem::rename(own, file, error);
    } catch (const IoError&) {
        // The results are printed all the same; the next run simulates them again.
        std::filesystem::remove(own, error);
    }
}

std::filesystem::path default_cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
        return std::filesystem::path(cache) / "switchfold";
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
        return std::filesystem::path(home) / ".cache/switchfold";
    return {};
}

std::string digest_of_files(const std::filesystem::path& path) {
    Fnv hash;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error))
        hash_file(hash, path);
    if (std::filesystem::is_directory(path, error)) {
        std::vector<std::filesystem::path> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(
                 path, std::filesystem::directory_options::follow_directory_symlink))
            if (entry.is_regular_file())
                files.push_back(entry.path());
        std::ranges::sort(files);
        for (const std::filesystem::path& file : files) {
            hash.add(file.lexically_relative(path).string()).add({"", 1});
            hash_file(hash, file);
        }
    }
    return digest_text(hash);
}

}  // namespace switchfold::validation
