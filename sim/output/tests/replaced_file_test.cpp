// SPDX-License-Identifier: Apache-2.0
#include "sim/output/replaced_file.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace switchfold::replaced_file_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ReplacedFile, TheOldOneStaysUntilTheNewIsWhole) {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "page.html";
    replace_file(path, "old");
    {
        ReplacedFile file(path);
        file.write("half");
        EXPECT_EQ(text_of(path), "old");
    }
    EXPECT_EQ(text_of(path), "old");
    replace_file(path, "new");
    EXPECT_EQ(text_of(path), "new");
    EXPECT_FALSE(fs::exists(folder.path() / "page.html.partial"));
}

TEST(ReplacedFile, WhatAKilledProcessLeftIsWrittenOver) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "page.html.partial") << "a longer text that was left";
    replace_file(folder.path() / "page.html", "new");
    EXPECT_EQ(text_of(folder.path() / "page.html"), "new");
    EXPECT_FALSE(fs::exists(folder.path() / "page.html.partial"));
}

TEST(ReplacedFile, ANameThatIsTakenByAFolderIsAnIoErrorAndLeavesNothing) {
    const TemporaryFolder folder;
    fs::create_directories(folder.path() / "page.html" / "below");
    EXPECT_THROW(replace_file(folder.path() / "page.html", "new"), IoError);
    EXPECT_FALSE(fs::exists(folder.path() / "page.html.partial"));
}

}  // namespace
}  // namespace switchfold::replaced_file_test
