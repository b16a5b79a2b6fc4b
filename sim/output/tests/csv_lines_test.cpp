// SPDX-License-Identifier: Apache-2.0
#include "sim/output/writers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string_view>

namespace switchfold::csv_lines_test {
namespace {

/// Parses one RFC 4180 record: the reference for the CSV output.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quoted) {
            if (line[i] != '"')
                fields.back() += line[i];
            else if (i + 1 < line.size() && line[i + 1] == '"')
                fields.back() += line[i++];
            else
                quoted = false;
        } else if (line[i] == '"') {
            quoted = true;
        } else if (line[i] == ',') {
            fields.emplace_back();
        } else {
            fields.back() += line[i];
        }
    }
    return fields;
}

KernelRow row_of(std::string_view stream, std::string_view name) {
    KernelRow row;
    row.rank = 3;
    row.stream = stream;
    row.name = name;
    row.kernel_class = "gemm_conv";
    row.phase = "backward";
    row.start_us = 1.5;
    row.duration_us = 30;
    row.isolated_us = 20;
    row.overlapped_share = 0.25;
    row.bytes_read = 4096;
    row.bytes_written = 1024;
    row.flops = 2e6;
    return row;
}

TEST(KernelCsv, ALineHasTheHeadersColumns) {
    const std::string header = kernel_csv_header();
    EXPECT_EQ(
        header, "scenario,rank,stream,name,class,phase,start_us,duration_us,isolated_us,slowdown,"
                "overlapped_share,bytes_read,bytes_written,flops\n");
    EXPECT_EQ(
        kernel_csv_line("ring", row_of("7", "gemm<float, 4>")),
        "ring,3,7,\"gemm<float, 4>\",gemm_conv,backward,1.500000,30.000000,20.000000,0.500000,"
        "0.2500,4096,1024,2000000\n");
}

TEST(PassCsv, ALineHasTheHeadersColumns) {
    EXPECT_EQ(pass_csv_header(), "scenario,rank,pass,phase,start_us,duration_us\n");
    EXPECT_EQ(
        pass_csv_line("1F1B, \"slow\"", {3, "BW12@1", "backward", 1.5, 0.000001}),
        "\"1F1B, \"\"slow\"\"\",3,BW12@1,backward,1.500000,0.000001\n");
}

TEST(MemoryCsv, HasAColumnAClass) {
    EXPECT_EQ(
        memory_csv_header(),
        "scenario,rank,time_us,weights,moments,gradients,activations,workspace,staging,buckets\n");
    MemoryRow row{3, 1.5, {}};
    row.bytes[MemoryClass::kWeights] = 1e12;
    row.bytes[MemoryClass::kBuckets] = 0.6;
    EXPECT_EQ(memory_csv_line("a, b", row), "\"a, b\",3,1.500000,1000000000000,0,0,0,0,0,1\n");
}

TEST(CounterCsv, ALineHasTheHeadersColumns) {
    EXPECT_EQ(counter_csv_header(), "scenario,track,time_us,value\n");
    EXPECT_EQ(
        counter_csv_line("ring", {"SMs, in use", 1.5, 24}),
        "ring,\"SMs, in use\",1.500000,24.000\n");
}

TEST(KernelCsv, AKernelWithoutIsolatedTimeIsNotSlowed) {
    KernelRow row = row_of("7", "k");
    row.isolated_us = 0;
    EXPECT_EQ(fields_of(kernel_csv_line("s", row))[9], "0.000000");
    row.isolated_us = row.duration_us * (1 + 1e-9);
    EXPECT_EQ(fields_of(kernel_csv_line("s", row))[9], "0.000000");
}

RC_GTEST_PROP(KernelCsv, AnyNameReadsBack, (const std::string& scenario, const std::string& name)) {
    const KernelRow row = row_of("stream", name);
    std::string line = kernel_csv_line(scenario, row);
    RC_ASSERT(line.back() == '\n');
    line.pop_back();
    const auto fields = fields_of(line);
    RC_ASSERT(fields.size() == 14U);
    RC_ASSERT(fields[0] == scenario);
    RC_ASSERT(fields[3] == name);
}

}  // namespace
}  // namespace switchfold::csv_lines_test
