// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/gpu.h"

#include "core/error.h"
#include "models/gpu/block_draw.h"

#include <boost/math/tools/toms748_solve.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace switchfold {

namespace {
constexpr double kDone = 1e-9;
constexpr double kLeftAlike = 0.02;  ///< shares of the memory's bandwidth
constexpr float kMostHits = 0.99F;   ///< some first access always misses
/// Solves x = f(x) for a non-increasing function with f(0) > 0; f is called last with a value next
/// to x. Near a purely memory-bound wave, f is as steep as a square root at zero.
template <class Function>
double falling_fixed_point(Function f) {
    const auto above = [&f](double x) { return f(x) - x; };
    const double at_zero = above(0);
    if (at_zero <= 0)
        return f(0);
    const double at_high = above(at_zero);
    if (at_high >= 0)
        return f(at_zero);
    std::uintmax_t rounds = 60;
    constexpr int kBits = 45;
    const auto [low, high] = boost::math::tools::toms748_solve(
        above, 0.0, at_zero, at_zero, at_high, boost::math::tools::eps_tolerance<double>(kBits),
        rounds);
    return f((low + high) / 2);
}

}  // namespace

Gpu::Gpu(
    const sc_core::sc_module_name& name, const GpuParams& params, const Contention& contention,
    Scheduler& scheduler, std::uint32_t communication_sms) :
    sc_module(name),
    params_(params),
    contention_(contention),
    clock_(scheduler),
    sms_(params.sm, params.sms, communication_sms, contention.sm),
    memory_("memory", params.memory, contention, scheduler) {
    memory_.set_listener(*this);
}

/// SM time of a block with `blocks_on_sm` - 1 other blocks of its kernel on the SM, relative to a
/// full wave alone: blocks share the SM's schedulers, and a single block has limited speed.
double Gpu::level_time(const Kernel& kernel, std::uint32_t blocks_on_sm) const {
    const std::uint32_t warps =
        (std::max(1U, kernel.launch.shape.threads) + params_.sm.warp - 1) / params_.sm.warp;
    const auto busy = [&](std::uint32_t blocks) {
        return static_cast<double>(std::max(params_.sm.schedulers, blocks * warps));
    };
    return std::max(1.0 / params_.lone_block_gain, busy(blocks_on_sm) / busy(kernel.level));
}

MemoryShare Gpu::memory_share(const Kernel& kernel, double wave_time) const {
    MemoryShare share;
    if (wave_time <= 0)
        return share;
    const double rate = kernel.bytes_per_block * kernel.concurrent / (wave_time * 1e-12);
    share.l2 = rate / std::min(kernel.l2_alone, kernel.concurrent * kernel.block_draw);
    share.hbm = rate * (1.0 - kernel.hit_alone) / kernel.hbm_alone;
    return share;
}

void Gpu::set_waves(Kernel& kernel, std::uint64_t slots, double body) {
    const std::uint64_t full = kernel.pending / slots;
    kernel.tail = full > 0 ? kernel.pending % slots : 0;
    kernel.miss = 1.0 - kernel.hit_alone;
    const Supply idle{{memory_.hbm_bandwidth(), memory_.l2_bandwidth()}};
    const auto per_sm = static_cast<std::uint32_t>((kernel.tail + params_.sms - 1) / params_.sms);
    const auto tail_blocks = static_cast<double>(kernel.tail);
    const double level = kernel.tail > 0 ? level_time(kernel, per_sm) : 1.0;
    MemoryShare share;
    const auto tail_after = [&](double waves) {
        kernel.wave_time = body / waves;
        share = memory_share(kernel, kernel.wave_time);
        kernel.roofline = make_roofline(share, params_.roofline_sharpness);
        return stretch_of(kernel, tail_blocks, level, idle);
    };
    const auto waves = static_cast<double>(std::max<std::uint64_t>(full, 1));
    double tail = 0;
    if (kernel.tail == 0)
        tail_after(waves);
    else
        // A partial last wave is shorter than a full one, the more so the more memory matters; this
        // depends in turn on the length of a full wave.
        tail = falling_fixed_point([&](double guess) { return tail_after(waves + guess); });
    if (kernel.roofline.clipped && !kernel.launch.modelled()) {
        statistics_.clipped_kernels += kernel.launch.bounded_bytes ? 0 : 1;
        kernel.bytes_per_block *= kernel.roofline.memory.l2 / share.l2;
    }
    // Makes the sum exact when the kernel runs alone.
    const double rest = body - waves * kernel.wave_time;
    if (kernel.tail > 0 && kernel.wave_time > 0)
        kernel.tail_left = rest / (kernel.wave_time * tail);
}

void Gpu::prepare(Kernel& kernel) {
    std::uint32_t limit = sms_.compute().limit(kernel.launch.shape);
    if (limit == 0) {
        // The traced launch does not fit the simulated machine: such a block takes a whole SM.
        ++statistics_.oversized_kernels;
        kernel.launch.shape = {params_.sm.threads, 0, Bytes(0)};
        limit = 1;
    }
    kernel.pending = std::max<std::uint64_t>(1, kernel.launch.blocks);
    const std::uint64_t slots = std::uint64_t{limit} * params_.sms;
    // Models count no more than the launch in which no block runs.
    const Time idle = kernel.launch.modelled()
                          ? std::min(params_.kernel_overhead, params_.arithmetic.launch)
                          : params_.kernel_overhead;
    const Time overhead = std::min(kernel.launch.isolated, idle);
    kernel.left = static_cast<double>(overhead.count());
    const std::uint64_t concurrent = std::min(kernel.pending, slots);
    kernel.concurrent = static_cast<double>(concurrent);
    kernel.level = static_cast<std::uint32_t>((concurrent + params_.sms - 1) / params_.sms);
    const double bytes = static_cast<double>((kernel.launch.read + kernel.launch.written).count());
    kernel.bytes_per_block = bytes / static_cast<double>(kernel.pending);
    kernel.block_draw =
        draw_of_block(kernel.launch.shape, kernel.launch.read, kernel.launch.written, params_);
    kernel.hit_alone = kernel.launch.modelled()
                           ? double{std::min(kMostHits, kernel.launch.l2_share)}
                           : memory_.hit_share(bytes, true);
    kernel.hbm_alone = memory_.hbm_bandwidth();
    kernel.l2_alone = memory_.l2_bandwidth();
    const auto body = static_cast<double>((kernel.launch.isolated - overhead).count());
    if (kernel.launch.modelled())
        fit_bytes(kernel, body);
    set_waves(kernel, slots, body);
    if (kernel.roofline.clipped &&
        !kernel.launch.modelled())  // the remaining bytes may fit the cache better
        kernel.hit_alone =
            memory_.hit_share(kernel.bytes_per_block * static_cast<double>(kernel.pending), true);
}

/// Takes what a modelled kernel needs of the memory from its model: HBM at the rate of its own mix
/// of reads and writes, the L2 at that of products, and as many loads in flight as its bytes ask
/// for. Bytes that even so do not fit the body are cut, and counted.
void Gpu::fit_bytes(Kernel& kernel, double body) {
    const auto read = static_cast<double>(kernel.launch.read.count());
    const auto written = static_cast<double>(kernel.launch.written.count());
    const double missed = (read + written) * (1 - kernel.hit_alone);
    if (read + written == 0)
        return;
    // What hits are reads, as far as these suffice.
    const double reads = achievable_bytes_per_second(params_.memory.hbm, 0);
    const double mixed = memory_.hbm_bandwidth();
    kernel.hbm_alone = reads + std::min(1.0, 2 * written / missed) * (mixed - reads);
    kernel.l2_alone = std::max(
        memory_.l2_bandwidth(), static_cast<double>(params_.arithmetic.operand_bandwidth.count()));
    if (body == 0)
        return;
    const double seconds = body * 1e-12;
    const double fits = kernel.hbm_alone * seconds / missed;
    constexpr double kRounding = 1e-6;
    if (fits < 1 - kRounding) {
        statistics_.clipped_kernels += kernel.launch.bounded_bytes ? 0 : 1;
        kernel.bytes_per_block *= fits;
    }
    const double in_flight = kernel.bytes_per_block * static_cast<double>(kernel.pending) / seconds;
    kernel.block_draw = std::max(kernel.block_draw, in_flight / kernel.concurrent);
}

void Gpu::launch(const KernelLaunch& launch, KernelListener& listener) {
    auto kernel = std::make_unique<Kernel>();
    kernel->launch = launch;
    kernel->listener = &listener;
    kernel->order = next_ticket_++;
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
    const BlockShape& shape, std::uint32_t blocks, std::int32_t priority, Bytes footprint,
    BlocksListener& listener, bool exchange) {
    auto resident = std::make_unique<Resident>();
    resident->shape = shape;
    resident->pending = blocks;
    resident->footprint = footprint;
    resident->exchange = exchange;
    resident->listener = &listener;
    resident->priority = priority;
    resident->ticket = next_ticket_++;
    if (sms_.communication().limit(shape) == 0)
        throw SimulationError(
            name(), clock_.now(),
            fmt::format(
                "a communication block of {} threads with {} registers each and {} of shared "
                "memory does not fit on an empty SM",
                shape.threads, shape.registers_per_thread, to_string(shape.shared_memory)));
    const std::uint64_t ticket = resident->ticket;
    memory_.add_footprint(footprint);
    residents_.push_back(std::move(resident));
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
        sms_.communication().release((*at)->shape, placement);
    memory_.remove_footprint((*at)->footprint);
    residents_.erase(at);
    place_all();
    reshare();
}

Gpu::Resident& Gpu::resident(std::uint64_t ticket) {
    const auto at = std::find_if(
        residents_.begin(), residents_.end(), [&](const auto& r) { return r->ticket == ticket; });
    SWITCHFOLD_CHECK(at != residents_.end(), "no resident blocks have ticket {}", ticket);
    return **at;
}

void Gpu::shrink_resident(std::uint64_t ticket, std::uint32_t blocks) {
    Resident& shrinking = resident(ticket);
    SWITCHFOLD_CHECK(shrinking.pending == 0, "blocks leave that wait for slots");
    advance();
    std::uint64_t held = 0;
    for (Placement& placement : shrinking.placements) {
        const std::uint64_t keep = blocks > held ? blocks - held : 0;
        held += placement.blocks;
        if (placement.blocks > keep)
            sms_.communication().release(
                shrinking.shape, take_back(placement, placement.blocks - keep));
    }
    place_all();
    reshare();
}

void Gpu::advance() {
    const std::uint64_t now = clock_.now().count();
    const auto elapsed = static_cast<double>(now - updated_);
    updated_ = now;
    if (elapsed == 0)
        return;
    for (auto& kernel : running_) {
        if (kernel->stage == Stage::kOverhead)
            kernel->left -= elapsed;
        else if (kernel->stage == Stage::kCompletion)
            kernel->left -= completion_ > 0 ? elapsed / completion_ : 1.0;
        for (Cohort& cohort : kernel->cohorts)
            cohort.left -= elapsed * cohort.speed / kernel->wave_time;
    }
}

void Gpu::place_resident(Resident& resident) {
    SmArray& sms = sms_.communication();
    Placement placement = sms.place(resident.shape, resident.pending);
    resident.pending -= placement.blocks;
    // With the mechanism off, communication blocks wait for slots as usual but do not occupy them:
    // communication is unchanged, and only its effect on kernels is removed.
    if (placement.blocks > 0 && contention_.sm)
        resident.placements.push_back(std::move(placement));
    else if (placement.blocks > 0)
        sms.release(resident.shape, placement);
    if (resident.pending == 0)
        clock_.at(clock_.now(), *this, resident.ticket << 1U | 1U);
}

void Gpu::place_kernel(Kernel& kernel) {
    if (kernel.stage != Stage::kWaves || kernel.pending == 0)
        return;
    Placement placement = sms_.compute().place(kernel.launch.shape, kernel.pending);
    if (placement.blocks == 0)
        return;
    kernel.resident += placement.blocks;
    Cohort cohort;
    cohort.level =
        level_time(kernel, *std::max_element(placement.on_sm.begin(), placement.on_sm.end()));
    cohort.placement = std::move(placement);
    cohort.placed = sms_.compute().changes();
    begin_wave(kernel, cohort);
    kernel.cohorts.push_back(std::move(cohort));
}

/// The blocks of `cohort` start on the slots that it has.
void Gpu::begin_wave(Kernel& kernel, Cohort& cohort) {
    const std::uint64_t blocks = cohort.placement.blocks;
    kernel.pending -= blocks;
    cohort.left = kernel.pending == 0 && blocks == kernel.tail ? kernel.tail_left : 1.0;
    cohort.left += std::exchange(kernel.carry, 0.0);
}

/// Slots that one wave leaves and nobody else waits for are the next wave's: looking for them SM by
/// SM would find the same ones.
bool Gpu::next_wave_takes_the_same_slots(const Kernel& kernel) const {
    return running_.size() == 1 && kernel.cohorts.size() == 1 &&
           kernel.pending >= kernel.cohorts.front().placement.blocks &&
           kernel.cohorts.front().placed == sms_.compute().changes() &&
           std::none_of(residents_.begin(), residents_.end(), [](const auto& resident) {
               return resident->pending > 0;
           });
}

/// Assigns slots to blocks by stream priority, then in launch order of their kernels, including
/// communication kernels. Later kernels take what earlier ones leave, so a collective waits until
/// the last blocks of earlier kernels are placed.
void Gpu::place_all() {
    struct Waiting {
        std::int32_t priority;
        std::uint64_t order;
        Kernel* kernel;
        Resident* resident;
    };
    std::vector<Waiting> waiting;
    for (auto& resident : residents_)
        if (resident->pending > 0)
            waiting.push_back({resident->priority, resident->ticket, nullptr, resident.get()});
    if (waiting.empty() && running_.size() == 1) {
        place_kernel(*running_.front());
        return;
    }
    for (auto& kernel : running_)
        if (kernel->pending > 0)
            waiting.push_back({kernel->launch.priority, kernel->order, kernel.get(), nullptr});
    std::sort(waiting.begin(), waiting.end(), [](const Waiting& a, const Waiting& b) {
        return std::pair(a.priority, a.order) < std::pair(b.priority, b.order);
    });
    for (const Waiting& next : waiting)
        if (next.kernel != nullptr)
            place_kernel(*next.kernel);
        else
            place_resident(*next.resident);
}

/// Clock with a share of a full wave's blocks, relative to a full wave alone. Blocks that wait for
/// memory take little power.
double Gpu::power_lift(const Kernel& kernel, double crowd) const {
    if (!contention_.clock || params_.power_drop == 0)
        return 1.0;
    const double busy = std::min(1.0, kernel.concurrent / params_.sms);
    const double drop = params_.power_drop * kernel.roofline.sm * busy;
    return (1.0 - drop * crowd) / (1.0 - drop);
}

/// Time of a wave of `blocks` blocks, relative to a full wave alone. Linear from a latency-bound
/// wave to a full one, so that full waves are never slower than any other split and more SMs never
/// hurt.
double
Gpu::stretch_of(const Kernel& kernel, double blocks, double level, const Supply& supply) const {
    const double in_flight = kernel.concurrent * kernel.block_draw;
    // Relative to the rate at which the kernel's share of the L2 was counted.
    const double l2_alone = std::min(kernel.l2_alone, in_flight);
    const double waiting = l2_alone / in_flight * supply.latency;
    const double crowd = blocks / kernel.concurrent;
    WaveParts small;
    small.sm = level / (supply.clock * power_lift(kernel, crowd));
    small.hbm = 0;
    small.l2 = waiting;
    WaveParts full = small;
    full.hbm = memory_.hbm_bandwidth() / supply.offer.hbm * kernel.miss / (1.0 - kernel.hit_alone);
    full.l2 =
        std::max(waiting, l2_alone / kernel.l2_alone * memory_.l2_bandwidth() / supply.offer.l2);
    const double lightest = wave_stretch(kernel.roofline, small);
    return lightest + (wave_stretch(kernel.roofline, full) - lightest) * crowd;
}

void Gpu::set_speeds(Kernel& kernel, const Supply& supply) {
    const auto blocks = static_cast<double>(kernel.resident);
    for (Cohort& cohort : kernel.cohorts)
        cohort.speed = 1.0 / stretch_of(kernel, blocks, cohort.level, supply);
}

double Gpu::completion_time() const {
    if (!contention_.completion)
        return 0;
    const bool exchange = std::any_of(
        residents_.begin(), residents_.end(), [](const auto& r) { return r->exchange; });
    return static_cast<double>(params_.completion_wait.count()) * memory_.hbm_load() +
           (exchange ? params_.exchange_accesses * memory_.idle_latency() * 1e12 : 0.0);
}

/// Hit rate beside communication buffers. A stated one loses as much of itself as the GPU's own.
double Gpu::hits_beside(const Kernel& kernel, double bytes) const {
    const double beside = memory_.hit_share(bytes, false);
    if (!kernel.launch.modelled())
        return beside;
    const double alone = memory_.hit_share(bytes, true);
    return alone > 0 ? kernel.hit_alone * beside / alone : kernel.hit_alone;
}

void Gpu::reshare() {
    Supply supply;
    supply.latency = contention_.latency ? 1.0 / (1.0 - memory_.queueing()) : 1.0;
    supply.clock = contention_.clock ? 1.0 - params_.clock_drop * memory_.packet_load() : 1.0;
    completion_ = completion_time();
    demands_.clear();
    for (const auto& kernel : running_) {
        KernelDemand demand;
        if (kernel->resident > 0 && kernel->wave_time > 0) {
            const double total =
                kernel->bytes_per_block * static_cast<double>(kernel->launch.blocks);
            kernel->miss = 1.0 - hits_beside(*kernel, total);
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
        if (kernel.resident == 0)
            continue;
        supply.offer = offers_[i];
        set_speeds(kernel, supply);
        const double speed = kernel.cohorts.front().speed;
        use.l2 += demands_[i].l2 * speed;
        use.hbm += demands_[i].hbm * speed;
    }
    memory_.set_kernel_use(use);
    drawn_ = {use.hbm, kernel_draw().bytes};
    drawn_until_ = clock_.now();
    schedule_next();
    tell_memory_left();
}

void Gpu::tell_memory_left() {
    const double left = memory_.left_to_packets();
    const bool alike =
        std::abs(left - memory_left_) < kLeftAlike && (left < 1 || memory_left_ == 1);
    if (alike && kernels_run_ != running_.empty())
        return;
    if (!alike)
        memory_left_ = left;
    kernels_run_ = !running_.empty();
    // Who hears of it may forget itself.
    const std::vector<MemoryLeftListener*> listeners = memory_listeners_;
    for (MemoryLeftListener* listener : listeners)
        listener->on_memory_left();
}

Gpu::KernelDraw Gpu::kernel_draw() const {
    return {drawn_.rate, drawn_.bytes + drawn_.rate * to_seconds(clock_.now() - drawn_until_)};
}

void Gpu::schedule_next() {
    ++generation_;
    double next = INFINITY;
    for (const auto& kernel : running_) {
        if (kernel->stage == Stage::kOverhead)
            next = std::min(next, std::max(0.0, kernel->left));
        else if (kernel->stage == Stage::kCompletion)
            next = std::min(next, std::max(0.0, kernel->left) * completion_);
        for (const Cohort& cohort : kernel->cohorts)
            next = std::min(next, std::max(0.0, cohort.left) * kernel->wave_time / cohort.speed);
    }
    if (std::isinf(next))
        return;
    clock_.after(Time(static_cast<std::uint64_t>(std::ceil(next))), *this, generation_ << 1U);
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
        return;  // superseded by a later change
    advance();
    complete();
}

void Gpu::on_demand_change() {
    if (running_.empty())
        return;
    advance();
    reshare();
}

/// \returns whether slots have become free.
bool Gpu::finish_cohorts(Kernel& kernel) {
    const double close = kDone + (kernel.wave_time > 0 ? 1.0 / kernel.wave_time : 1.0);
    bool freed = false;
    kernel.carry = 0;
    for (std::size_t i = 0; i < kernel.cohorts.size();) {
        Cohort& cohort = kernel.cohorts[i];
        if (cohort.left > close) {
            ++i;
            continue;
        }
        kernel.carry = cohort.left;
        if (next_wave_takes_the_same_slots(kernel)) {
            begin_wave(kernel, cohort);
            break;
        }
        sms_.compute().release(kernel.launch.shape, cohort.placement);
        kernel.resident -= cohort.placement.blocks;
        kernel.cohorts.erase(kernel.cohorts.begin() + static_cast<std::ptrdiff_t>(i));
        freed = true;
    }
    return freed;
}

void Gpu::complete() {
    std::vector<std::unique_ptr<Kernel>> ended;
    bool place = false;
    for (auto& kernel : running_) {
        if (kernel->stage == Stage::kOverhead && kernel->left <= 1.0) {
            kernel->stage = Stage::kWaves;
            // A kernel with overhead only has no blocks that wait for slots.
            if (kernel->wave_time == 0)
                kernel->pending = 0;
            place = true;
        }
        if (kernel->stage == Stage::kWaves) {
            place = finish_cohorts(*kernel) || place;
            if (kernel->resident == 0 && kernel->pending == 0) {
                kernel->stage = Stage::kCompletion;
                kernel->left = kernel->launch.inside_cuda_graph ? 0 : 1;
                completion_ = completion_time();
            }
        }
        if (kernel->stage == Stage::kCompletion &&
            (completion_ <= 1.0 || kernel->left * completion_ <= 1.0))
            ended.push_back(std::move(kernel));
    }
    std::erase_if(running_, [](const auto& kernel) { return kernel == nullptr; });
    while (!queued_.empty() && running_.size() < params_.concurrent_kernels) {
        running_.push_back(std::move(queued_.front()));
        queued_.erase(queued_.begin());
    }
    if (place)
        place_all();
    reshare();
    for (const auto& kernel : ended)
        kernel->listener->on_kernel_end(kernel->launch.id);
}

}  // namespace switchfold
