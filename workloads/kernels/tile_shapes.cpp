// SPDX-License-Identifier: Apache-2.0
#include "workloads/kernels/tile_shapes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

using Sides = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::uint32_t kAllRegisters = 65'536;  // per SM of all NVIDIA GPUs since 2012

// Tile shapes of CUTLASS and cuBLAS for mma.sync, according to their kernels' names.
constexpr std::array<Sides, 10> kWarpTiles{
    {{64, 32},
     {32, 64},
     {64, 64},
     {128, 64},
     {64, 128},
     {128, 128},
     {256, 64},
     {64, 256},
     {256, 128},
     {128, 256}}};
// Tile shapes on vector units: the accumulators of 64 x 128 already fill the registers.
constexpr std::array<Sides, 6> kVectorTiles{
    {{32, 32}, {64, 32}, {64, 64}, {128, 32}, {128, 64}, {128, 128}}};
// cuBLAS's persistent warpgroup kernels ("nvjet"): rows in multiples of 64, columns of 8; here of
// 16.
constexpr std::array<std::uint32_t, 5> kWarpgroupRows{64, 128, 192, 256, 320};
constexpr std::uint32_t kWarpgroupSums =
    40'960;  // accumulators that the registers of two warpgroups hold
constexpr std::uint32_t kColumnStep = 16;
constexpr std::uint32_t kMostColumns = 256;
// Accumulators are in tensor memory: 128 lanes by 512 columns, for two alternating tiles of 256
// columns.
constexpr std::array<std::uint32_t, 2> kTensorMemoryRows{64, 128};

/// The shape on this GPU, if two steps along k fit an SM's shared memory.
std::optional<TileShape>
shape(const GpuRates& gpu, MatrixKernels kernels, std::uint32_t rows, std::uint32_t columns) {
    TileShape tile;
    tile.rows = rows;
    tile.columns = columns;
    const std::uint32_t sums = rows * columns;
    // Without asynchronous copies a step is half as deep, and one step is in flight in registers.
    const bool asynchronous =
        kernels != MatrixKernels::kVector && kernels != MatrixKernels::kRegisters;
    const std::uint64_t step =
        std::uint64_t{rows + columns} * (asynchronous ? kStepBytes : kStepBytes / 2);
    const std::uint64_t room = gpu.shared_memory - gpu.shared_memory_of_a_block;
    const auto held = [&](std::uint32_t blocks) {
        const std::uint64_t share = gpu.shared_memory / blocks - gpu.shared_memory_of_a_block;
        return static_cast<std::uint32_t>(share / step);
    };
    constexpr std::uint32_t kAtMost = 8;
    constexpr std::uint32_t kWarpAtMost = 4;
    constexpr std::uint32_t kWarpWanted = 3;
    if (room / step < 2)
        return std::nullopt;
    if (persistent(kernels)) {
        tile.persistent = true;
        constexpr std::uint32_t kSmall = 64 * 128;
        tile.blocks = sums <= kSmall ? 2 : 1;
        tile.stages = std::min(kAtMost, held(tile.blocks));
        tile.threads = rows > 64 ? 384 : 256;  // one group copies, the others multiply
        constexpr std::uint32_t kGranule =
            8;  // registers are allocated per thread in multiples of this
        tile.registers = kAllRegisters / tile.blocks / tile.threads / kGranule * kGranule;
    } else {
        // A thread needs about 72 registers besides its accumulators.
        constexpr std::uint32_t kOthers = 72 * 128;
        tile.threads = sums >= 128 * 256 ? 256 : 128;
        const std::uint32_t by_registers = std::max(1U, gpu.registers / (sums + kOthers));
        const std::uint64_t wanted =
            std::min<std::uint64_t>(asynchronous ? kWarpWanted : 2, room / step) * step +
            gpu.shared_memory_of_a_block;
        const auto by_memory =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, gpu.shared_memory / wanted));
        tile.blocks = std::min({by_registers, by_memory, 8U, gpu.blocks});
        tile.stages = asynchronous ? std::min(kWarpAtMost, held(tile.blocks)) : 2;
        tile.registers = std::min(255U, sums / tile.threads + 72);
    }
    tile.shared_memory = step * tile.stages;
    return tile;
}

}  // namespace

std::vector<TileShape> tile_shapes(const GpuRates& gpu, bool vector_units) {
    const MatrixKernels kernels = vector_units ? MatrixKernels::kVector : gpu.kernels;
    std::vector<TileShape> tiles;
    const auto add = [&](std::uint32_t rows, std::uint32_t columns) {
        if (const auto tile = shape(gpu, kernels, rows, columns))
            tiles.push_back(*tile);
    };
    const auto add_columns = [&](std::uint32_t rows, std::uint32_t sums) {
        for (std::uint32_t columns = kColumnStep; columns <= kMostColumns; columns += kColumnStep)
            if (rows * columns <= sums)
                add(rows, columns);
    };
    switch (kernels) {
    case MatrixKernels::kVector:
        for (const auto& [rows, columns] : kVectorTiles)
            add(rows, columns);
        break;
    case MatrixKernels::kRegisters:
        // With twice the registers per SM, tiles are twice as large.
        if (gpu.registers > kAllRegisters)
            add(256, 256);
        [[fallthrough]];
    case MatrixKernels::kAsyncCopy:
        for (const auto& [rows, columns] : kWarpTiles)
            add(rows, columns);
        break;
    case MatrixKernels::kWarpgroup:
        for (const std::uint32_t rows : kWarpgroupRows)
            add_columns(rows, kWarpgroupSums);
        break;
    case MatrixKernels::kTensorMemory:
        for (const std::uint32_t rows : kTensorMemoryRows)
            add_columns(rows, rows * kMostColumns);
        break;
    }
    return tiles;
}

}  // namespace switchfold
