// SPDX-License-Identifier: Apache-2.0
#include "models/memory/memory_system.h"

#include "core/kernel/simulation.h"

#include <gtest/gtest.h>

namespace switchfold::memory_system_test {
namespace {

MemoryParams h100_memory() {
    MemoryParams p;
    p.hbm.peak = gigabytes_per_second(3350);
    p.hbm.channels = 80;
    p.l2.capacity = mebibytes(50);
    p.l2.bandwidth = gigabytes_per_second(6950);
    p.share_window = microseconds(1);
    return p;
}

/// Packets of 1 MiB every microsecond until `packets_until`, and one kernel that starts and ends.
struct Traffic : EventHandler {
    enum Tag : std::uint64_t { kPacket, kKernelEnds, kKernelStarts, kAsk };
    Simulation simulation;
    MemorySystem memory{"memory", h100_memory(), Contention{}, simulation.scheduler()};
    Time packets_until;
    std::vector<KernelDemand> offers;
    double share = 0;  ///< result of offered() at kAsk

    void on_event(std::uint64_t tag) override {
        if (tag == kPacket) {
            memory.access(1U << 19U, 1U << 19U);
            if (simulation.scheduler().now() < packets_until)
                simulation.scheduler().after(microseconds(1), *this, kPacket);
        } else if (tag == kAsk) {
            share = offered();
        } else {
            set_kernels(tag == kKernelStarts ? 1 : 0);
        }
    }
    void set_kernels(std::size_t count) {
        memory.share(std::vector<KernelDemand>(count, KernelDemand{1e15, 0}), offers);
    }
    /// Share of the HBM bandwidth that is offered to a kernel that demands everything.
    double offered() {
        set_kernels(1);
        return offers.front().hbm / memory.hbm_bandwidth();
    }
};

TEST(MemorySystem, WhatIsStreamedTakesAsMuchAsSuchPackets) {
    Traffic traffic;
    const double rate = static_cast<double>(1U << 20U) / 1e-6;
    traffic.set_kernels(1);
    traffic.memory.stream(&traffic, rate);
    traffic.simulation.scheduler().at(microseconds(10), traffic, Traffic::kAsk);
    traffic.simulation.scheduler().at(microseconds(11), traffic, Traffic::kKernelEnds);
    struct Stop : EventHandler {
        explicit Stop(Traffic& whose) : of(whose) {}
        void on_event(std::uint64_t) override { of.memory.stream(&of, 0); }
        Traffic& of;
    } stop{traffic};
    traffic.simulation.scheduler().at(microseconds(20), stop, 0);
    traffic.simulation.run();
    EXPECT_NEAR(traffic.share, 1.0 - rate / traffic.memory.hbm_bandwidth(), 0.01);
    EXPECT_DOUBLE_EQ(traffic.offered(), 1.0);
    EXPECT_EQ(traffic.memory.statistics().packet_bytes, 0U);
    EXPECT_LT(traffic.simulation.scheduler().now(), microseconds(25)) << "its windows end";
}

TEST(MemorySystem, AKernelBesidePacketsGetsWhatTheyLeave) {
    Traffic traffic;
    traffic.packets_until = microseconds(20);
    traffic.set_kernels(1);
    traffic.simulation.scheduler().at(Time(1), traffic, Traffic::kPacket);
    traffic.simulation.scheduler().at(microseconds(10), traffic, Traffic::kAsk);
    traffic.simulation.run();
    const double packets = static_cast<double>(1U << 20U) / 1e-6 / traffic.memory.hbm_bandwidth();
    EXPECT_NEAR(traffic.share, 1.0 - packets, 0.01);
    EXPECT_DOUBLE_EQ(traffic.offered(), 1.0);  // the packets have ended
}

/// The packets end while no kernel runs: the next kernel has the memory to itself.
TEST(MemorySystem, PacketsThatEndInAGapBetweenKernelsSlowNoLaterOne) {
    for (std::uint64_t gap_ns = 4'000; gap_ns < 12'000; gap_ns += 250) {
        Traffic traffic;
        traffic.packets_until = microseconds(8);
        traffic.set_kernels(1);
        Scheduler& scheduler = traffic.simulation.scheduler();
        scheduler.at(Time(1), traffic, Traffic::kPacket);
        scheduler.at(nanoseconds(gap_ns), traffic, Traffic::kKernelEnds);
        scheduler.at(nanoseconds(gap_ns + 1'500), traffic, Traffic::kKernelStarts);
        traffic.simulation.run();
        EXPECT_DOUBLE_EQ(traffic.offered(), 1.0) << gap_ns;
    }
}

/// Traffic before the first kernel does not count as demand in the kernel's first window.
TEST(MemorySystem, PacketsBeforeAKernelAreNotCountedAgainstIt) {
    Traffic traffic;
    traffic.packets_until = microseconds(100);
    Scheduler& scheduler = traffic.simulation.scheduler();
    scheduler.at(Time(1), traffic, Traffic::kPacket);
    scheduler.at(nanoseconds(50'500), traffic, Traffic::kKernelStarts);
    scheduler.at(microseconds(53), traffic, Traffic::kAsk);
    traffic.simulation.run();
    const double packets = static_cast<double>(1U << 20U) / 1e-6 / traffic.memory.hbm_bandwidth();
    EXPECT_NEAR(traffic.share, 1.0 - packets, 0.01);
}

TEST(MemorySystem, AMemoryThatAnswersAtOnceStillTakesTime) {
    MemoryParams params = h100_memory();
    params.hbm.latency = Time(0);
    params.l2.latency = Time(0);
    Simulation simulation;
    const MemorySystem memory("memory", params, Contention{}, simulation.scheduler());
    EXPECT_GT(memory.idle_latency(), 0);
    params.l2.latency = nanoseconds(141);
    const MemorySystem other("other", params, Contention{}, simulation.scheduler());
    EXPECT_DOUBLE_EQ(other.idle_latency(), 141e-9);
}

}  // namespace
}  // namespace switchfold::memory_system_test
