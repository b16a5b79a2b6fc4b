// SPDX-License-Identifier: Apache-2.0
#include "models/memory/memory_system.h"

#include "models/memory/sharing.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {
// Half of a mixed stream is written: what training's kernels and communication do.
constexpr double kWriteShare = 0.5;
// The kernels' shares are renewed when the packets' demand has moved by this part of the HBM's
// bandwidth.
constexpr double kNoticeable = 0.02;
}  // namespace

MemorySystem::MemorySystem(
    const sc_core::sc_module_name& name,
    const MemoryParams& params,
    const Contention& contention,
    Scheduler& scheduler) :
    sc_module(name),
    scheduler_(scheduler),
    params_(params),
    contention_(contention),
    hbm_bandwidth_(achievable_bytes_per_second(params.hbm, kWriteShare)),
    l2_bandwidth_(static_cast<double>(params.l2.bandwidth.count())) {
    update_rate();
}

double MemorySystem::packet_miss_share() const {
    // What was just written into a buffer is read again soon: it hits as far as the buffers fit in
    // half of the L2.
    if (footprint_ == 0)
        return 1.0;
    const double fits = static_cast<double>(params_.l2.capacity.count()) * 0.5;
    return std::max(0.5, 1.0 - 0.5 * std::min(1.0, fits / static_cast<double>(footprint_)));
}

void MemorySystem::update_rate() {
    const double miss = packet_miss_share();
    const double fair_hbm = hbm_bandwidth_ - use_.hbm;
    const double fair_l2 = l2_bandwidth_ - use_.l2;
    packet_rate_ = std::max(1.0, std::min(fair_hbm / miss, fair_l2));
    ps_per_byte_ = 1e12 / packet_rate_;
}

Time MemorySystem::access(std::uint64_t read, std::uint64_t written) {
    const std::uint64_t bytes = read + written;
    const Time now = scheduler_.now();
    if (bytes == 0)
        return now;
    // By way of signed numbers, which the processor converts in one step.
    const auto now_ps = static_cast<double>(static_cast<std::int64_t>(now.count()));
    statistics_.packet_bytes += bytes;
    free_at_ = std::max(free_at_, now_ps) +
               static_cast<double>(static_cast<std::int64_t>(bytes)) * ps_per_byte_;
    if (!ticking_ && kernels_ > 0) {
        ticking_ = true;
        window_bytes_ = 0;  // what came before, while no kernel ran, is no demand of this window
        scheduler_.after(params_.share_window, *this, 0);
    }
    window_bytes_ += bytes;
    return Time(static_cast<std::uint64_t>(static_cast<std::int64_t>(free_at_)));
}

void MemorySystem::on_event(std::uint64_t /*tag*/) {
    const double window = to_seconds(params_.share_window);
    const double miss = packet_miss_share();
    statistics_.packet_hbm_bytes +=
        static_cast<std::uint64_t>(static_cast<double>(window_bytes_) * miss);
    const double backlog =
        std::max(0.0, free_at_ - static_cast<double>(scheduler_.now().count())) / ps_per_byte_;
    statistics_.packet_backlog_peak = std::max(
        statistics_.packet_backlog_peak, Time(static_cast<std::uint64_t>(backlog * ps_per_byte_)));
    packet_demand_ = (static_cast<double>(window_bytes_) + backlog) / window;
    const bool idle = window_bytes_ == 0 && backlog == 0;
    window_bytes_ = 0;
    if (std::abs(packet_demand_ - announced_demand_) * miss > kNoticeable * hbm_bandwidth_ ||
        idle) {
        if (idle)
            packet_demand_ = 0;
        announced_demand_ = packet_demand_;
        if (listener_ != nullptr)
            listener_->on_demand_change();
    }
    // Also in a gap between kernels: the demand that the next one sees must have come to its end.
    if (idle)
        ticking_ = false;
    else
        scheduler_.after(params_.share_window, *this, 0);
}

void MemorySystem::share(std::span<const KernelDemand> demands, std::vector<KernelDemand>& offers) {
    kernels_ = demands.size();
    offers.resize(demands.size());
    const double packets = contention_.hbm ? announced_demand_ : 0.0;
    const double miss = packet_miss_share();
    std::vector<double> wanted(demands.size() + 1);
    std::vector<double> shares;
    for (std::size_t k = 0; k < demands.size(); ++k) {
        for (std::size_t i = 0; i < demands.size(); ++i)
            wanted[i] = i == k ? hbm_bandwidth_ : demands[i].hbm;
        wanted.back() = packets * miss;
        max_min_share(hbm_bandwidth_, wanted, shares);
        offers[k].hbm = shares[k];
        for (std::size_t i = 0; i < demands.size(); ++i)
            wanted[i] = i == k ? l2_bandwidth_ : demands[i].l2;
        wanted.back() = packets;
        max_min_share(l2_bandwidth_, wanted, shares);
        offers[k].l2 = shares[k];
    }
}

void MemorySystem::set_kernel_use(const KernelDemand& use) {
    use_ = use;
    update_rate();
}

double MemorySystem::packet_load() const {
    return std::min(1.0, announced_demand_ / hbm_bandwidth_);
}

double MemorySystem::queueing() const {
    // However many packets come, kernels keep their fair half.
    constexpr double kMost = 0.5;
    return std::min(kMost, announced_demand_ * packet_miss_share() / hbm_bandwidth_);
}

double MemorySystem::hit_share(double bytes, bool alone) const {
    double capacity = static_cast<double>(params_.l2.capacity.count());
    if (!alone && contention_.l2)
        capacity =
            std::max(0.0, capacity - std::min(capacity * 0.5, static_cast<double>(footprint_)));
    return params_.kernel_hit_share * std::min(1.0, capacity / std::max(1.0, bytes));
}

}  // namespace switchfold
