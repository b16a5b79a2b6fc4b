// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/statistics.h"
#include "core/units.h"
#include "models/memory/contention.h"
#include "models/memory/hbm_timing.h"
#include "models/memory/parameters.h"

#include <systemc>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace switchfold {

/// Demand of one kernel at full speed, or the offer to it, in bytes per second.
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
        return list_of(
            statistic(
                "packet_bytes", &S::packet_bytes, Unit::kBytes,
                "Asked of the L2 by communication and copies."),
            statistic(
                "packet_hbm_bytes", &S::packet_hbm_bytes, Unit::kBytes,
                "Of these, what reached the HBM while kernels ran."),
            peak_statistic(
                "packet_backlog_peak_us", &S::packet_backlog_peak, Unit::kMicroseconds,
                "Longest queue of packets for the memory while kernels ran."),
            peak_statistic(
                "footprint_peak", &S::footprint_peak, Unit::kBytes,
                "Most communication buffers in use at once."));
    }
};

/// L2 and HBM of one GPU. Kernels draw as fluids, at rates proportional to their speed;
/// communication and copies arrive as packets and queue. Kernels and the queue share the bandwidth
/// max-min fairly, with these guarantees:
/// - The queue is served at no less than its fair share beside the kernels' full demand: 1 / (n +
///   1) of the bandwidth beside n kernels that could use all of it, plus what the kernels leave. So
///   a packet waits no longer than its own and earlier bytes take at that share.
/// - The queue's rate follows the kernels, also for bytes already queued. A time returned by
///   access() is kept, so callers need no further notification; packets are served in order.
/// - Kernels leave to the queue what it was served in the previous window: a burst costs them its
///   bytes, one share_window late. Over any span, both together draw no more than the bandwidth
///   carries plus what the queue is served in one window (plus 2 % of the HBM's bandwidth).
/// Shares are updated when the set of kernels changes and, while packets flow, every share_window.
class MemorySystem final : public sc_core::sc_module, private EventHandler {
public:
    class Listener {
    public:
        /// The packets' demand has changed: request shares again.
        virtual void on_demand_change() = 0;

    protected:
        ~Listener() = default;
    };

    MemorySystem(
        const sc_core::sc_module_name& name, const MemoryParams& params,
        const Contention& contention, Scheduler& scheduler);

    void set_listener(Listener& listener) { listener_ = &listener; }
    /// Communication buffers in use, which take L2 capacity.
    void add_footprint(Bytes bytes) {
        footprint_ += bytes.count();
        statistics_.footprint_peak = std::max(statistics_.footprint_peak, footprint_);
    }
    void remove_footprint(Bytes bytes) { footprint_ -= bytes.count(); }

    /// Accesses a packet's bytes. \returns when they have been served, after those of all earlier
    /// packets; this time is final.
    Time access(std::uint64_t read, std::uint64_t written);

    /// From now on `who` moves so many bytes per second, not packet by packet, as packets would; 0:
    /// nothing. Their statistics are its own.
    void stream(const void* who, double bytes_per_second);

    /// Address that access() touches.
    [[nodiscard]] const void* touched() const { return &free_at_; }

    /// Most that each kernel could draw beside the packets and the other kernels' demands (bytes
    /// per second at full speed): its max-min fair share if it requested everything.
    void share(std::span<const KernelDemand> demands, std::vector<KernelDemand>& offers);
    /// Actual use by the kernels, after share(): the packets get the rest if it exceeds their fair
    /// share.
    void set_kernel_use(const KernelDemand& use);

    /// Bytes per second at which packets are served without kernels.
    [[nodiscard]] double packet_bandwidth() const;
    /// Share of it that kernels leave to them; 0 to 1.
    [[nodiscard]] double left_to_packets() const;
    /// L2 traffic of communication and copies, as far as the kernels' shares account for it,
    /// relative to the HBM's bandwidth; 0 to 1.
    [[nodiscard]] double packet_load() const;
    /// Share of the HBM's bandwidth that what misses the L2 of that takes; 0 to 1.
    [[nodiscard]] double hbm_load() const;
    /// Share of the HBM that they keep busy: an access takes 1 / (1 - share) times as long.
    [[nodiscard]] double queueing() const;

    /// Hit rate of a kernel's L2 traffic if it touches `bytes`.
    [[nodiscard]] double hit_share(double bytes, bool alone) const;
    [[nodiscard]] double hbm_bandwidth() const { return hbm_bandwidth_; }
    [[nodiscard]] double l2_bandwidth() const { return l2_bandwidth_; }
    /// Seconds of an access that misses the L2 in an idle memory; never 0, so that what is in
    /// flight is drawn at a finite rate.
    [[nodiscard]] double idle_latency() const {
        return to_seconds(std::max(params_.hbm.latency + params_.l2.latency, Time(1)));
    }
    [[nodiscard]] const MemoryStatistics& statistics() const { return statistics_; }
    [[nodiscard]] const MemoryParams& params() const { return params_; }

private:
    void on_event(std::uint64_t tag) override;
    void open_window(double now);
    void settle();
    void update_rate();
    [[nodiscard]] double packet_miss_share() const;
    /// The same as kernels notice it: with the L2's mechanism off, buffers that do not fit cost
    /// them nothing.
    [[nodiscard]] double noticed_miss_share() const;

    // Fields that every packet needs share a cache line.
    alignas(64) double free_at_ = 0;  ///< ps at which the queue becomes empty at its current rate
    double told_ = 0;                 ///< ps: the latest time that access() has returned
    double ps_per_byte_ = 0;          ///< for packets
    std::uint64_t arrived_ = 0;       ///< L2 bytes since settle()
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
    KernelDemand
        fair_;  ///< the packets' shares if they requested everything and nothing hit the L2
    KernelDemand use_;
    double packet_rate_ = 0;    ///< L2 bytes per second at which packets are served
    double packet_demand_ = 0;  ///< L2 bytes per second that the kernels' shares leave to packets
    double lent_ = 0;     ///< L2 bytes that packets were served and kernels still have to leave
    double settled_ = 0;  ///< ps: accounts are up to date to here
    double waiting_ = 0;  ///< L2 bytes in the queue at that time
    double served_ = 0;   ///< L2 bytes in this window
    struct Stream {
        const void* who;
        double rate;  ///< bytes per second
    };
    std::vector<Stream> streams_;
    double streamed_ = 0;  ///< L2 bytes per second that come without packets: of all these
    bool quiet_ = true;    ///< nothing has arrived in this window
};

}  // namespace switchfold
