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
/// and copies come as packets and queue. Kernels and the queue share the bandwidth max-min fair.
/// What is guaranteed:
/// - The queue is served at no less than its fair share beside all that the kernels could draw: at
///   1 / (n + 1) of the bandwidth beside n that want everything. What the kernels leave comes on
///   top. So a packet waits no longer than the bytes before it and its own take at that share.
/// - The queue's rate changes with the kernels, also for what waits already. A time that access()
///   has told is kept, so that callers need no second word; packets are served in order.
/// - Kernels leave to the queue what it was served in the window before: a burst costs them its
///   bytes, one share_window late. Over any span both together draw no more than the bandwidth
///   carries and what the queue is served in one window (and 2 % of the HBM's bandwidth).
/// Shares are renewed when the set of kernels changes and, while packets flow, every share_window.
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

    /// A packet's bytes. \returns when they have been served, after those of all packets before it;
    /// that stays true whatever happens later.
    Time access(std::uint64_t read, std::uint64_t written);

    /// The memory that access() touches.
    [[nodiscard]] const void* touched() const { return &free_at_; }

    /// What each kernel could draw at most beside the packets and the other kernels' demands (bytes
    /// a second at full speed): its max-min fair share if it asked for everything.
    void share(std::span<const KernelDemand> demands, std::vector<KernelDemand>& offers);
    /// What the kernels really use, after share(): the packets get the rest where it is more than
    /// their fair share.
    void set_kernel_use(const KernelDemand& use);

    /// Bytes that communication and copies draw through the L2 as far as the kernels' shares take
    /// them into account, over the HBM's bandwidth; 0 to 1.
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
    void open_window(double now);
    void settle();
    void update_rate();
    [[nodiscard]] double packet_miss_share() const;

    // What every packet needs lies in one line of the cache.
    alignas(64) double free_at_ = 0;  ///< ps: the queue is empty then, if its rate stays
    double told_ = 0;                 ///< ps: the latest time that access() has told
    double ps_per_byte_ = 0;          ///< of packets
    std::uint64_t arrived_ = 0;       ///< L2 bytes, since settle()
    std::uint32_t kernels_ = 0;
    bool ticking_ = false;
    Scheduler& scheduler_;
    MemoryStatistics statistics_;
    Listener* listener_ = nullptr;
    MemoryParams params_;
    Contention contention_;
    double hbm_bandwidth_;
    double l2_bandwidth_;
    std::uint64_t footprint_ = 0;
    KernelDemand fair_;  ///< the packets' shares if they want everything, as if nothing hits the L2
    KernelDemand use_;
    double packet_rate_ = 0;    ///< L2 bytes a second that packets are served at
    double packet_demand_ = 0;  ///< L2 bytes a second that the kernels' shares leave to packets
    double lent_ = 0;     ///< L2 bytes that packets were served and kernels have still to leave
    double settled_ = 0;  ///< ps: accounts are up to date to here
    double waiting_ = 0;  ///< L2 bytes in the queue then
    double served_ = 0;   ///< L2 bytes, in this window
    bool quiet_ = true;   ///< nothing has come in this window
};

}  // namespace switchfold
