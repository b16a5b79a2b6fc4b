// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/kernel_times.h"

#include "core/error.h"
#include "workloads/tests/temporary_file.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <string>

namespace switchfold::kernel_times_test {
namespace {

using test_data::ampere;

constexpr const char* kProducts = "gpu,dtype,m,n,k,time_us\n";
constexpr const char* kAttentions = "gpu,dtype,batch,sequence,heads,kv_heads,head_dim,time_us\n";

/// Steps keep a GPU at its power limit.
GpuRates in_a_step() {
    GpuRates gpu = ampere();
    gpu.loaded = true;
    return gpu;
}

KernelTimes times(const std::string& text) {
    return KernelTimes(ampere(), parse_kernel_table(text, "t.csv"), "t.csv");
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(times(text));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "nothing";
}

MatrixProduct of(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
    MatrixProduct product;
    product.m = m;
    product.n = n;
    product.k = k;
    return product;
}

TEST(KernelTimes, WithoutATableAreTheModelsAtThePowerLimit) {
    const KernelTimes model{ampere()};
    EXPECT_EQ(
        model.estimate(of(512, 512, 512)).kernel, estimate(of(512, 512, 512), in_a_step()).kernel);
}

TEST(KernelTimes, AMeasuredSizeTakesItsTime) {
    const KernelTimes measured =
        times(std::string(kProducts) + "A100,bfloat16,1024,2048,512,77.125\n");
    const KernelEstimate exact = measured.estimate(of(1024, 2048, 512));
    EXPECT_EQ(exact.kernel.isolated, nanoseconds(77'125));
    EXPECT_EQ(exact.kernel.duration_source, DurationSource::kMeasuredAlone);
    // There is no measurement for this datatype.
    MatrixProduct single = of(1024, 2048, 512);
    single.datatype = Datatype::kFloat32;
    EXPECT_EQ(measured.estimate(single).kernel, estimate(single, in_a_step()).kernel);
}

TEST(KernelTimes, AMeasuredTimeTooShortForTheMemorySaysWhatTheL2Had) {
    MatrixProduct product;
    product.m = product.n = 8192;
    product.k = 64;
    const KernelTimes model{ampere()};
    const KernelTimes measured = times("dtype,m,n,k,time_us\nbfloat16,8192,8192,64,30\n");
    const KernelOperation& kernel = measured.estimate(product).kernel;
    EXPECT_EQ(kernel.isolated, microseconds(30));
    EXPECT_GT(kernel.l2_share, model.estimate(product).kernel.l2_share + 0.1F);
    const double bytes = static_cast<double>((kernel.bytes_read + kernel.bytes_written).count());
    EXPECT_LE(
        bytes * (1 - double{kernel.l2_share}),
        ampere().mixed_bandwidth * to_seconds(kernel.isolated));
}

TEST(KernelTimes, BetweenMeasuredSizesTheRatioHolds) {
    // The measured machine is 1.5 times as slow as the model at every size, each measured alone.
    std::string text = kProducts;
    for (const int m : {256, 512, 1024, 2048})
        for (const int n : {512, 1024, 2048})
            text += fmt::format(
                "A100,bfloat16,{},{},1024,{}\n", m, n,
                1.5e6 * estimate(of(m, n, 1024), ampere()).seconds());
    const KernelTimes measured = times(text);
    const auto ratio = [&](const MatrixProduct& product) {
        return measured.estimate(product).seconds() / estimate(product, in_a_step()).seconds();
    };
    EXPECT_NEAR(ratio(of(700, 900, 1024)), 1.5, 0.02);
    EXPECT_NEAR(ratio(of(1024, 1024, 1500)), 1.5, 0.05);
    // Close to a measured size, the ratio is close to the measured one.
    EXPECT_NEAR(ratio(of(1024, 1024, 1025)), 1.5, 1e-3);
    // More than two doublings away, the measurements say nothing.
    EXPECT_DOUBLE_EQ(ratio(of(1024, 1024, 16'384)), 1.0);
}

TEST(KernelTimes, AttentionIsLookedUpAlike) {
    const KernelTimes measured =
        times(std::string(kAttentions) + "A100,bfloat16,2,1024,16,4,128,99.5\n");
    Attention a;
    a.batch = 2;
    a.queries = a.keys = 1024;
    a.heads = 16;
    a.kv_heads = 4;
    EXPECT_EQ(measured.estimate(a).kernel.isolated, nanoseconds(99'500));
    // Tables have no windows, and one width.
    Attention window = a;
    window.window = 100;
    EXPECT_EQ(measured.estimate(window).kernel, estimate(window, in_a_step()).kernel);
    Attention wide = a;
    wide.value_width = 64;
    EXPECT_EQ(measured.estimate(wide).kernel, estimate(wide, in_a_step()).kernel);
    a.backward = true;
    EXPECT_EQ(measured.estimate(a).kernel, estimate(a, in_a_step()).kernel);
}

TEST(KernelTimes, SaysEverythingThatIsWrongWithItsLine) {
    const std::string all = refusal(
        std::string(kProducts) + "A100,bfloat16,0,64,64,3\n"
                                 "A100,bfloat16,64,64,64\n"
                                 "A100,bfloat16,64,x,64,-1\n");
    EXPECT_NE(all.find("t.csv: line 2: m is \"0\"; expected a whole number from 1"), all.npos)
        << all;
    EXPECT_NE(all.find("t.csv: line 3: has 5 cells; expected 6"), all.npos) << all;
    EXPECT_NE(all.find("t.csv: line 4: n is \"x\""), all.npos) << all;
    EXPECT_NE(all.find("t.csv: line 4: time_us is \"-1\""), all.npos) << all;
    EXPECT_NE(refusal("gpu,dtype,m,n,time_us\n").find("line 1: has neither columns"), all.npos);
    EXPECT_NE(refusal("m,n,k,time_us\n1,1,1,1\n").find("line 1: has no column dtype"), all.npos);
    EXPECT_NE(refusal(kProducts).find("line 1: is followed by no kernel"), all.npos);
    EXPECT_NE(
        refusal(std::string(kProducts) + "A100,bfloat16,64,64,64,3\nH100,bfloat16,64,64,128,3\n")
            .find("line 3: is of H100, and others of A100; expected kernels of one GPU"),
        all.npos);
    EXPECT_NE(
        refusal(std::string(kProducts) + "A100,int3,64,64,64,3\n")
            .find("line 2: dtype is \"int3\""),
        all.npos);
    EXPECT_NE(
        refusal(std::string(kProducts) + "A100,bfloat16,64,64,64,3\nA100,bf16,64,64,64,4\n")
            .find("line 3: is the size of line 2; expected each size once"),
        all.npos);
    EXPECT_NE(
        refusal(std::string(kAttentions) + "A100,bfloat16,2,1024,16,5,128,99.5\n")
            .find("line 2: kv_heads is 5, which does not divide 16 heads"),
        all.npos);
}

TEST(KernelTimes, ReadsAFile) {
    const test_data::TemporaryFile file(
        "k.csv", "dtype,m,n,k,time_us,source\r\nfp16,64,64,64,3.5,x\r\n");
    const KernelTable table = read_kernel_table(file.path());
    ASSERT_EQ(table.products.size(), 1U);
    EXPECT_EQ(table.products[0].datatype, Datatype::kFloat16);
    EXPECT_DOUBLE_EQ(table.products[0].seconds, 3.5e-6);
    EXPECT_THROW(
        static_cast<void>(read_kernel_table(file.path().parent_path() / "none.csv")), IoError);
}

}  // namespace
}  // namespace switchfold::kernel_times_test
