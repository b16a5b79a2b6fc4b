// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/tests/temporary_folder.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace switchfold::test_data {

/// A file in a folder of its own. Both are removed with the object.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string& name, std::string_view content = {}) :
        path_(folder_.path() / name) {
        std::ofstream(path_, std::ios::binary) << content;
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    TemporaryFolder folder_;
    std::filesystem::path path_;
};

}  // namespace switchfold::test_data
