// SPDX-License-Identifier: Apache-2.0
#include "sim/run/machine/machine.h"

#include "sim/run/config/block_checks.h"
#include "sim/run/config/rank_gpus.h"

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
    // Each thread of an element-wise kernel adds 16 bytes.
    constexpr std::uint32_t kThreads = 256;
    constexpr std::uint64_t kBytesOfThread = 16;
    constexpr std::uint64_t kBytesOfBlock = kThreads * kBytesOfThread;
    constexpr std::uint32_t kRegisters = 32;
    const GpuParams& gpu = gpu_.params();
    KernelLaunch kernel;
    kernel.id = id;
    kernel.shape = {kThreads, kRegisters, Bytes(0)};
    kernel.blocks = std::max<std::uint64_t>(1, (written + kBytesOfBlock - 1) / kBytesOfBlock);
    // Alone, at the rate of the memory or of what the resident threads have in flight.
    const std::uint64_t threads =
        std::min(kernel.blocks * kThreads, std::uint64_t{gpu.sms} * gpu.sm.threads);
    const double rate = std::min(
        {memory_.hbm_bandwidth(),
         memory_.l2_bandwidth(),
         static_cast<double>(threads) * static_cast<double>(gpu.draw_per_thread.count())});
    kernel.isolated =
        gpu.kernel_overhead + gpu.memory.hbm.latency +
        serialization_time(Bytes(read + written), Bandwidth(static_cast<std::uint64_t>(rate)));
    kernel.read = Bytes(read);
    kernel.written = Bytes(written);
    gpu_.launch(kernel, listener);
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
            fmt::format("copies{}", rank).c_str(),
            gpus.of(rank).copy,
            gpus_[rank].memory(),
            scheduler);
        copies.attach(*fabric_, rank);
        ports_.push_back(std::make_unique<GpuPort>(rank, gpus_[rank], copies));
        fabric_->endpoint(rank).set_memory(ports_.back().get());
        ports.push_back(ports_.back().get());
    }
    collectives_ = std::make_unique<CollectiveEngine>(
        "collectives",
        *fabric_,
        *system.collectives,
        within(system, options.policies),
        ports,
        options.groups,
        options.functional_seed);
    collectives_->set_generations(std::move(generations));
    faults_ = std::make_unique<FaultInjector>(*fabric_, system.faults, options.fault_seed);
}

}  // namespace switchfold
