// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/machine/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

namespace switchfold::starvation_test {
namespace {

KernelOperation gather(std::uint32_t threads, std::uint32_t registers, Time isolated, Bytes bytes) {
    KernelOperation kernel;
    kernel.grid = {81, 1, 1};
    kernel.block = {threads, 1, 1};
    kernel.registers_per_thread = registers;
    kernel.shared_memory = Bytes(16'384);
    kernel.isolated = isolated;
    kernel.bytes_read = bytes;
    return kernel;
}

/// A recommendation model on two V100s: gathers from embedding tables on two streams saturate the
/// HBM, while all-to-alls of 290 MB run beside them.
ExecutionGraph recommendation_step(std::uint32_t gathers, std::uint32_t exchanges) {
    ExecutionGraph graph;
    graph.names = {"gather", "all_to_all"};
    graph.groups = {{"world", {0, 1}}};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {
        {StreamKind::kGpu, "7", 0}, {StreamKind::kGpu, "8", 0}, {StreamKind::kGpu, "20", 0}};
    for (std::uint32_t i = 0; i < gathers; ++i) {
        Operation operation;
        operation.body = gather(128, 128, microseconds(1000), Bytes(5'000'000'000));
        rank->operations.push_back(operation);
        operation.stream = 1;
        operation.body = gather(512, 64, microseconds(900), Bytes(1'400'000'000));
        rank->operations.push_back(operation);
    }
    for (std::uint32_t i = 0; i < exchanges; ++i) {
        Operation exchange;
        exchange.name = 1;
        exchange.stream = 2;
        CollectiveOperation collective;
        collective.kind = CollectiveKind::kAllToAll;
        collective.bytes = Bytes(290'000'000);
        collective.sequence = i;
        exchange.body = collective;
        rank->operations.push_back(exchange);
    }
    graph.ranks.assign(2, rank);
    graph.provenance.world_size = 2;
    return graph;
}

Time end_of(const ExecutionGraph& graph) {
    const std::string file = std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/dgx1_v100.json";
    return Time(simulate(load_system(file, {}), graph, {}).end_ps);
}

TEST(Starvation, ExchangesBesideKernelsThatTakeAllOfTheMemoryEndInTime) {
    constexpr std::uint32_t kGathers = 5;
    const Time gathers = end_of(recommendation_step(kGathers, 0));
    const Time exchanges = end_of(recommendation_step(0, 2));
    const Time both = end_of(recommendation_step(kGathers, 2));
    EXPECT_GT(both, std::max(gathers, exchanges));
    EXPECT_LT(both, gathers + exchanges);
}

}  // namespace
}  // namespace switchfold::starvation_test
