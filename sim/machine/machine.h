// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/modules.h"
#include "core/kernel/simulation.h"
#include "interconnect/fabric.h"
#include "interconnect/fault_injector.h"
#include "models/collectives/engine.h"
#include "models/gpu/copy_engine.h"
#include "models/gpu/gpu.h"
#include "sim/config/experiment.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace switchfold {

/// Adapts a rank's GPU to the interfaces of collectives and packets.
class GpuPort final : public RankPort, public EndpointMemory, private BlocksListener {
public:
    GpuPort(std::uint32_t rank, Gpu& gpu, CopyEngine& copies) :
        rank_(rank), gpu_(gpu), copies_(copies), memory_(gpu.memory()) {}
    std::uint64_t occupy(const CommunicationKernel& kernel, ResidentListener& listener) override;
    void vacate(std::uint64_t ticket) override { gpu_.retire_resident(ticket); }
    void keep(std::uint64_t ticket, std::uint32_t blocks) override {
        gpu_.shrink_resident(ticket, blocks);
    }
    Time access(std::uint64_t read, std::uint64_t written) override {
        return memory_.access(read, written);
    }
    Time take_links(std::uint32_t number, Time now, Time taken) override {
        Time& free = links_free_[number];
        free = std::max(free, now) + taken;
        return free;
    }
    void copy(std::uint32_t id, const CopyOperation& copy, CopyListener& listener) override {
        copies_.start(id, copy, listener);
    }
    void add_arrays(
        std::uint32_t id, std::uint64_t read, std::uint64_t written,
        KernelListener& listener) override;
    [[nodiscard]] Draw kernel_draw() const override {
        const Gpu::KernelDraw draw = gpu_.kernel_draw();
        return {draw.rate, draw.bytes};
    }
    [[nodiscard]] double memory_left() const override { return gpu_.memory_left(); }
    [[nodiscard]] bool kernels_run() const override { return gpu_.running_kernels() > 0; }
    void tell_of_memory(MemoryLeftListener& listener) override { gpu_.tell_of_memory(listener); }
    void forget_listener(MemoryLeftListener& listener) override { gpu_.forget_listener(listener); }
    [[nodiscard]] double access_bandwidth() const override { return memory_.packet_bandwidth(); }
    [[nodiscard]] std::uint64_t accessed() const override {
        return memory_.statistics().packet_bytes;
    }
    void stream(const void* who, double bytes_per_second) override {
        memory_.stream(who, bytes_per_second);
    }
    [[nodiscard]] const void* touched() const override { return memory_.touched(); }
    Time read(std::uint32_t bytes) override { return memory_.access(bytes, 0); }
    Time write(std::uint32_t bytes) override { return memory_.access(0, bytes); }

private:
    void on_blocks_resident(std::uint64_t ticket) override;
    struct Waiting {
        std::uint64_t ticket;
        ResidentListener* listener;
    };
    std::uint32_t rank_;
    Gpu& gpu_;
    CopyEngine& copies_;
    MemorySystem& memory_;
    std::vector<Waiting> waiting_;
    std::map<std::uint32_t, Time> links_free_;  ///< by number, of those that take turns
};

struct MachineOptions {
    std::uint32_t ranks = 0;    ///< uses the first of the system's GPUs
    std::vector<Group> groups;  ///< of ranks; collectives refer to them by index
    CollectivePolicies policies;
    Contention contention;
    std::uint64_t functional_seed = 0;    ///< 0: collectives carry no values
    std::uint64_t fault_seed = 1;         ///< for bit errors
    std::uint32_t communication_sms = 0;  ///< per GPU, not available to kernels
};

/// The simulated machine: fabric, GPUs with memory and copy engines, the collective engine. Lives
/// within one Simulation.
class Machine {
public:
    Machine(Simulation& simulation, const SystemParams& system, const MachineOptions& options);

    [[nodiscard]] Fabric& fabric() { return *fabric_; }
    [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(gpus_.size()); }
    [[nodiscard]] Gpu& gpu(std::uint32_t rank) { return gpus_[rank]; }
    [[nodiscard]] CopyEngine& copies(std::uint32_t rank) { return copies_[rank]; }
    [[nodiscard]] CollectiveEngine& collectives() { return *collectives_; }

private:
    std::unique_ptr<Fabric> fabric_;
    Modules<Gpu> gpus_;
    Modules<CopyEngine> copies_;
    std::vector<std::unique_ptr<GpuPort>> ports_;
    std::unique_ptr<CollectiveEngine> collectives_;
    std::unique_ptr<FaultInjector> faults_;
};

}  // namespace switchfold
