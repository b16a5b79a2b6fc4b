// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/simulation.h"
#include "models/gpu/gpu.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <tuple>

/// GPUs and kernels that tests of their models share.
namespace switchfold::gpu_test {

/// Prints a launch in RapidCheck's counterexamples.
inline void showValue(const KernelLaunch& k, std::ostream& os) {
    os << k.blocks << " blocks of " << k.shape.threads << " threads, "
       << k.shape.shared_memory.count() << " B shared, isolated " << k.isolated.count() << " ps, "
       << k.read.count() << " B";
}

inline GpuParams h100() {
    GpuParams p;
    p.name = "H100";
    p.sms = 132;
    p.sm.shared_memory = kibibytes(228);
    p.memory.hbm.peak = gigabytes_per_second(3350);
    p.memory.hbm.channels = 80;
    p.memory.l2.capacity = mebibytes(50);
    p.memory.l2.bandwidth = gigabytes_per_second(6950);
    p.draw_per_thread = Bandwidth(13'000'000);
    return p;
}

inline GpuParams a100() {
    GpuParams p;
    p.name = "A100";
    p.sm.reserved_shared_memory = kibibytes(1);
    for (const std::uint64_t kib : {0, 8, 16, 32, 64, 100, 132, 164})
        p.sm.carveouts.push_back(kibibytes(kib));
    p.memory.hbm.latency = nanoseconds(220);
    p.memory.l2.latency = nanoseconds(145);
    return p;
}

/// One GPU that runs kernels in sequence or concurrently, with communication blocks and packet
/// traffic.
struct Bench : KernelListener, BlocksListener, EventHandler {
    explicit Bench(const GpuParams& params, const Contention& contention = {}) :
        gpu("gpu", params, contention, simulation.scheduler()) {}

    void on_kernel_end(std::uint32_t id) override {
        ended[id] = simulation.scheduler().now();
        if (--running == 0 && holding)
            gpu.retire_resident(ticket);
    }
    void on_blocks_resident(std::uint64_t) override { resident = simulation.scheduler().now(); }
    /// Event 0 moves `packet_bytes` through memory every 500 ns while kernels run. Any other value
    /// is a number of communication blocks to launch.
    void on_event(std::uint64_t later) override {
        if (later != 0) {
            hold(static_cast<std::uint32_t>(later));
            if (after)
                launch(*after);
            return;
        }
        if (running == 0 || packet_bytes == 0)
            return;
        gpu.memory().access(packet_bytes / 2, packet_bytes / 2);
        simulation.scheduler().after(nanoseconds(500), *this, 0);
    }
    void launch(const KernelLaunch& kernel) {
        ++running;
        gpu.launch(kernel, *this);
    }
    void hold(std::uint32_t blocks) {
        holding = true;
        ticket = gpu.launch_resident(
            {544, 96, Bytes(88'016)}, blocks, priority, Bytes(0), *this, exchange);
    }
    void hold_at(Time when, std::uint32_t blocks) {
        simulation.scheduler().at(when, *this, blocks);
    }
    Time run(const KernelLaunch& kernel, std::uint32_t blocks = 0, std::uint64_t packets = 0) {
        if (blocks > 0)
            hold(blocks);
        packet_bytes = packets;
        if (packets > 0)
            gpu.memory().add_footprint(mebibytes(8));
        launch(kernel);
        if (packets > 0)
            simulation.scheduler().at(Time(), *this, 0);
        simulation.run();
        return ended.at(kernel.id);
    }

    Simulation simulation;
    Gpu gpu;
    std::map<std::uint32_t, Time> ended;
    Time resident = kTimeMax;
    std::uint64_t ticket = 0;
    std::uint64_t packet_bytes = 0;
    int running = 0;
    bool holding = false;
    bool exchange = false;
    std::int32_t priority = 0;          ///< of the communication blocks
    std::optional<KernelLaunch> after;  ///< launched after the communication blocks
};

inline KernelLaunch kernel(
    std::uint64_t blocks, std::uint32_t threads, std::uint32_t shared_kib, Time isolated,
    Bytes bytes) {
    KernelLaunch k;
    k.id = 1;
    k.shape = {threads, 32, kibibytes(shared_kib)};
    k.blocks = blocks;
    k.isolated = isolated;
    k.read = bytes;
    return k;
}

inline rc::Gen<KernelLaunch> any_kernel() {
    return rc::gen::map(
        rc::gen::tuple(
            rc::gen::inRange<std::uint64_t>(1, 20'000), rc::gen::inRange(1U, 1025U),
            rc::gen::inRange(0U, 200U), rc::gen::inRange<std::uint64_t>(1'000'000, 500'000'000),
            rc::gen::inRange<std::uint64_t>(0, 1'000'000'000), rc::gen::inRange(-50, 101)),
        [](const auto& t) {
            KernelLaunch launch = kernel(
                std::get<0>(t), std::get<1>(t), std::get<2>(t), Time(std::get<3>(t)),
                Bytes(std::get<4>(t)));
            launch.l2_share = std::max(-1.0F, static_cast<float>(std::get<5>(t)) / 100.0F);
            return launch;
        });
}

}  // namespace switchfold::gpu_test
