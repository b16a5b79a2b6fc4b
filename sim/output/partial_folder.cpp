// SPDX-License-Identifier: Apache-2.0
#include "sim/output/partial_folder.h"

#include "core/error.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>  // mkdtemp
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace switchfold {

namespace {

constexpr std::string_view kPrefix = ".partial-";
constexpr std::string_view kPattern = "XXXXXX";

int open_lock(const std::filesystem::path& folder) {
    constexpr mode_t kMode = 0644;
    return ::open((folder / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode);
}

/// Whether the lock file is still the one in the folder, that is, nobody has removed it meanwhile.
bool is_there(int lock, const std::filesystem::path& folder) {
    struct stat held {};
    struct stat named {};
    return ::fstat(lock, &held) == 0 && ::stat((folder / ".lock").c_str(), &named) == 0 &&
           held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

/// Removes the folder unless its owner is alive. A folder created at this moment, not locked yet,
/// may be removed too: its owner notices and creates another.
void remove_if_left(const std::filesystem::path& folder) {
    const int lock = open_lock(folder);
    if (lock < 0)
        return;
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0 && is_there(lock, folder)) {
        std::error_code ignored;
        std::filesystem::remove_all(folder, ignored);
    }
    ::close(lock);
}

void remove_left_ones(const std::filesystem::path& in) {
    std::error_code error;
    std::vector<std::filesystem::path> found;
    for (auto entry = std::filesystem::directory_iterator(in, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        std::error_code ignored;
        if (name.starts_with(kPrefix) && name.size() == kPrefix.size() + kPattern.size() &&
            !entry->is_symlink(ignored) && entry->is_directory(ignored))
            found.push_back(entry->path());
    }
    for (const std::filesystem::path& folder : found)
        remove_if_left(folder);
}

}  // namespace

PartialFolder::PartialFolder(const std::filesystem::path& in) {
    remove_left_ones(in);
    while (true) {
        std::string name = (in / kPrefix).string();
        name += kPattern;
        if (::mkdtemp(name.data()) == nullptr)
            throw IoError(in.string(), errno, "write into the folder");
        path_ = name;
        lock_ = open_lock(path_);
        if (lock_ < 0 && errno != ENOENT) {
            const int why = errno;
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
            throw IoError(in.string(), why, "write into the folder");
        }
        if (lock_ < 0)
            continue;
        // On a file system without locks nobody can mistake the folder for an abandoned one either.
        const bool taken = ::flock(lock_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
        if (taken && is_there(lock_, path_))
            return;
        ::close(lock_);
    }
}

PartialFolder::~PartialFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    ::close(lock_);
}

}  // namespace switchfold
