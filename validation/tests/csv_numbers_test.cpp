// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/csv_numbers.h"

#include <gtest/gtest.h>

namespace switchfold::validation::csv_numbers_test {
namespace {

TEST(CsvNumbers, ARowThatCannotBeReadDoesNotStopTheOthers) {
    const CsvTable table = parse_csv("id,batch\na,1\nb,1.25\nc,3\n", "t.csv");
    std::vector<Unmatched> unread;
    CsvNumbers numbers("t.csv", &unread);
    std::vector<std::uint32_t> batches;
    for (const CsvRecord& record : table.records) {
        const auto batch = numbers.read<std::uint32_t>(record, "batch", 1, "samples");
        if (numbers.end_row(record))
            batches.push_back(*batch);
    }
    EXPECT_NO_THROW(numbers.throw_if_failed());
    EXPECT_EQ(batches, (std::vector<std::uint32_t>{1, 3}));
    ASSERT_EQ(unread.size(), 1U);
    EXPECT_EQ(unread[0].id, "b");
    EXPECT_NE(unread[0].why.find("line 3: batch is \"1.25\"; expected samples"), std::string::npos)
        << unread[0].why;
}

TEST(CsvNumbers, ATableWithoutAReadableRowIsRefused) {
    const CsvTable table = parse_csv("id,batch\na,x\n", "t.csv");
    std::vector<Unmatched> unread;
    CsvNumbers numbers("t.csv", &unread);
    static_cast<void>(numbers.read<std::uint32_t>(table.records[0], "batch", 1, "samples"));
    EXPECT_FALSE(numbers.end_row(table.records[0]));
    EXPECT_THROW(numbers.throw_if_failed(), ConfigError);
}

}  // namespace
}  // namespace switchfold::validation::csv_numbers_test
