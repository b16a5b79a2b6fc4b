// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/folder_lock.h"

#include "core/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace switchfold {

namespace {

std::string owner_of(int file) {
    std::array<char, 256> text{};
    const ssize_t count = ::pread(file, text.data(), text.size(), 0);
    std::string owner(text.data(), static_cast<std::size_t>(count > 0 ? count : 0));
    while (owner.ends_with('\n'))
        owner.pop_back();
    return owner;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw IoError(folder.string(), error.value(), "create the folder");
    const std::filesystem::path path = folder / ".lock";
    constexpr mode_t kMode = 0644;
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (file_ < 0)
        throw IoError(path.string(), errno, "write into the folder");
    // A record lock belongs to the process, so forked workers do not hold it; it also works on
    // network file systems.
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file_, F_SETLK, &lock) != 0) {
        const int why = errno;
        const std::string owner = owner_of(file_);
        ::close(file_);
        if (why != EACCES && why != EAGAIN)
            throw IoError(path.string(), why, "lock the folder");
        throw ConfigError(
            folder.string(), "",
            fmt::format(
                "is in use by another sweep ({}); expected a folder of its own, or wait",
                owner.empty() ? "starting" : owner));
    }
    std::array<char, 128> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::string owner = fmt::format("process {} on {}\n", ::getpid(), host.data());
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
        const int why = errno;
        ::close(file_);
        throw IoError(path.string(), why, "write into the folder");
    }
}

FolderLock::~FolderLock() {
    ::close(file_);
}

}  // namespace switchfold
