// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/root.h"

#include "core/error.h"

#include <gtest/gtest.h>

namespace switchfold::validation::root_test {
namespace {

TEST(Root, IsTheFolderThatWasNamed) {
    EXPECT_EQ(find_root(SWITCHFOLD_SOURCE_DIR), SWITCHFOLD_SOURCE_DIR);
    EXPECT_THROW(static_cast<void>(find_root("/nowhere")), ConfigError);
}

TEST(Root, IsTheWorkingFolderOrOneAboveIt) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(SWITCHFOLD_SOURCE_DIR "/validation/tests");
    EXPECT_EQ(find_root(""), SWITCHFOLD_SOURCE_DIR);
    std::filesystem::current_path(before);
}

TEST(Root, IsWhatIsInstalledBesideTheWorkingFolderOrAboveIt) {
    const auto before = std::filesystem::current_path();
    const auto prefix = std::filesystem::path(::testing::TempDir()) / "switchfold_root_test";
    std::filesystem::create_directories(prefix / "share/switchfold/configs/systems");
    std::filesystem::create_directories(prefix / "bin");
    std::filesystem::current_path(prefix / "bin");
    EXPECT_EQ(find_root(""), std::filesystem::canonical(prefix) / "share/switchfold");
    std::filesystem::current_path(before);
    std::filesystem::remove_all(prefix);
}

}  // namespace
}  // namespace switchfold::validation::root_test
