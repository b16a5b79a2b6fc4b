// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/contention.h"
#include "models/memory/hbm_timing.h"
#include "models/memory/parameters.h"
#include "sim/core/statistics.h"
#include "sim/core/units.h"
#include "sim/kernel/scheduler.h"

#include <systemc>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace switchfold {

/// What one kernel draws at full speed, or what it is offered. Bytes a second.
struct KernelDemand {
    double hbm = 0;
    double l2 = 0;
};

struct MemoryStatistics {
    std::uint64_t packet_bytes = 0;
    std::uint64_t packet_hbm_bytes = 0;
    Time packet_backlog_peak;
    std::uint64_t footprint_peak = 0;
    static constexpr auto statistics() {
        using S = MemoryStatistics;
        return std::tuple{
            statistic(
                "packet_bytes",
                &S::packet_bytes,
                Unit::kBytes,
                "Asked of the L2 by communication and copies."),
            statistic(
                "packet_hbm_bytes",
                &S::packet_hbm_bytes,
                Unit::kBytes,
                "Of these, what reached the HBM while kernels ran."),
            statistic(
                "packet_backlog_peak_us",
                &S::packet_backlog_peak,
                Unit::kMicroseconds,
                "Longest queue of packets for the memory while kernels ran."),
            statistic(
                "footprint_peak",
                &S::footprint_peak,
                Unit::kBytes,
                "Most communication buffers in use at once.")};
    }
};

/// L2 and HBM of one GPU. Kernels draw as fluids, at rates that their speed scales; communication
/// and copies come as packets that queue for the packet class's share. Sharing is max-min fair and
/// work conserving, renewed when the set of kernels changes and every share_window while packets
/// flow.
class MemorySystem final : public sc_core::sc_module, private EventHandler {
public:
    class Listener {
    public:
        /// The packets' demand has changed: ask for shares again.
        virtual void on_demand_change() = 0;

    protected:
        ~Listener() = default;
    };

    MemorySystem(
        const sc_core::sc_module_name& name,
        const MemoryParams& params,
        const Contention& contention,
        Scheduler& scheduler);

    void set_listener(Listener& listener) { listener_ = &listener; }
    /// Communication buffers in use; they take L2 capacity.
    void add_footprint(Bytes bytes) {
        footprint_ += bytes.count();
        statistics_.footprint_peak = std::max(statistics_.footprint_peak, footprint_);
    }
    void remove_footprint(Bytes bytes) { footprint_ -= bytes.count(); }

    /// A packet's bytes. \returns when they have been served, after those of all packets before it.
    Time access(std::uint64_t read, std::uint64_t written);

    /// The memory that access() touches.
    [[nodiscard]] const void* touched() const { return &free_at_; }

    /// What each kernel could draw at most beside the packets and the other kernels' demands (bytes
    /// a second at full speed): its max-min fair share if it asked for everything.
    void share(std::span<const KernelDemand> demands, std::vector<KernelDemand>& offers);
    /// What the kernels really use, when something else than memory holds them back: the packets
    /// get the rest.
    void set_kernel_use(const KernelDemand& use);

    /// Bytes that communication and copies draw through the L2, over the HBM's bandwidth; 0 to 1.
    [[nodiscard]] double packet_load() const;
    /// Share of the HBM that they keep busy: an access waits that much longer, 1 / (1 - share).
    [[nodiscard]] double queueing() const;

    /// Share of a kernel's L2 traffic that hits, for a kernel that touches `bytes`.
    [[nodiscard]] double hit_share(double bytes, bool alone) const;
    [[nodiscard]] double hbm_bandwidth() const { return hbm_bandwidth_; }
    [[nodiscard]] double l2_bandwidth() const { return l2_bandwidth_; }
    /// Seconds of an access that misses in the L2 of an idle memory.
    [[nodiscard]] double idle_latency() const {
        return to_seconds(params_.hbm.latency + params_.l2.latency);
    }
    [[nodiscard]] const MemoryStatistics& statistics() const { return statistics_; }
    [[nodiscard]] const MemoryParams& params() const { return params_; }

private:
    void on_event(std::uint64_t tag) override;
    void update_rate();
    [[nodiscard]] double packet_miss_share() const;

    // What every packet needs lies in one line of the cache.
    alignas(64) double free_at_ = 0;  ///< ps
    double ps_per_byte_ = 0;          ///< of packets
    std::uint64_t window_bytes_ = 0;
    std::size_t kernels_ = 0;
    bool ticking_ = false;
    Scheduler& scheduler_;
    MemoryStatistics statistics_;
    Listener* listener_ = nullptr;
    MemoryParams params_;
    Contention contention_;
    double hbm_bandwidth_;
    double l2_bandwidth_;
    std::uint64_t footprint_ = 0;
    double packet_demand_ = 0;     ///< L2 bytes a second
    double announced_demand_ = 0;  ///< what the kernels' shares were computed with
    KernelDemand use_;
    double packet_rate_ = 0;  ///< L2 bytes a second that packets are served at
};

}  // namespace switchfold
