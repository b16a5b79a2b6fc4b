// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/gpu.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "models/replay/rank_replay.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

namespace switchfold {
namespace {

struct NoCollectives final : CollectiveService {
    void start(
        std::uint32_t, std::uint32_t, const CollectiveOperation&, std::int32_t,
        CollectiveListener&) override {
        SWITCHFOLD_CHECK(false, "the benchmark has no collectives");
    }
    void start_transfer(
        std::uint32_t, std::uint32_t, const TransferEnd&, std::int32_t,
        CollectiveListener&) override {
        SWITCHFOLD_CHECK(false, "the benchmark has no transfers");
    }
};

/// Executed for every packet that reaches a GPU: should stay below 30 ns.
void memory_access(benchmark::State& state) {
    Simulation simulation;
    MemorySystem memory("memory", MemoryParams{}, Contention{}, simulation.scheduler());
    for (auto unused : state) {
        static_cast<void>(unused);
        benchmark::DoNotOptimize(memory.access(4096, 4096));
    }
}
BENCHMARK(memory_access);

void place_and_release(benchmark::State& state) {
    SmArray array(SmParams{}, 132);
    const BlockShape shape{256, 64, kibibytes(16)};
    for (auto unused : state) {
        static_cast<void>(unused);
        const Placement placement = array.place(shape, static_cast<std::uint64_t>(state.range(0)));
        array.release(shape, placement);
    }
}
BENCHMARK(place_and_release)->Arg(24)->Arg(132)->Arg(10'000);

std::shared_ptr<RankGraph> training_step(std::size_t operations, std::uint32_t grid) {
    auto graph = std::make_shared<RankGraph>();
    graph->streams.resize(2);
    graph->streams[1].kind = StreamKind::kHost;
    for (std::size_t i = 0; i < operations; ++i) {
        Operation operation;
        operation.stream = i % 2 == 0 ? 1 : 0;
        if (i % 2 == 0) {
            operation.body = HostDelayOperation{microseconds(2)};
        } else {
            operation.dependencies = {static_cast<std::uint32_t>(i - 1)};
            KernelOperation kernel;
            kernel.grid = {grid, 1, 1};
            kernel.block = {256, 1, 1};
            kernel.registers_per_thread = 32;
            kernel.isolated = microseconds(10);
            kernel.bytes_read = Bytes(4'000'000);
            operation.body = kernel;
        }
        graph->operations.push_back(std::move(operation));
    }
    return graph;
}

/// Eight ranks of 60,000 operations each, half kernels and half host delays: should stay below 1 s.
void replay_eight_ranks(benchmark::State& state) {
    constexpr std::uint32_t kRanks = 8;
    const auto graph = training_step(60'000, static_cast<std::uint32_t>(state.range(0)));
    for (auto unused : state) {
        static_cast<void>(unused);
        Simulation simulation;
        NoCollectives collectives;
        std::vector<std::unique_ptr<Gpu>> gpus;
        std::vector<std::unique_ptr<CopyEngine>> copies;
        std::vector<std::unique_ptr<RankReplay>> replays;
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            const std::string number = std::to_string(rank);
            gpus.push_back(std::make_unique<Gpu>(
                ("gpu" + number).c_str(), GpuParams{}, Contention{}, simulation.scheduler()));
            copies.push_back(std::make_unique<CopyEngine>(
                ("copies" + number).c_str(), CopyParams{}, gpus.back()->memory(),
                simulation.scheduler()));
            replays.push_back(std::make_unique<RankReplay>(
                ("replay" + number).c_str(), rank, graph, *gpus.back(), *copies.back(), collectives,
                simulation.scheduler()));
            replays.back()->start();
        }
        simulation.run();
        for (const auto& replay : replays)
            SWITCHFOLD_CHECK(replay->finished(), "a rank did not finish");
    }
    state.SetItemsProcessed(
        state.iterations() * static_cast<std::int64_t>(kRanks * graph->operations.size()));
}
BENCHMARK(replay_eight_ranks)->Arg(100)->Arg(5000)->Arg(50'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace switchfold
