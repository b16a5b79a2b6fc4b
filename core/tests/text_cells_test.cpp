// SPDX-License-Identifier: Apache-2.0
#include "core/text_cells.h"

#include "core/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace switchfold::text_cells_test {
namespace {

TEST(TextCells, WordsStandBetweenAnyWhiteSpace) {
    EXPECT_EQ(split_words("  GPU0\t NV18\r\n"), (std::vector<std::string>{"GPU0", "NV18"}));
    EXPECT_TRUE(split_words(" \t").empty());
}

TEST(TextCells, PartsStandBetweenSeparators) {
    EXPECT_EQ(split_text("a,,b\r", ','), (std::vector<std::string>{"a", "", "b"}));
    EXPECT_EQ(split_text("", ','), (std::vector<std::string>{""}));
}

std::string refused(const std::filesystem::path& path) {
    try {
        static_cast<void>(read_small_text(path, "a table"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(TextCells, ASmallTextIsARegularFileOfSixteenMebibytesAtMost) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "switchfold_text_cells";
    std::filesystem::create_directories(folder);
    const std::filesystem::path file = folder / "table";
    std::ofstream(file) << "words";
    EXPECT_EQ(read_small_text(file, "a table"), "words");
    std::filesystem::resize_file(file, 16U << 20U);
    EXPECT_EQ(refused(file), "");
    std::filesystem::resize_file(file, (16U << 20U) + 1);
    EXPECT_NE(refused(file).find("larger than 16 MiB; expected a table"), std::string::npos);
    EXPECT_NE(refused(folder).find("does not exist"), std::string::npos);
    EXPECT_NE(refused(folder / "none").find("does not exist"), std::string::npos);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace switchfold::text_cells_test
