// SPDX-License-Identifier: Apache-2.0
#include "training/strategies/data_parallel.h"

#include "training/network/table.h"

#include <gtest/gtest.h>

namespace switchfold::data_parallel_test {
namespace {

constexpr const char* kTable = "idx,layer,type,params,fwd_macs_per_sample,out_elems_per_sample\n"
                               "0,conv1,conv,1000000,50000000,100000\n"
                               "1,bn1,batchnorm,64,0,100000\n"
                               "2,fc,linear,8000000,8000000,1000\n";

DataParallelOptions options() {
    DataParallelOptions o;
    o.name = "test";
    o.ranks = 4;
    o.flops = 1e14;
    o.bytes = 1e12;
    return o;
}

TEST(DataParallel, AllReducesEveryGradientOnceInBuckets) {
    const auto layers = parse_network_table(kTable, "t").layers;
    const ExecutionGraph graph = data_parallel_step(layers, options());
    check(graph);
    std::uint64_t bytes = 0;
    std::size_t kernels = 0;
    const auto& operations = graph.ranks.at(0)->operations;
    for (const Operation& operation : operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
            bytes += c->bytes.count();
            EXPECT_EQ(c->sequence, bytes == c->bytes.count() ? 0U : 1U);
        } else {
            ++kernels;
        }
    EXPECT_GE(bytes, 4U * 9'000'064);
    EXPECT_LT(bytes, 4U * 9'000'064 + 1024);
    // Three kernels forward, five backward, two copies into buckets, and the optimizer.
    EXPECT_EQ(kernels, 11U);
    EXPECT_EQ(operations.back().phase, Phase::kOptimizer);
    EXPECT_EQ(operations.back().dependencies.size(), 1U);
    EXPECT_EQ(graph.ranks.size(), 4U);
    EXPECT_TRUE(graph.provenance.synthetic);
}

TEST(DataParallel, AKernelTakesTheLongerOfArithmeticAndBytes) {
    const auto layers = parse_network_table(kTable, "t").layers;
    const ExecutionGraph graph = data_parallel_step(layers, options());
    const auto& conv = std::get<KernelOperation>(graph.ranks[0]->operations[0].body);
    // 32 samples of 50 M multiply-adds at 100 TFLOP/s: 32 us, and 3 us of launch.
    EXPECT_NEAR(to_microseconds(conv.isolated), 35.0, 0.01);
    const auto& norm = std::get<KernelOperation>(graph.ranks[0]->operations[1].body);
    // 2 x 100,000 elements of 2 B, 32 samples, at 1 TB/s: 12.8 us.
    EXPECT_NEAR(to_microseconds(norm.isolated), 15.8, 0.01);
    EXPECT_EQ(norm.kernel_class, KernelClass::kNorm);
}

}  // namespace
}  // namespace switchfold::data_parallel_test
