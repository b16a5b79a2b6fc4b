// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace switchfold {

/// A temporary folder .partial-XXXXXX inside another one, for incomplete files. The destructor
/// removes it. The constructor removes those left by killed processes: a living owner holds a lock
/// on the file .lock in its folder, which the system releases when the process ends.
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
