// SPDX-License-Identifier: Apache-2.0
#include "core/csv.h"

#include "core/csv_reader.h"
#include "core/error.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

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
