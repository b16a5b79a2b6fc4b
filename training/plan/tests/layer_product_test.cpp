// SPDX-License-Identifier: Apache-2.0
#include "training/network/zoo/zoo.h"
#include "training/plan/step/layer_work.h"
#include "workloads/tests/test_gpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace switchfold::layer_product_test {
namespace {

TEST(LayerProduct, TakesWinogradsKernelsWhereTheyAreFaster) {
    const Network network = find_network("vgg16").value();
    const KernelTimes times(test_data::ampere());
    const auto kernels = [&](std::uint32_t layer, Datatype datatype, bool tf32) {
        ParallelPlan plan;
        plan.micro_batch = 64;
        plan.datatype = datatype;
        plan.tf32 = tf32;
        Work work;
        LayerWork(network, times, plan).forward(layer, work);
        return std::count_if(work.begin(), work.end(), [](const WorkItem& item) {
            return std::holds_alternative<KernelItem>(item);
        });
    };
    std::vector<std::uint32_t> layers;
    for (std::uint32_t i = 0; i < network.layers.size(); ++i)
        if (network.layers[i].type == "conv")
            layers.push_back(i);
    const auto direct = kernels(layers[10], Datatype::kBfloat16, false);
    EXPECT_EQ(kernels(layers[10], Datatype::kFloat32, false), direct + 3);
    EXPECT_EQ(kernels(layers[10], Datatype::kFloat32, true), direct);
    // Three channels have next to nothing to multiply.
    EXPECT_EQ(kernels(layers[0], Datatype::kFloat32, false), direct);
}

}  // namespace
}  // namespace switchfold::layer_product_test
