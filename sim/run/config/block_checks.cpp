// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/block_checks.h"

#include "models/collectives/algorithm_table.h"
#include "models/gpu/sm_array.h"
#include "sim/run/config/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchfold {

namespace {

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

struct Kernel {
    std::string_view name;
    std::string_view pointer;  ///< of its threads
    std::uint32_t threads;
};

/// `at`: the parameters that the block comes from.
void check_block(
    const GpuParams& gpu,
    const Kernel& kernel,
    const BlockShape& block,
    std::string_view at,
    ParamChecker& checker) {
    const SmArray sm(gpu.sm, 1);
    const std::string_view what = too_much(sm, block);
    if (what == "registers_per_thread")
        checker.error(
            fmt::format("{}/registers_per_thread", at),
            fmt::format(
                "is {}, and an empty SM of {} does not hold a block of {} threads ({}) with as "
                "many each; expected at most {}",
                block.registers_per_thread,
                gpu.name,
                kernel.threads,
                kernel.name,
                most_registers(sm, {kernel.threads, block.registers_per_thread, {}})));
    else if (what == "shared_memory")
        checker.error(
            fmt::format("{}/shared_memory", at),
            fmt::format(
                "is {}, more than an SM of {} has for one block; expected at most {}",
                to_string(block.shared_memory),
                gpu.name,
                to_string(gpu.sm.shared_memory - gpu.sm.reserved_shared_memory)));
    else if (what == "threads")
        checker.error(
            fmt::format("{}/{}", at, kernel.pointer),
            fmt::format(
                "is {}, and an SM of {} holds {}; expected at most those",
                kernel.threads,
                gpu.name,
                gpu.sm.threads));
}

}  // namespace

void check_blocks(
    const GpuParams& gpu, const CollectiveParams& collectives, ParamChecker& checker) {
    const std::array kernels{
        Kernel{"LL", "ll/threads", collectives.ll.threads},
        Kernel{"LL128", "ll128/threads", collectives.ll128.threads},
        Kernel{"Simple", "simple/threads", collectives.simple.threads},
        Kernel{"in-switch", "in_switch_threads", collectives.in_switch_threads}};
    // What all kernels share is told once, of the largest.
    const Kernel& largest =
        *std::max_element(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
            return a.threads < b.threads;
        });
    check_block(
        gpu,
        largest,
        {largest.threads, collectives.registers_per_thread, collectives.shared_memory},
        "/collectives",
        checker);
    // Those of experts need more shared memory than many GPUs have; where they run, a scenario's
    // check says so (why_no_experts()).
    const ExpertsParams& experts = collectives.experts;
    if (experts.copy_round > Time())
        check_block(
            gpu,
            {"experts", "threads", experts.threads},
            {experts.threads, experts.registers_per_thread, Bytes()},
            "/collectives/experts",
            checker);
}

std::uint32_t most_blocks(
    const GpuParams& gpu, const CollectiveParams& collectives, const CollectivePolicy& policy) {
    const bool any = policy.algorithm == Algorithm::kAuto;
    const SmArray sm(gpu.sm, 1);
    std::uint32_t least = UINT32_MAX;
    for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kInSwitch})
        for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
            if ((any || reduces_in_switch(policy.algorithm) == reduces_in_switch(algorithm)) &&
                (policy.protocol == Protocol::kAuto || policy.protocol == protocol)) {
                Choice choice;
                choice.algorithm = algorithm;
                choice.protocol = protocol;
                const ResidentShape shape = kernel_shape(collectives, choice);
                least = std::min(
                    least,
                    sm.limit({shape.threads, shape.registers_per_thread, shape.shared_memory}));
            }
    return gpu.sms * least;
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
