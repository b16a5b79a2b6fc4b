// SPDX-License-Identifier: Apache-2.0
#include "sim/config/block_checks.h"

#include "models/collectives/library.h"
#include "models/gpu/sm_array.h"
#include "sim/config/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold {

namespace {

BlockShape block_of(const ResidentShape& shape) {
    return {shape.threads, shape.registers_per_thread, shape.shared_memory};
}

/// Whether an empty SM holds the block, and what of it is too much.
std::string_view too_much(const SmArray& sm, const BlockShape& block) {
    if (sm.limit(block) > 0)
        return {};
    if (sm.limit({block.threads, 0, block.shared_memory}) > 0)
        return "registers_per_thread";
    if (sm.limit({block.threads, 0, Bytes()}) > 0)
        return "shared_memory";
    return "threads";
}

std::uint32_t most_registers(const SmArray& sm, BlockShape block) {
    while (block.registers_per_thread > 0 && sm.limit(block) == 0)
        --block.registers_per_thread;
    return block.registers_per_thread;
}

/// `at`: the parameters that the block comes from.
void check_block(
    const GpuParams& gpu, const StatedKernel& kernel, std::string_view at, ParamChecker& checker) {
    const SmArray sm(gpu.sm, 1);
    const BlockShape block = block_of(kernel.shape);
    const std::string_view what = too_much(sm, block);
    if (what == "registers_per_thread")
        checker.error(
            fmt::format("{}/registers_per_thread", at),
            fmt::format(
                "is {}, and an empty SM of {} does not hold a block of {} threads ({}) with as "
                "many each; expected at most {}",
                block.registers_per_thread, gpu.name, block.threads, kernel.name,
                most_registers(sm, {block.threads, block.registers_per_thread, {}})));
    else if (what == "shared_memory")
        checker.error(
            fmt::format("{}/shared_memory", at),
            fmt::format(
                "is {}, more than an SM of {} has for one block; expected at most {}",
                to_string(block.shared_memory), gpu.name,
                to_string(gpu.sm.shared_memory - gpu.sm.reserved_shared_memory)));
    else if (what == "threads")
        checker.error(
            fmt::format("{}/{}", at, kernel.pointer),
            fmt::format(
                "is {}, and an SM of {} holds {}; expected at most those", block.threads, gpu.name,
                gpu.sm.threads));
}

}  // namespace

void check_blocks(
    const GpuParams& gpu, const CollectiveParams& collectives, ParamChecker& checker) {
    for (const CommunicationLibrary* library : libraries()) {
        const StatedKernels stated = library->stated(collectives);
        // What all kernels share is told once, of the largest.
        const auto largest = std::max_element(
            stated.kernels.begin(), stated.kernels.end(),
            [](const StatedKernel& a, const StatedKernel& b) {
                return a.shape.threads < b.shape.threads;
            });
        if (largest != stated.kernels.end())
            check_block(gpu, *largest, stated.at, checker);
    }
}

std::uint32_t most_blocks(
    const GpuParams& gpu, const CollectiveParams& collectives, const CollectivePolicy& policy) {
    const SmArray sm(gpu.sm, 1);
    std::uint32_t most = UINT32_MAX;
    const CommunicationLibrary& library = library_for(CollectiveKind::kAllReduce, policy);
    for (const ResidentShape& shape : library.kernels(collectives, policy))
        most = std::min(most, gpu.sms * sm.limit(block_of(shape)));
    return most;
}

std::uint32_t most_blocks(const SystemParams& system, const CollectivePolicy& policy) {
    std::uint32_t most = most_blocks(*system.gpu, *system.collectives, policy);
    for (const GpuKindParams& other : system.gpus)
        most = std::min(most, most_blocks(*other.gpu, *system.collectives, policy));
    return most;
}

CollectivePolicies within(const SystemParams& system, CollectivePolicies policies) {
    const std::uint32_t most = most_blocks(system);
    policies.most_blocks = policies.most_blocks == 0 ? most : std::min(policies.most_blocks, most);
    return policies;
}

}  // namespace switchfold
