// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// Keeps a folder for one sweep at a time, as long as it lives; a killed process leaves nothing.
class FolderLock {
public:
    /// Creates the folder. Throws IoError, or ConfigError if another process has it.
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
