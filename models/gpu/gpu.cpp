// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/gpu.h"

#include "sim/core/error.h"

#include <algorithm>
#include <cmath>

namespace switchfold {

namespace {
constexpr double kDone = 1e-9;
}  // namespace

Gpu::Gpu(
    const sc_core::sc_module_name& name,
    const GpuParams& params,
    const Contention& contention,
    Scheduler& scheduler) :
    sc_module(name),
    params_(params),
    contention_(contention),
    scheduler_(scheduler),
    sms_(params.sm, params.sms),
    memory_("memory", params.memory, contention, scheduler) {
    memory_.set_listener(*this);
}

void Gpu::prepare(Kernel& kernel) {
    std::uint32_t limit = sms_.limit(kernel.launch.shape);
    if (limit == 0) {
        // The trace's numbers do not fit the machine that replays it: such a block takes an SM of
        // its own.
        ++statistics_.oversized_kernels;
        kernel.launch.shape = {params_.sm.threads, 0, Bytes(0)};
        limit = 1;
    }
    const std::uint64_t blocks = std::max<std::uint64_t>(1, kernel.launch.blocks);
    kernel.pending = blocks;
    kernel.slots_alone = std::uint64_t{limit} * params_.sms;
    const std::uint64_t waves = (blocks + kernel.slots_alone - 1) / kernel.slots_alone;
    const auto isolated = static_cast<double>(kernel.launch.isolated.count());
    kernel.concurrent = static_cast<double>(std::min(blocks, kernel.slots_alone));
    // The last wave takes as long as the others, however few blocks it has.
    kernel.wave_time = isolated / static_cast<double>(waves);
    const double bytes = static_cast<double>((kernel.launch.read + kernel.launch.written).count());
    kernel.bytes_per_block = bytes / static_cast<double>(blocks);
    kernel.hit_alone = memory_.hit_share(bytes, true);
    MemoryShare share;
    if (kernel.wave_time > 0) {
        const double rate = kernel.bytes_per_block * kernel.concurrent / (kernel.wave_time * 1e-12);
        share.l2 = rate / memory_.l2_bandwidth();
        share.hbm = rate * (1.0 - kernel.hit_alone) / memory_.hbm_bandwidth();
    }
    kernel.roofline = make_roofline(share, params_.roofline_sharpness);
    if (kernel.roofline.clipped) {
        ++statistics_.clipped_kernels;
        kernel.bytes_per_block *= share.l2 > 0 ? kernel.roofline.memory.l2 / share.l2 : 1.0;
        // What is left to move may fit the cache better.
        kernel.hit_alone =
            memory_.hit_share(kernel.bytes_per_block * static_cast<double>(blocks), true);
    }
}

void Gpu::launch(const KernelLaunch& launch, KernelListener& listener) {
    auto kernel = std::make_unique<Kernel>();
    kernel->launch = launch;
    kernel->listener = &listener;
    ++statistics_.kernels;
    prepare(*kernel);
    advance();
    if (running_.size() < params_.concurrent_kernels)
        running_.push_back(std::move(kernel));
    else
        queued_.push_back(std::move(kernel));
    place_all();
    reshare();
}

std::uint64_t Gpu::launch_resident(
    const BlockShape& shape,
    std::uint32_t blocks,
    std::int32_t priority,
    Bytes footprint,
    BlocksListener& listener) {
    auto resident = std::make_unique<Resident>();
    resident->shape = shape;
    resident->pending = contention_.sm ? blocks : 0;
    resident->footprint = footprint;
    resident->listener = &listener;
    resident->priority = priority;
    resident->ticket = next_ticket_++;
    if (sms_.limit(shape) == 0)
        throw SimulationError(
            name(), scheduler_.now(), "a communication block does not fit on an empty SM");
    const std::uint64_t ticket = resident->ticket;
    memory_.add_footprint(footprint);
    const bool immediate = resident->pending == 0;
    residents_.push_back(std::move(resident));
    // The listener learns of it from an event, never inside this call.
    if (immediate) {
        scheduler_.at(scheduler_.now(), *this, ticket << 1U | 1U);
        return ticket;
    }
    advance();
    place_all();
    reshare();
    return ticket;
}

void Gpu::retire_resident(std::uint64_t ticket) {
    const auto at = std::find_if(
        residents_.begin(), residents_.end(), [&](const auto& r) { return r->ticket == ticket; });
    SWITCHFOLD_CHECK(at != residents_.end(), "resident blocks retired twice");
    advance();
    for (const Placement& placement : (*at)->placements)
        sms_.release((*at)->shape, placement);
    memory_.remove_footprint((*at)->footprint);
    residents_.erase(at);
    place_all();
    reshare();
}

void Gpu::advance() {
    const std::uint64_t now = scheduler_.now().count();
    const auto elapsed = static_cast<double>(now - updated_);
    updated_ = now;
    if (elapsed == 0)
        return;
    for (auto& kernel : running_) {
        if (kernel->resident == 0)
            continue;
        const double part = elapsed * kernel->speed / kernel->wave_time;
        for (Cohort& cohort : kernel->cohorts)
            cohort.left -= part;
    }
}

void Gpu::place_residents() {
    for (auto& resident : residents_) {
        if (resident->pending == 0)
            continue;
        Placement placement = sms_.place(resident->shape, resident->pending);
        resident->pending -= placement.blocks;
        if (placement.blocks > 0)
            resident->placements.push_back(std::move(placement));
        if (resident->pending == 0)
            scheduler_.at(scheduler_.now(), *this, resident->ticket << 1U | 1U);
    }
}

void Gpu::place_kernel(Kernel& kernel) {
    if (kernel.pending == 0)
        return;
    Placement placement = sms_.place(kernel.launch.shape, kernel.pending);
    if (placement.blocks == 0)
        return;
    kernel.pending -= placement.blocks;
    kernel.resident += placement.blocks;
    kernel.cohorts.push_back({std::move(placement), 1.0});
}

void Gpu::place_all() {
    // Communication blocks that wait go first where their stream is at least as urgent; else the
    // oldest kernel.
    place_residents();
    if (running_.size() == 1) {
        place_kernel(*running_.front());
        return;
    }
    std::vector<Kernel*> order;
    for (auto& kernel : running_)
        if (kernel->pending > 0)
            order.push_back(kernel.get());
    std::stable_sort(order.begin(), order.end(), [](const Kernel* a, const Kernel* b) {
        return a->launch.priority < b->launch.priority;
    });
    for (Kernel* kernel : order)
        place_kernel(*kernel);
}

double Gpu::slots_if_alone(const Kernel& kernel) {
    const std::uint64_t unfinished = kernel.pending + kernel.resident;
    return static_cast<double>(std::max(kernel.resident, std::min(unfinished, kernel.slots_alone)));
}

void Gpu::reshare() {
    demands_.clear();
    for (const auto& kernel : running_) {
        KernelDemand demand;
        if (kernel->resident > 0 && kernel->wave_time > 0) {
            const double total =
                kernel->bytes_per_block * static_cast<double>(kernel->launch.blocks);
            kernel->miss = 1.0 - memory_.hit_share(total, false);
            demand.l2 = static_cast<double>(kernel->resident) * kernel->bytes_per_block /
                        (kernel->wave_time * 1e-12);
            demand.hbm = demand.l2 * kernel->miss;
        }
        demands_.push_back(demand);
    }
    memory_.share(demands_, offers_);
    KernelDemand use;
    for (std::size_t i = 0; i < running_.size(); ++i) {
        Kernel& kernel = *running_[i];
        if (demands_[i].l2 <= 0) {
            kernel.speed = kernel.resident > 0 ? 1.0 : 0.0;
            continue;
        }
        // The memory part of a block's time against that of the same moment alone: the bytes that
        // are moved at once, over the bandwidth that is left for them and that the resident threads
        // can keep in flight.
        const double slots = slots_if_alone(kernel);
        const double crowd = static_cast<double>(kernel.resident) / slots;
        const double in_flight = static_cast<double>(kernel.resident) *
                                 kernel.launch.shape.threads *
                                 static_cast<double>(params_.draw_per_thread.count());
        const auto stretch = [&](double offer, double all) {
            const double limit = std::max(in_flight, crowd * all);
            return crowd * all / std::min(offer, limit);
        };
        const double hbm = stretch(offers_[i].hbm, memory_.hbm_bandwidth()) * kernel.miss /
                           (1.0 - kernel.hit_alone);
        const double l2 = stretch(offers_[i].l2, memory_.l2_bandwidth());
        // The blocks of a last wave that is nearly empty move few bytes at once: memory is a small
        // part of their time.
        const double part = slots / kernel.concurrent;
        const Roofline now =
            part == 1.0 ? kernel.roofline
                        : make_roofline(
                              {kernel.roofline.memory.hbm * part, kernel.roofline.memory.l2 * part},
                              params_.roofline_sharpness);
        kernel.speed = 1.0 / wave_stretch(now, hbm, l2);
        use.l2 += demands_[i].l2 * kernel.speed;
        use.hbm += demands_[i].hbm * kernel.speed;
    }
    memory_.set_kernel_use(use);
    schedule_next();
}

void Gpu::schedule_next() {
    ++generation_;
    double next = INFINITY;
    for (const auto& kernel : running_) {
        if (kernel->launch.isolated.count() == 0 && kernel->resident > 0)
            next = 0;
        if (kernel->resident == 0 || kernel->speed <= 0)
            continue;
        double part = INFINITY;
        for (const Cohort& cohort : kernel->cohorts)
            part = std::min(part, cohort.left);
        next = std::min(next, std::max(0.0, part) * kernel->wave_time / kernel->speed);
    }
    if (std::isinf(next))
        return;
    scheduler_.after(Time(static_cast<std::uint64_t>(std::ceil(next))), *this, generation_ << 1U);
}

void Gpu::on_event(std::uint64_t tag) {
    if ((tag & 1U) != 0) {
        const std::uint64_t ticket = tag >> 1U;
        for (const auto& resident : residents_)
            if (resident->ticket == ticket) {
                resident->listener->on_blocks_resident(ticket);
                return;
            }
        return;
    }
    if (tag >> 1U != generation_)
        return;  // something has changed since this was posted
    advance();
    complete();
}

void Gpu::on_demand_change() {
    if (running_.empty())
        return;
    advance();
    reshare();
}

void Gpu::complete() {
    std::vector<std::unique_ptr<Kernel>> ended;
    bool freed = false;
    for (auto& kernel : running_) {
        const double close = kDone + (kernel->wave_time > 0 ? 1.0 / kernel->wave_time : 1.0);
        for (std::size_t i = 0; i < kernel->cohorts.size();) {
            Cohort& cohort = kernel->cohorts[i];
            if (cohort.left > close) {
                ++i;
                continue;
            }
            sms_.release(kernel->launch.shape, cohort.placement);
            kernel->resident -= cohort.placement.blocks;
            kernel->cohorts.erase(kernel->cohorts.begin() + static_cast<std::ptrdiff_t>(i));
            freed = true;
        }
        if (kernel->resident == 0 && kernel->pending == 0)
            ended.push_back(std::move(kernel));
    }
    std::erase_if(running_, [](const auto& kernel) { return kernel == nullptr; });
    while (!queued_.empty() && running_.size() < params_.concurrent_kernels) {
        running_.push_back(std::move(queued_.front()));
        queued_.erase(queued_.begin());
        freed = true;
    }
    if (freed)
        place_all();
    reshare();
    for (const auto& kernel : ended)
        kernel->listener->on_kernel_end(kernel->launch.id);
}

}  // namespace switchfold
