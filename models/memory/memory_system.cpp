// SPDX-License-Identifier: Apache-2.0
#include "models/memory/memory_system.h"

#include "models/memory/sharing.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {
// Half of a mixed stream is writes, as for training's kernels and communication.
constexpr double kWriteShare = 0.5;
// Data just written to a buffer are read again soon: they hit as far as the buffers fit in half of
// the L2.
constexpr double kFittingMiss = 0.5;
// Kernels' shares are updated when the packets' demand has changed by this share of the HBM's
// bandwidth.
constexpr double kNoticeable = 0.02;
}  // namespace

MemorySystem::MemorySystem(
    const sc_core::sc_module_name& name, const MemoryParams& params, const Contention& contention,
    Scheduler& scheduler) :
    sc_module(name),
    scheduler_(scheduler),
    params_(params),
    contention_(contention),
    hbm_bandwidth_(achievable_bytes_per_second(params.hbm, kWriteShare)),
    l2_bandwidth_(static_cast<double>(params.l2.bandwidth.count())),
    fair_{hbm_bandwidth_, l2_bandwidth_} {
    update_rate();
}

double MemorySystem::packet_miss_share() const {
    if (footprint_ == 0)
        return 1.0;
    const double fits = static_cast<double>(params_.l2.capacity.count()) * 0.5;
    return std::max(
        kFittingMiss,
        1.0 - (1.0 - kFittingMiss) * std::min(1.0, fits / static_cast<double>(footprint_)));
}

double MemorySystem::noticed_miss_share() const {
    return contention_.l2 || footprint_ == 0 ? packet_miss_share() : kFittingMiss;
}

void MemorySystem::update_rate() {
    const double hbm = std::max(fair_.hbm, hbm_bandwidth_ - use_.hbm);
    const double l2 = std::max(fair_.l2, l2_bandwidth_ - use_.l2);
    const double before = ps_per_byte_;
    packet_rate_ = std::min(hbm / packet_miss_share(), l2);
    ps_per_byte_ = 1e12 / packet_rate_;
    // Queued bytes are served at the changed rate.
    const auto now = static_cast<double>(scheduler_.now().count());
    if (free_at_ > now)
        free_at_ = now + (free_at_ - now) * (ps_per_byte_ / before);
}

Time MemorySystem::access(std::uint64_t read, std::uint64_t written) {
    const std::uint64_t bytes = read + written;
    const Time now = scheduler_.now();
    if (bytes == 0)
        return now;
    // Converted through a signed integer, which takes a single instruction.
    const auto now_ps = static_cast<double>(static_cast<std::int64_t>(now.count()));
    if (!ticking_ && kernels_ > 0)
        open_window(now_ps);
    statistics_.packet_bytes += bytes;
    arrived_ += bytes;
    free_at_ = std::max(free_at_, now_ps) +
               static_cast<double>(static_cast<std::int64_t>(bytes)) * ps_per_byte_;
    // No earlier than the time returned for the previous packet, when the rate was lower.
    told_ = std::max(told_, free_at_);
    return Time(static_cast<std::uint64_t>(static_cast<std::int64_t>(told_)));
}

void MemorySystem::stream(const void* who, double bytes_per_second) {
    auto own = std::ranges::find(streams_, who, &Stream::who);
    if (own == streams_.end())
        own = streams_.insert(own, {who, 0});
    if (std::exchange(own->rate, bytes_per_second) == bytes_per_second)
        return;
    settle();
    streamed_ = 0;
    for (const Stream& stream : streams_)
        streamed_ += stream.rate;
    if (streamed_ > 0 && !ticking_ && kernels_ > 0)
        open_window(static_cast<double>(scheduler_.now().count()));
}

void MemorySystem::open_window(double now) {
    ticking_ = true;
    arrived_ = 0;  // bytes before, when no kernel ran, are no demand of this window
    settled_ = now;
    waiting_ = std::max(0.0, free_at_ - now) / ps_per_byte_;
    served_ = 0;
    quiet_ = true;
    scheduler_.after(params_.share_window, *this, 0);
}

void MemorySystem::settle() {
    if (!ticking_)
        return;
    const auto now = static_cast<double>(scheduler_.now().count());
    const double backlog = std::max(0.0, free_at_ - now);
    const double waiting = backlog / ps_per_byte_;
    const double served = std::max(0.0, waiting_ + static_cast<double>(arrived_) - waiting) +
                          streamed_ * (now - settled_) * 1e-12;
    if (kernels_ > 0)
        lent_ += served - std::min(packet_demand_, packet_rate_) * (now - settled_) * 1e-12;
    statistics_.packet_hbm_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(arrived_) * packet_miss_share());
    statistics_.packet_backlog_peak =
        std::max(statistics_.packet_backlog_peak, Time(static_cast<std::uint64_t>(backlog)));
    served_ += served;
    quiet_ = quiet_ && arrived_ == 0 && streamed_ == 0;
    arrived_ = 0;
    waiting_ = waiting;
    settled_ = now;
}

void MemorySystem::on_event(std::uint64_t /*tag*/) {
    settle();
    const double window = to_seconds(params_.share_window);
    // Beside these kernels the queue cannot have been served more; without kernels nothing is owed,
    // but a kernel that starts now will find this demand.
    lent_ = kernels_ > 0 ? std::min(lent_, packet_rate_ * window) : served_;
    const double noticeable = kNoticeable * hbm_bandwidth_ / packet_miss_share();
    // Ticks continue in gaps between kernels, so that the average has decayed when the next one
    // starts.
    const bool over = quiet_ && waiting_ == 0 && lent_ <= noticeable * window;
    if (over)
        lent_ = 0;
    const double demand = std::max(0.0, lent_ / window);
    if (std::abs(demand - packet_demand_) > noticeable || (over && packet_demand_ > 0)) {
        packet_demand_ = demand;
        if (listener_ != nullptr)
            listener_->on_demand_change();
    }
    served_ = 0;
    quiet_ = true;
    ticking_ = !over;
    if (ticking_)
        scheduler_.after(params_.share_window, *this, 0);
}

void MemorySystem::share(std::span<const KernelDemand> demands, std::vector<KernelDemand>& offers) {
    settle();
    kernels_ = static_cast<std::uint32_t>(demands.size());
    // Queued bytes count as demand.
    const auto now = static_cast<double>(scheduler_.now().count());
    if (!ticking_ && kernels_ > 0 && (free_at_ > now || streamed_ > 0))
        open_window(now);
    offers.resize(demands.size());
    const double packets = contention_.hbm ? packet_demand_ : 0.0;
    const double miss = noticed_miss_share();
    std::vector<double> wanted(demands.size() + 1);
    std::vector<double> shares;
    const auto share_of = [&](std::size_t who, double KernelDemand::*what, double bandwidth) {
        for (std::size_t i = 0; i < demands.size(); ++i)
            wanted[i] = demands[i].*what;
        wanted.back() = packets * (what == &KernelDemand::hbm ? miss : 1.0);
        wanted[who] = bandwidth;
        max_min_share(bandwidth, wanted, shares);
        return shares[who];
    };
    for (std::size_t k = 0; k <= demands.size(); ++k) {
        KernelDemand& offer = k < demands.size() ? offers[k] : fair_;
        offer.hbm = share_of(k, &KernelDemand::hbm, hbm_bandwidth_);
        offer.l2 = share_of(k, &KernelDemand::l2, l2_bandwidth_);
    }
}

void MemorySystem::set_kernel_use(const KernelDemand& use) {
    use_ = use;
    update_rate();
}

double MemorySystem::packet_bandwidth() const {
    return std::min(hbm_bandwidth_ / packet_miss_share(), l2_bandwidth_);
}

double MemorySystem::left_to_packets() const {
    return packet_rate_ / packet_bandwidth();
}

double MemorySystem::packet_load() const {
    return std::min(1.0, packet_demand_ / hbm_bandwidth_);
}

double MemorySystem::hbm_load() const {
    return std::min(1.0, packet_demand_ * noticed_miss_share() / hbm_bandwidth_);
}

double MemorySystem::queueing() const {
    // Kernels keep their fair half however many packets arrive.
    constexpr double kMost = 0.5;
    return std::min(kMost, hbm_load());
}

double MemorySystem::hit_share(double bytes, bool alone) const {
    double capacity = static_cast<double>(params_.l2.capacity.count());
    if (!alone && contention_.l2)
        capacity =
            std::max(0.0, capacity - std::min(capacity * 0.5, static_cast<double>(footprint_)));
    return params_.kernel_hit_share * std::min(1.0, capacity / std::max(1.0, bytes));
}

}  // namespace switchfold
