// SPDX-License-Identifier: Apache-2.0
#include "core/named_path.h"

#include <gtest/gtest.h>

namespace switchfold::named_path_test {
namespace {

TEST(NamedPath, IsRelativeToTheFileThatNamesIt) {
    EXPECT_EQ(path_named_in("a/b/file.json", "other.json"), "a/b/other.json");
    EXPECT_EQ(path_named_in("a/b/file.json", "../other.json"), "a/other.json");
    EXPECT_EQ(path_named_in("file.json", "other.json"), "other.json");
    EXPECT_EQ(path_named_in("-", "other.json"), "other.json");
    EXPECT_EQ(path_named_in("a/file.json", "/root/../other.json"), "/root/../other.json");
    EXPECT_EQ(path_from("a/b", "./c/../d"), "a/b/d");
}

}  // namespace
}  // namespace switchfold::named_path_test
