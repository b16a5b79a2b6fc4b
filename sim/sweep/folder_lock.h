// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// Reserves a folder for one sweep during its lifetime; the lock disappears with a killed process.
class FolderLock {
public:
    /// Creates the folder. Throws IoError, or ConfigError if another process holds the lock.
    explicit FolderLock(const std::filesystem::path& folder);
    ~FolderLock();
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;
    FolderLock(FolderLock&&) = delete;
    FolderLock& operator=(FolderLock&&) = delete;

private:
    int file_ = -1;
};

}  // namespace switchfold
