// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/world_clock.h"
#include "core/statistics.h"
#include "models/gpu/kernel_speed.h"
#include "models/gpu/memory_left_listener.h"
#include "models/gpu/parameters.h"
#include "models/gpu/sm_partition.h"
#include "models/memory/memory_system.h"

#include <systemc>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

struct KernelLaunch {
    std::uint32_t id = 0;
    BlockShape shape;
    std::uint64_t blocks = 1;
    Time isolated;
    Bytes read;
    Bytes written;
    std::int32_t priority = 0;  ///< lower is more urgent
    /// The bytes are a bound that shapes or the kernel's class set, not a count: what of them the
    /// memory cannot move in time is left out without counting the kernel as clipped.
    bool bounded_bytes = false;
    /// Share of the bytes that the L2 serves alone, by the model of the kernel's time; negative: as
    /// memory/kernel_hit_share says. A modelled kernel's bytes fit its time: nothing is left out.
    float l2_share = -1;
    [[nodiscard]] bool modelled() const { return l2_share >= 0; }
    /// Of a CUDA graph, and not its last: its completion waits for no memory beyond the GPU.
    bool inside_cuda_graph = false;
};

class KernelListener {
public:
    virtual void on_kernel_end(std::uint32_t id) = 0;

protected:
    ~KernelListener() = default;
};

class BlocksListener {
public:
    /// All blocks of a resident kernel hold their slots.
    virtual void on_blocks_resident(std::uint64_t ticket) = 0;

protected:
    ~BlocksListener() = default;
};

struct GpuStatistics {
    std::uint64_t kernels = 0;
    std::uint64_t clipped_kernels = 0;
    std::uint64_t oversized_kernels = 0;
    static constexpr auto statistics() {
        using S = GpuStatistics;
        return list_of(
            statistic("kernels", &S::kernels, Unit::kCount, "Kernels run."),
            statistic(
                "clipped_kernels", &S::clipped_kernels, Unit::kCount,
                "Kernels whose bytes were cut to what memory can move in their time."),
            statistic(
                "oversized_kernels", &S::oversized_kernels, Unit::kCount,
                "Kernels of which no block fits an SM: taken as one block an SM."));
    }
};

/// One GPU: kernels wait in hardware queues for slots on SMs, run in waves of thread blocks, and
/// draw bytes through L2 and HBM. A kernel's duration has three parts: an overhead without blocks,
/// its waves, and a completion that waits for communication's traffic. Calibrated
/// so that a kernel alone takes exactly its isolated duration; it is slowed by SM slots that
/// resident communication blocks hold, and by competition for memory bandwidth, L2 capacity and
/// latency. `communication_sms`: SMs reserved for communication, 0 for none (SmPartition).
class Gpu final : public sc_core::sc_module, private EventHandler, private MemorySystem::Listener {
public:
    Gpu(const sc_core::sc_module_name& name, const GpuParams& params, const Contention& contention,
        Scheduler& scheduler, std::uint32_t communication_sms = 0);

    void launch(const KernelLaunch& kernel, KernelListener& listener);
    /// Blocks that hold their slots until they are retired, whether or not they do anything.
    /// `exchange`: every pair of GPUs exchanges separate data, as in an all-to-all.
    std::uint64_t launch_resident(
        const BlockShape& shape, std::uint32_t blocks, std::int32_t priority, Bytes footprint,
        BlocksListener& listener, bool exchange = false);
    void retire_resident(std::uint64_t ticket);
    /// Releases the slots of blocks beyond `blocks`. \pre all of them hold theirs.
    void shrink_resident(std::uint64_t ticket, std::uint32_t blocks);

    [[nodiscard]] MemorySystem& memory() { return memory_; }
    [[nodiscard]] const GpuStatistics& statistics() const { return statistics_; }
    [[nodiscard]] const GpuParams& params() const { return params_; }
    [[nodiscard]] std::uint32_t busy_sms() const { return sms_.busy_sms(); }
    [[nodiscard]] std::size_t running_kernels() const { return running_.size(); }
    /// HBM traffic of kernels: current rate, and bytes so far.
    struct KernelDraw {
        double rate = 0;   ///< bytes per second
        double bytes = 0;  ///< so far
    };
    [[nodiscard]] KernelDraw kernel_draw() const;
    /// Share of the memory's bandwidth that they leave to packets, to some percent; 1 if they draw
    /// nothing.
    [[nodiscard]] double memory_left() const { return memory_left_; }
    /// The listener hears of it when that changes, and when kernels begin or cease to run, until it
    /// is forgotten.
    void tell_of_memory(MemoryLeftListener& listener) { memory_listeners_.push_back(&listener); }
    void forget_listener(MemoryLeftListener& listener) { std::erase(memory_listeners_, &listener); }

private:
    /// Blocks placed at the same time; they run and end together.
    struct Cohort {
        Placement placement;
        double left = 1;   ///< share of a wave's time
        double level = 1;  ///< SM time of its blocks, relative to those of a full wave alone
        double speed = 1;
        std::uint64_t placed = 0;  ///< changes() of the SMs after its placement
    };
    enum class Stage : std::uint8_t { kOverhead, kWaves, kCompletion };
    struct Kernel {
        KernelLaunch launch;
        std::uint64_t order = 0;  ///< of launch, among kernels and residents
        KernelListener* listener = nullptr;
        Stage stage = Stage::kOverhead;
        double left = 0;            ///< ps of the overhead; 0 to 1 of the completion
        std::uint64_t pending = 0;  ///< blocks not yet placed
        std::uint64_t resident = 0;
        double concurrent = 1;       ///< blocks of a full wave alone
        std::uint32_t level = 1;     ///< blocks per SM in that wave
        double wave_time = 0;        ///< ps of a full wave alone
        std::uint64_t tail = 0;      ///< blocks of the last wave alone, if it is partial
        double carry = 0;            ///< rounding error (ps) carried into the next wave
        double tail_left = 1;        ///< work of that wave, such that the total is exact when alone
        double bytes_per_block = 0;  ///< through the L2
        double block_draw = 0;       ///< bytes per second that a block can have in flight
        double hbm_alone = 0;        ///< bytes per second that its reads and writes reach alone
        double l2_alone = 0;
        double hit_alone = 0;
        double miss = 1;  ///< share of its bytes that currently go to the HBM
        Roofline roofline;
        std::vector<Cohort> cohorts;
    };
    /// Resources available to one kernel.
    struct Supply {
        KernelDemand offer;
        double latency = 1;  ///< of an access, relative to an idle memory
        double clock = 1;    ///< of the SMs
    };
    struct Resident {
        BlockShape shape;
        std::vector<Placement> placements;
        std::uint64_t pending = 0;
        Bytes footprint;
        bool exchange = false;
        BlocksListener* listener = nullptr;
        std::int32_t priority = 0;
        std::uint64_t ticket = 0;  ///< increases in launch order
    };
    void on_event(std::uint64_t tag) override;
    [[nodiscard]] InSkip in_skip() const override { return InSkip::kPasses; }
    void on_demand_change() override;
    void advance();
    void place_all();
    [[nodiscard]] Resident& resident(std::uint64_t ticket);
    void place_resident(Resident& resident);
    void place_kernel(Kernel& kernel);
    void reshare();
    void set_speeds(Kernel& kernel, const Supply& supply);
    void schedule_next();
    void tell_memory_left();
    void complete();
    bool finish_cohorts(Kernel& kernel);
    [[nodiscard]] bool next_wave_takes_the_same_slots(const Kernel& kernel) const;
    void begin_wave(Kernel& kernel, Cohort& cohort);
    void prepare(Kernel& kernel);
    [[nodiscard]] MemoryShare memory_share(const Kernel& kernel, double wave_time) const;
    void set_waves(Kernel& kernel, std::uint64_t slots, double body);
    [[nodiscard]] double level_time(const Kernel& kernel, std::uint32_t blocks_on_sm) const;
    [[nodiscard]] double
    stretch_of(const Kernel& kernel, double blocks, double level, const Supply& supply) const;
    [[nodiscard]] double power_lift(const Kernel& kernel, double crowd) const;
    [[nodiscard]] double completion_time() const;
    void fit_bytes(Kernel& kernel, double body);
    [[nodiscard]] double hits_beside(const Kernel& kernel, double bytes) const;

    GpuParams params_;
    Contention contention_;
    WorldClock clock_;
    SmPartition sms_;
    MemorySystem memory_;
    GpuStatistics statistics_;
    std::vector<std::unique_ptr<Kernel>> running_;  ///< per hardware queue, oldest first
    std::vector<std::unique_ptr<Kernel>> queued_;
    std::vector<std::unique_ptr<Resident>> residents_;
    std::uint64_t next_ticket_ = 1;
    std::uint64_t generation_ = 0;
    std::uint64_t updated_ = 0;  ///< ps: progress is accounted for up to here
    std::vector<KernelDemand> demands_;
    std::vector<KernelDemand> offers_;
    double completion_ = 0;  ///< ps that a completion currently takes
    KernelDraw drawn_;
    double memory_left_ = 1;
    bool kernels_run_ = false;
    std::vector<MemoryLeftListener*> memory_listeners_;
    Time drawn_until_;  ///< drawn_.bytes are accounted for up to here
};

}  // namespace switchfold
