// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"

#include "core/csv_reader.h"
#include "core/csv_rows.h"
#include "core/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace switchfold::csv_test {
namespace {

std::string error_of(std::string_view text) {
    try {
        static_cast<void>(parse_csv(text, "t.csv"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Csv, ReadsQuotedFieldsWithCommasQuotesAndLineEnds) {
    const CsvTable table =
        parse_csv("\xEF\xBB\xBFid,what\r\na,\"x, \"\"y\"\"\nz\"\r\n\r\nb,plain\r\n", "t.csv");
    ASSERT_EQ(table.records.size(), 2U);
    EXPECT_EQ(table.records[0]["id"], "a");
    EXPECT_EQ(table.records[0]["what"], "x, \"y\"\nz");
    EXPECT_EQ(table.records[0].line, 2U);
    EXPECT_EQ(table.records[1]["what"], "plain");
    EXPECT_EQ(table.records[1].line, 5U);
    EXPECT_EQ(table.records[1]["no such column"], "");
    EXPECT_TRUE(table.has("what"));
    EXPECT_FALSE(table.has("size"));
}

TEST(Csv, SaysOnWhichLineWhatIsWrong) {
    EXPECT_EQ(
        error_of("a,b\n1\n1,2\n1,2,3\n"),
        "t.csv: line 2: has 1 fields; expected 2, as the header has\n"
        "t.csv: line 4: has 3 fields; expected 2, as the header has");
    EXPECT_NE(error_of("").find("t.csv: line 1: has no header"), std::string::npos);
    EXPECT_NE(error_of("a,a\n").find("names column \"a\" twice"), std::string::npos);
    EXPECT_NE(
        error_of("a,b\n1,\"x\n").find("t.csv: line 2: holds a quote that does not end"),
        std::string::npos);
}

class CsvRows : public ::testing::Test {
protected:
    ~CsvRows() override { std::filesystem::remove(path_); }

    CsvTable read(const std::string& text) {
        std::ofstream(path_, std::ios::binary) << text;
        return read_csv_rows(path_, left_out_);
    }

    std::filesystem::path path_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_rows_{}.csv", getpid());
    std::vector<Problem> left_out_;
};

TEST_F(CsvRows, AreReadAsOtherProgramsWriteThem) {
    for (const std::string text :
         {"a,b\n1,x y\n", "# of May, by me\n#\na,b\n1,x y\n", "\xEF\xBB\xBF# me\na;b\r\n1;x y\r\n",
          "a\tb\n1\tx y\n", " a , b \n 1 , x y \n", "a;b\n1;\"x y\"\n"}) {
        const CsvTable table = read(text);
        ASSERT_EQ(table.records.size(), 1U) << text;
        EXPECT_EQ(table.records[0]["a"], "1") << text;
        EXPECT_EQ(table.records[0]["b"], "x y") << text;
    }
    EXPECT_EQ(read("# me\na,b\n\n1,2\n").records.at(0).line, 4U);
    EXPECT_EQ(read("a,b\n#1,2\n").records.at(0)["a"], "#1") << "no comment behind the header";
    EXPECT_TRUE(left_out_.empty());
    EXPECT_EQ(read("a,b\n1\n2,3\n").records.size(), 1U);
    EXPECT_EQ(left_out_.at(0).pointer, "line 2");
    EXPECT_THROW(
        static_cast<void>(read("\xFF\xFE"
                               "a")),
        ConfigError);
}

TEST(Csv, AStreamIsReadRecordByRecord) {
    std::istringstream in(" a , b\n\n  \n\"x, \ny\" ,1\r\nz,\"2\n");
    CsvReader reader(
        [&](std::string& line) { return static_cast<bool>(std::getline(in, line)); },
        CsvReader::Cells::kTrimmed);
    std::vector<std::string> cells{"left", "over", "cells"};
    ASSERT_TRUE(reader.next(cells));
    EXPECT_EQ(cells, (std::vector<std::string>{"a", "b"}));
    ASSERT_TRUE(reader.next(cells));
    EXPECT_EQ(cells, (std::vector<std::string>{"x, \ny", "1"}));
    EXPECT_EQ(reader.line(), 4U);
    EXPECT_TRUE(reader.whole());
    ASSERT_TRUE(reader.next(cells));
    EXPECT_EQ(cells.front(), "z");
    EXPECT_EQ(reader.line(), 6U);
    EXPECT_FALSE(reader.whole());
    EXPECT_FALSE(reader.next(cells));
}

RC_GTEST_PROP(Csv, AnyFieldsComeBackAsTheyWere, ()) {
    const auto fields = *rc::gen::container<std::vector<std::string>>(
        3, rc::gen::container<std::string>(rc::gen::element('a', ',', '"', '\n', ' ')));
    std::string text = "a,b,c\n";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        text += i == 0 ? "\"" : ",\"";
        for (const char c : fields[i])
            text += c == '"' ? std::string("\"\"") : std::string(1, c);
        text += '"';
    }
    const CsvTable table = parse_csv(text, "t.csv");
    RC_ASSERT(table.records.size() == 1U);
    RC_ASSERT(table.records[0]["a"] == fields[0]);
    RC_ASSERT(table.records[0]["b"] == fields[1]);
    RC_ASSERT(table.records[0]["c"] == fields[2]);
}

}  // namespace
}  // namespace switchfold::csv_test
