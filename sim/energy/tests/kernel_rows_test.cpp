// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/kernel_rows.h"

#include "core/error.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include <unistd.h>

namespace switchfold::kernel_rows_test {
namespace {

class KernelRows : public ::testing::Test {
protected:
    ~KernelRows() override { std::filesystem::remove(table_); }
    KernelRows() = default;
    KernelRows(const KernelRows&) = delete;
    KernelRows& operator=(const KernelRows&) = delete;
    KernelRows(KernelRows&&) = delete;
    KernelRows& operator=(KernelRows&&) = delete;

    void write(const std::string& text) { std::ofstream(table_, std::ios::binary) << text; }
    [[nodiscard]] std::string problem(bool known = true) const {
        try {
            for_each_kernel_row(table_, [&](const KernelTableRow& /*row*/) { return known; });
            return {};
        } catch (const std::exception& error) {
            return error.what();
        }
    }

    std::filesystem::path table_ =
        std::filesystem::temp_directory_path() / fmt::format("kernel_rows_{}.csv", getpid());
};

TEST_F(KernelRows, WhatTheWriterWroteComesBack) {
    const KernelRow first{3, "7", "a \"b\", c\nd", "norm", "forward", 1, 2.5, 2.25, 0, 1000, 24, 7};
    const KernelRow second{0, "s,t", "gemm", "gemm_conv", "backward", 4, 5, 5, 0, 0, 1, 0};
    write(kernel_csv_header() + kernel_csv_line("x, y", first) + kernel_csv_line("z", second));
    std::vector<KernelTableRow> rows;
    for_each_kernel_row(table_, [&](const KernelTableRow& row) {
        rows.push_back(row);
        return true;
    });
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].scenario, "x, y");
    EXPECT_EQ(rows[0].rank, 3U);
    EXPECT_EQ(rows[0].kernel_class, "norm");
    EXPECT_DOUBLE_EQ(rows[0].isolated_us, 2.25);
    EXPECT_DOUBLE_EQ(rows[0].bytes, 1024);
    EXPECT_EQ(rows[1].scenario, "z");
    EXPECT_EQ(rows[1].kernel_class, "gemm_conv");
}

TEST_F(KernelRows, WhatIsNoTableOfThisRunIsRefused) {
    EXPECT_NE(problem().find(table_.string()), std::string::npos) << "it is not there";
    write("a,b\n");
    EXPECT_NE(problem().find("has another header"), std::string::npos);
    const std::string row =
        kernel_csv_line("s", {0, "7", "k", "norm", "forward", 1, 1, 1, 0, 1, 1, 0});
    write(kernel_csv_header() + row + "s,0,7\n");
    EXPECT_NE(problem().find("line 3 is not a kernel of this run"), std::string::npos);
    write(kernel_csv_header() + row);
    EXPECT_EQ(problem(), "");
    EXPECT_NE(problem(false).find("line 2 is not a kernel of this run"), std::string::npos);
    write(kernel_csv_header() + "s,0,7,\"k,norm,forward,1,1,1,0,0,1,1,0\n");
    EXPECT_NE(problem().find("is not a kernel"), std::string::npos) << "a quote that does not end";
}

}  // namespace
}  // namespace switchfold::kernel_rows_test
