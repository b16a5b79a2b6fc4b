// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/simulation.h"
#include "models/gpu/copy_engine.h"
#include "models/memory/memory_system.h"
#include "models/memory/sharing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace switchfold::memory_sharing_test {
namespace {

struct FluidKernel {
    Time start;
    double bytes = 0;
    double demand = 0;  ///< bytes per second
};
struct Burst {
    Time at;
    std::uint64_t bytes = 0;
};
struct Load {
    std::vector<FluidKernel> kernels;
    std::vector<Burst> bursts;
};

// Prints a load in RapidCheck's counterexamples.
void showValue(const Load& load, std::ostream& os) {
    for (const FluidKernel& k : load.kernels)
        os << "kernel at " << k.start.count() << " ps, " << k.bytes << " B, " << k.demand
           << " B/s; ";
    for (const Burst& b : load.bursts)
        os << b.bytes << " B at " << b.at.count() << " ps; ";
}

MemoryParams memory_of(std::uint64_t gigabytes) {
    MemoryParams p;
    p.hbm.peak = gigabytes_per_second(gigabytes);
    p.l2.bandwidth = gigabytes_per_second(50'000);  // never the bottleneck here
    return p;
}

constexpr std::uint64_t kGigabytes = 1555;

/// Kernels that use the bandwidth that they are offered, up to their demand, and packets. Keeps its
/// own account of the bytes that both move.
class Scene final : private EventHandler, private MemorySystem::Listener {
public:
    Scene(const MemoryParams& params, const Load& load, const Contention& contention = {}) :
        memory("memory", params, contention, simulation_.scheduler()),
        ended(load.kernels.size()),
        load_(load) {
        memory.set_listener(*this);
        left_.assign(load.kernels.size(), 0.0);
        rates_.assign(load.kernels.size(), 0.0);
        // A tag has the kind of event in its lowest two bits and the number above.
        for (std::size_t i = 0; i < load.kernels.size(); ++i)
            simulation_.scheduler().at(load.kernels[i].start, *this, i << 2U | kStart);
        for (std::size_t i = 0; i < load.bursts.size(); ++i)
            simulation_.scheduler().at(load.bursts[i].at, *this, i << 2U | kBurst);
        told.resize(load.bursts.size());
        simulation_.run();
    }

    [[nodiscard]] double bandwidth() const { return memory.hbm_bandwidth(); }

private:
    Simulation simulation_;

public:
    MemorySystem memory;
    std::vector<Time> told;     ///< completion times, by burst
    std::vector<Time> ended;    ///< end times, by kernel
    double most_overdrawn = 0;  ///< bytes moved beyond the bandwidth over any time span

private:
    enum Tag : std::uint64_t { kStart, kBurst, kEnd };

    void on_event(std::uint64_t tag) override {
        advance();
        const auto number = static_cast<std::size_t>(tag >> 2U);
        switch (tag & 3U) {
        case kStart:
            running_.push_back(number);
            left_[number] = load_.kernels[number].bytes;
            return reshare();
        case kBurst:
            told[number] = memory.access(load_.bursts[number].bytes, 0);
            queued_ += static_cast<double>(load_.bursts[number].bytes);
            return;
        default:
            if (number == generation_)
                end_kernels();
        }
    }
    void on_demand_change() override {
        advance();
        reshare();
    }
    void end_kernels() {
        std::erase_if(running_, [&](std::size_t k) {
            const bool over = left_[k] <= rates_[k] * 1e-12;
            if (over)
                ended[k] = simulation_.scheduler().now();
            return over;
        });
        reshare();
    }
    void reshare() {
        std::vector<KernelDemand> demands;
        std::vector<double> wanted;
        for (const std::size_t k : running_) {
            demands.push_back({load_.kernels[k].demand, 0});
            wanted.push_back(load_.kernels[k].demand);
        }
        std::vector<KernelDemand> offers;
        memory.share(demands, offers);
        KernelDemand use;
        double next = INFINITY;
        for (std::size_t i = 0; i < running_.size(); ++i) {
            const std::size_t k = running_[i];
            rates_[k] = std::min(demands[i].hbm, offers[i].hbm);
            use.hbm += rates_[k];
            next = std::min(next, left_[k] / rates_[k]);
        }
        memory.set_kernel_use(use);
        wanted.push_back(bandwidth());
        std::vector<double> shares;
        max_min_share(bandwidth(), wanted, shares);
        packet_rate_ = shares.back();
        ++generation_;
        if (std::isfinite(next))
            simulation_.scheduler().after(
                Time(static_cast<std::uint64_t>(std::ceil(next * 1e12))), *this,
                generation_ << 2U | kEnd);
    }
    /// Accounts for the bytes that kernels and packets move up to now.
    void advance() {
        const Time now = simulation_.scheduler().now();
        const double seconds = to_seconds(now - last_);
        last_ = now;
        double kernels = 0;
        for (const std::size_t k : running_) {
            left_[k] -= rates_[k] * seconds;
            kernels += rates_[k];
        }
        const double rate = packet_rate_ == 0 ? bandwidth() : packet_rate_;
        const double busy = std::min(seconds, queued_ / rate);
        queued_ -= busy * rate;
        // Serves the queue first, which gives the larger overdraft within the span.
        overdrawn_ = std::max(0.0, overdrawn_ + busy * (kernels + rate - bandwidth()));
        most_overdrawn = std::max(most_overdrawn, overdrawn_);
        overdrawn_ = std::max(0.0, overdrawn_ + (seconds - busy) * (kernels - bandwidth()));
    }

    const Load& load_;
    std::vector<std::size_t> running_;
    std::vector<double> left_;
    std::vector<double> rates_;
    std::uint64_t generation_ = 0;
    Time last_;
    double packet_rate_ = 0;
    double queued_ = 0;
    double overdrawn_ = 0;
};

/// Kernels of up to 200 us, some of which demand more than the bandwidth, and bursts of packets or
/// whole copies.
Load draw_load() {
    Load load;
    const auto kernels = *rc::gen::inRange(1, 6);
    for (int i = 0; i < kernels; ++i)
        load.kernels.push_back(
            {nanoseconds(static_cast<std::uint64_t>(*rc::gen::inRange(0, 100'000))),
             *rc::gen::inRange(1, 200'000) * 1e3, *rc::gen::inRange(1, 300) * 1e10});
    const auto bursts = *rc::gen::inRange(1, 60);
    std::uint64_t at = 0;
    for (int i = 0; i < bursts; ++i) {
        at += static_cast<std::uint64_t>(*rc::gen::inRange(0, 4'000'000));
        load.bursts.push_back(
            {Time(at), static_cast<std::uint64_t>(*rc::gen::inRange(16, 2'000'000))});
    }
    return load;
}
rc::Gen<Load> any_load() {
    return rc::gen::exec(draw_load);
}

/// The time at which a queue of this rate completes each burst.
std::vector<double> served_at(const std::vector<Burst>& bursts, double rate) {
    std::vector<double> times;
    double free_at = 0;
    for (const Burst& burst : bursts) {
        free_at = std::max(free_at, static_cast<double>(burst.at.count())) +
                  static_cast<double>(burst.bytes) / rate * 1e12;
        times.push_back(free_at);
    }
    return times;
}

/// However many kernels demand the full bandwidth, packets wait no longer than at their fair share.
RC_GTEST_PROP(MemorySharing, NoPacketWaitsLongerThanAtItsFairShare, ()) {
    const Load load = *any_load();
    const Scene scene(memory_of(kGigabytes), load);
    const auto latest =
        served_at(load.bursts, scene.bandwidth() / static_cast<double>(load.kernels.size() + 1));
    for (std::size_t i = 0; i < load.bursts.size(); ++i) {
        RC_ASSERT(static_cast<double>(scene.told[i].count()) <= latest[i] + 1.0);
        // Without the inner parentheses both sides of the || are evaluated.
        RC_ASSERT((i == 0 || scene.told[i - 1] <= scene.told[i]));
    }
}

/// A kernel takes no longer than at its fair share among all kernels and the queue, to a
/// nanosecond.
RC_GTEST_PROP(MemorySharing, NoKernelWaitsLongerThanAtItsFairShare, ()) {
    const Load load = *any_load();
    const MemoryParams params = memory_of(kGigabytes);
    const Scene scene(params, load);
    for (std::size_t k = 0; k < load.kernels.size(); ++k) {
        const FluidKernel& kernel = load.kernels[k];
        const double fair = std::min(
            kernel.demand, scene.bandwidth() / static_cast<double>(load.kernels.size() + 1));
        RC_ASSERT(to_seconds(scene.ended[k] - kernel.start) <= kernel.bytes / fair + 1e-9);
    }
}

/// All bytes are moved, and never more than the memory can carry, apart from the lag of shares.
RC_GTEST_PROP(MemorySharing, BytesInAreBytesOut, ()) {
    const Load load = *any_load();
    const MemoryParams params = memory_of(kGigabytes);
    const Scene scene(params, load);
    std::uint64_t bytes = 0;
    for (const Burst& burst : load.bursts)
        bytes += burst.bytes;
    RC_ASSERT(scene.memory.statistics().packet_bytes == bytes);
    RC_ASSERT(scene.memory.statistics().packet_hbm_bytes <= bytes);
    for (std::size_t k = 0; k < load.kernels.size(); ++k)
        RC_ASSERT(scene.ended[k] > load.kernels[k].start);
    // Beside a kernel that demands everything, the queue gets at most half. Kernels pay for what it
    // was served in one window during the next, so at most two windows' worth is open. Each kernel
    // that starts can make the debt of the previous window too large to be paid in one.
    const double window = to_seconds(params.share_window) * scene.bandwidth() / 2;
    RC_ASSERT(scene.most_overdrawn <= window * (2.04 + static_cast<double>(load.kernels.size())));
}

RC_GTEST_PROP(MemorySharing, MoreBandwidthIsNeverSlower, ()) {
    const Load load = *any_load();
    const MemoryParams slow = memory_of(kGigabytes);
    const MemoryParams fast = memory_of(kGigabytes + *rc::gen::inRange<std::uint64_t>(0, 2000));
    const Scene before(slow, load);
    const Scene after(fast, load);
    // Shares lag by a window, so the bandwidth that a kernel leaves to a burst may go to another.
    const Time late = slow.share_window * 2;
    for (std::size_t i = 0; i < load.bursts.size(); ++i)
        RC_ASSERT(after.told[i] <= before.told[i] + late);
    for (std::size_t k = 0; k < load.kernels.size(); ++k)
        RC_ASSERT(after.ended[k] <= before.ended[k] + late);
}

/// With HBM contention off, packets slow no kernel and are served as before.
RC_GTEST_PROP(MemorySharing, SwitchedOffOnlyTheKernelsFeelNothing, ()) {
    Load load = *any_load();
    const double bandwidth = Scene(memory_of(kGigabytes), {}).bandwidth();
    // All kernels run throughout in both cases.
    for (FluidKernel& kernel : load.kernels) {
        kernel.start = Time(0);
        kernel.demand = bandwidth;
        kernel.bytes = bandwidth;
    }
    Contention off;
    off.hbm = false;
    const Scene with(memory_of(kGigabytes), load);
    const Scene without(memory_of(kGigabytes), load, off);
    RC_ASSERT(with.told == without.told);
    const Scene alone(memory_of(kGigabytes), {load.kernels, {}});
    // Each change of shares rounds an end to the next picosecond.
    const Time rounding = nanoseconds(1);
    for (std::size_t k = 0; k < load.kernels.size(); ++k) {
        RC_ASSERT(without.ended[k] <= alone.ended[k] + rounding);
        RC_ASSERT(alone.ended[k] <= without.ended[k] + rounding);
        RC_ASSERT(alone.ended[k] <= with.ended[k] + rounding);
    }
}

/// 64 KiB arrive while a kernel uses the full HBM bandwidth: they get half of it at once.
TEST(MemorySharing, APacketBesideAKernelThatTakesEverythingIsServedAtHalf) {
    const Load load{{{Time(0), 1e9, 1e13}}, {{microseconds(100), 65'536}}};
    const Scene scene(memory_of(kGigabytes), load);
    const double seconds = 65'536 / (scene.bandwidth() / 2);
    EXPECT_NEAR(to_seconds(scene.told[0] - microseconds(100)), seconds, 1e-11);
    // The kernel loses only the bandwidth that they used.
    const double kernel = 1e9 / scene.bandwidth() + 65'536 / scene.bandwidth();
    EXPECT_NEAR(to_seconds(scene.ended[0]), kernel, 1e-10);
}

/// Queued bytes are served at the current rate, not at the rate of their arrival.
TEST(MemorySharing, TheQueueFollowsTheRate) {
    // 100 MB queue beside a kernel that ends after about 20 us; a packet arrives then.
    Load load{{{Time(0), 1.5e7, 1e13}}, {{Time(0), 100'000'000}}};
    const Scene first(memory_of(kGigabytes), load);
    const Time later = first.ended[0] + microseconds(1);
    load.bursts.push_back({later, 1'000'000});
    const Scene scene(memory_of(kGigabytes), load);
    ASSERT_EQ(scene.ended[0], first.ended[0]);
    const double bandwidth = scene.bandwidth();
    const double until = to_seconds(scene.ended[0]);
    const double all = until + (101e6 - until * bandwidth / 2) / bandwidth;
    // The first burst's completion time was computed at half of the bandwidth, and nothing
    // overtakes that burst.
    EXPECT_NEAR(to_seconds(scene.told[0]), 100e6 / (bandwidth / 2), 1e-9);
    EXPECT_EQ(scene.told[1], scene.told[0]);
    // A burst that arrives after the queue has drained is not delayed by that time.
    load.bursts.push_back({Time(static_cast<std::uint64_t>(all * 1e12) + 1), 200'000'000});
    const Scene third(memory_of(kGigabytes), load);
    EXPECT_NEAR(to_seconds(third.told[2]), all + 200e6 / bandwidth, 1e-9);
}

struct CopyBesidePackets final : CopyListener, EventHandler {
    void on_copy_end(std::uint32_t) override { ended = simulation.scheduler().now(); }
    void on_event(std::uint64_t) override {
        const Time now = simulation.scheduler().now();
        waited = memory.access(65'536, 0) - now;
    }
    Simulation simulation;
    MemorySystem memory{"memory", memory_of(kGigabytes), Contention{}, simulation.scheduler()};
    CopyEngine copies{"copies", CopyParams{}, memory, simulation.scheduler()};
    Time ended;
    Time waited;
};

/// 290 MB from the host take 12 ms. A packet that arrives meanwhile does not wait for all of them.
TEST(MemorySharing, APacketDoesNotWaitForAWholeCopy) {
    CopyBesidePackets scene;
    const Bytes bytes(290'000'000);
    scene.copies.start(0, {CopyKind::kHostToDevice, bytes, Time(0)}, scene);
    scene.simulation.scheduler().at(microseconds(1), scene, 0);
    scene.simulation.run();
    EXPECT_EQ(scene.ended, serialization_time(bytes, CopyParams{}.host_bandwidth));
    EXPECT_LE(to_seconds(scene.waited), (65'536 + (1U << 20U)) / scene.memory.hbm_bandwidth());
    EXPECT_EQ(scene.memory.statistics().packet_bytes, bytes.count() + 65'536);
}

}  // namespace
}  // namespace switchfold::memory_sharing_test
