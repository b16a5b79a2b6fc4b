// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/kernel_model.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "sim/config/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace switchfold::kernel_model_test {
namespace {

const std::filesystem::path kSystems =
    std::filesystem::path(SWITCHFOLD_SOURCE_DIR) / "configs/systems";

GpuParams gpu_of(const char* system) {
    return *load_system(kSystems / system, {}).gpu;
}

TEST(KernelModel, EveryGpuThatShipsStatesWhatItNeeds) {
    for (const auto& entry : std::filesystem::directory_iterator(kSystems)) {
        if (entry.path().extension() != ".json")
            continue;
        const SystemParams system = load_any_system(entry.path(), {});
        if (!system.has_gpus())
            continue;
        const GpuParams& gpu = *system.gpu;
        EXPECT_EQ(why_no_kernel_times(gpu), "") << entry.path();
        const KernelTimes times = kernel_times(gpu, "", ".");
        MatrixProduct product;
        product.m = product.n = product.k = 4096;
        for (const Datatype type : {Datatype::kFloat32, Datatype::kFloat16}) {
            product.datatype = type;
            const KernelEstimate kernel = times.estimate(product);
            const double rate = kernel.kernel.flops / kernel.seconds();
            const double peak = std::max(times.gpu().half, times.gpu().vector);
            EXPECT_LT(rate, peak) << gpu.name;
            EXPECT_GT(
                rate, 0.4 * (type == Datatype::kFloat32 ? times.gpu().vector : times.gpu().matrix))
                << gpu.name;
        }
    }
}

TEST(KernelModel, ReadsRatesOfTheDescription) {
    const GpuRates h100 = gpu_rates(gpu_of("hgx_h100.json"));
    EXPECT_EQ(h100.kernels, MatrixKernels::kWarpgroup);
    EXPECT_DOUBLE_EQ(h100.half, 989e12);
    EXPECT_DOUBLE_EQ(h100.matrix, 794e12);
    EXPECT_DOUBLE_EQ(h100.memory_latency, 450e-9);
    EXPECT_GT(h100.read_bandwidth, h100.mixed_bandwidth);
    const GpuRates p40 = gpu_rates(gpu_of("p40_pcie.json"));
    EXPECT_EQ(p40.kernels, MatrixKernels::kVector);
    EXPECT_DOUBLE_EQ(p40.half, 0);
}

TEST(KernelModel, AGpuWithoutRatesIsRefused) {
    GpuParams gpu = gpu_of("hgx_h100.json");
    gpu.arithmetic.vector_rate = FlopRate(0);
    EXPECT_EQ(why_no_kernel_times(gpu), gpu.name + " states no arithmetic/vector_rate");
    EXPECT_THROW(static_cast<void>(kernel_times(gpu, "", ".")), InternalError);
    gpu = gpu_of("hgx_h100.json");
    gpu.matrix_rate = FlopRate(0);
    EXPECT_EQ(why_no_kernel_times(gpu), gpu.name + " states no matrix_rate");
}

TEST(KernelModel, ATableIsLookedForBesideTheExperiment) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "k.csv") << "dtype,m,n,k,time_us\nbfloat16,128,128,128,42\n";
    const GpuParams gpu = gpu_of("hgx_h100.json");
    MatrixProduct product;
    product.m = product.n = product.k = 128;
    EXPECT_EQ(
        kernel_times(gpu, "k.csv", folder.path()).estimate(product).kernel.isolated,
        microseconds(42));
    EXPECT_THROW(static_cast<void>(kernel_times(gpu, "none.csv", folder.path())), IoError);
}

}  // namespace
}  // namespace switchfold::kernel_model_test
