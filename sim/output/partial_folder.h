// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// A folder .partial-XXXXXX in another one, for files that are not whole yet; it goes with its
/// owner. What killed processes have left beside it goes, too: a living owner is known by the lock
/// that it holds on the file .lock in it, which ends with the process, whatever ends it.
class PartialFolder {
public:
    /// Throws IoError.
    explicit PartialFolder(const std::filesystem::path& in);
    ~PartialFolder();
    PartialFolder(const PartialFolder&) = delete;
    PartialFolder& operator=(const PartialFolder&) = delete;
    PartialFolder(PartialFolder&&) = delete;
    PartialFolder& operator=(PartialFolder&&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int lock_ = -1;
};

}  // namespace switchfold
