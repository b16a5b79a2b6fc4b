// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/machine.h"

#include "models/gpu/kernel_launch.h"
#include "sim/config/block_checks.h"
#include "sim/config/rank_gpus.h"
#include "sim/workload/kernel_model.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

std::uint64_t GpuPort::occupy(const CommunicationKernel& kernel, ResidentListener& listener) {
    const BlockShape shape{
        kernel.threads_per_block, kernel.registers_per_thread, kernel.shared_memory};
    const std::uint64_t ticket = gpu_.launch_resident(
        shape, kernel.blocks, kernel.priority, kernel.footprint, *this, kernel.exchange);
    waiting_.push_back({ticket, &listener});
    return ticket;
}

void GpuPort::on_blocks_resident(std::uint64_t ticket) {
    const auto at = std::find_if(
        waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.ticket == ticket; });
    ResidentListener* listener = at->listener;
    waiting_.erase(at);
    listener->on_resident(rank_);
}

void GpuPort::add_arrays(
    std::uint32_t id, std::uint64_t read, std::uint64_t written, KernelListener& listener) {
    // As an element-wise kernel of the workload, of 32-bit numbers.
    constexpr double kFloat = 4;
    const GpuRates rates = gpu_rates(gpu_.params());
    MemoryKernel sum = element_wise(
        static_cast<double>(written) / kFloat,
        static_cast<double>(read) / static_cast<double>(std::max<std::uint64_t>(1, written)),
        kFloat);
    if (rates.vector == 0)
        sum.flops = 0;  // the description states none, and memory is slower
    gpu_.launch(launch_of(id, estimate(sum, rates).kernel, 0), listener);
}

Machine::Machine(
    Simulation& simulation, const SystemParams& system, const MachineOptions& options) {
    Scheduler& scheduler = simulation.scheduler();
    fabric_ = std::make_unique<Fabric>("fabric", build_topology(system.topology), scheduler);
    std::vector<RankPort*> ports;
    std::vector<std::uint32_t> generations;
    const RankGpus gpus(system);
    // Folded rings have ranks on the system's other GPUs too.
    for (std::uint32_t rank = 0; rank < fabric_->gpus(); ++rank)
        generations.push_back(static_cast<std::uint32_t>(gpus.of(rank).arithmetic.units));
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
        const std::string label = fmt::format("rank{}", rank);
        gpus_.add(
            label.c_str(), gpus.of(rank), options.contention, scheduler, options.communication_sms);
    }
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
        CopyEngine& copies = copies_.add(
            fmt::format("copies{}", rank).c_str(), gpus.of(rank).copy, gpus_[rank].memory(),
            scheduler);
        copies.attach(*fabric_, rank);
        ports_.push_back(std::make_unique<GpuPort>(rank, gpus_[rank], copies));
        fabric_->endpoint(rank).set_memory(ports_.back().get());
        ports.push_back(ports_.back().get());
    }
    collectives_ = std::make_unique<CollectiveEngine>(
        "collectives", *fabric_, *system.collectives, within(system, options.policies), ports,
        options.groups, options.functional_seed);
    collectives_->set_generations(std::move(generations));
    faults_ = std::make_unique<FaultInjector>(*fabric_, system.faults, options.fault_seed);
}

}  // namespace switchfold
