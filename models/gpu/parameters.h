// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/parameters.h"
#include "sim/core/params.h"
#include "sim/core/units.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold {

/// Limits of one streaming multiprocessor.
struct SmParams {
    std::uint32_t threads = 2048;
    std::uint32_t blocks = 32;
    std::uint32_t registers = 65'536;
    Bytes shared_memory = kibibytes(164);
    Bytes reserved_shared_memory;
    std::vector<Bytes> carveouts;
    std::uint32_t sharing_carveout = 2;
    std::uint32_t warp = 32;
    std::uint32_t schedulers = 4;
    static constexpr auto fields() {
        return std::tuple{
            field("threads", &SmParams::threads, "Resident threads.", 32U, 65'536U),
            field("blocks", &SmParams::blocks, "Resident thread blocks.", 1U, 1024U),
            field("registers", &SmParams::registers, "32-bit registers.", 1024U, 1U << 24U),
            field(
                "shared_memory",
                &SmParams::shared_memory,
                "Shared memory.",
                kibibytes(1),
                mebibytes(16)),
            field(
                "reserved_shared_memory",
                &SmParams::reserved_shared_memory,
                "What the system keeps of it for each block.",
                Bytes(0),
                kibibytes(64)),
            field(
                "carveouts",
                &SmParams::carveouts,
                "Shared memory that an SM can be set to, ascending; the rest is L1. None: blocks "
                "of any need go together.",
                Bytes(0),
                mebibytes(16)),
            field(
                "sharing_carveout",
                &SmParams::sharing_carveout,
                "SMs that keep one carveout as long as any of them is busy.",
                1U,
                64U),
            field("warp", &SmParams::warp, "Threads of a warp.", 1U, 128U),
            field(
                "schedulers",
                &SmParams::schedulers,
                "Warps that issue at the same time: fewer resident ones do not use an SM fully.",
                1U,
                64U)};
    }
    void check(ParamChecker& checker) const {
        if (!std::is_sorted(carveouts.begin(), carveouts.end()))
            checker.error("/carveouts", "falls; expected ascending sizes");
        if (!carveouts.empty() && carveouts.back() != shared_memory)
            checker.error("/carveouts", "does not end with the shared memory of an SM");
    }
};

struct CopyParams {
    std::uint32_t engines = 2;
    Bandwidth host_bandwidth = gigabytes_per_second(24);
    static constexpr auto fields() {
        return std::tuple{
            field("engines", &CopyParams::engines, "Copies that run at the same time.", 1U, 64U),
            field(
                "host_bandwidth",
                &CopyParams::host_bandwidth,
                "Between host and device, one direction.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000))};
    }
};

struct GpuParams {
    std::string name;
    std::uint32_t sms = 108;
    SmParams sm;
    MemoryParams memory;
    CopyParams copy;
    FlopRate matrix_rate;
    std::uint32_t concurrent_kernels = 128;
    double roofline_sharpness = 4;
    Bandwidth draw_per_thread{12'000'000};
    Time kernel_overhead = nanoseconds(2000);
    double lone_block_gain = 2.5;
    double drain_share = 0.8;
    double exchange_accesses = 5;
    double clock_drop = 0;
    double power_drop = 0;
    static constexpr auto fields() {
        return std::tuple{
            field("name", &GpuParams::name, "As the vendor calls it.").required(),
            field("sms", &GpuParams::sms, "Streaming multiprocessors.", 1U, 4096U).required(),
            field("sm", &GpuParams::sm, "Limits of one SM."),
            field("memory", &GpuParams::memory, "L2 and HBM."),
            field("copy", &GpuParams::copy, "Copy engines."),
            field(
                "matrix_rate",
                &GpuParams::matrix_rate,
                "What large dense matrix products in 16 bits reach, for kernels of generated "
                "training steps; 0: not known.",
                FlopRate(0),
                FlopRate(1'000'000'000'000'000'000)),
            field(
                "concurrent_kernels",
                &GpuParams::concurrent_kernels,
                "Hardware queues: kernels resident at once.",
                1U,
                4096U),
            field(
                "roofline_sharpness",
                &GpuParams::roofline_sharpness,
                "Exponent with which a kernel's SM time and memory time overlap: 1 adds them, "
                "large takes the longer.",
                1.0,
                64.0),
            field(
                "draw_per_thread",
                &GpuParams::draw_per_thread,
                "Bytes a second that one resident thread can draw from memory: what it can have in "
                "flight over the latency.",
                Bandwidth(1000),
                gigabytes_per_second(100)),
            field(
                "kernel_overhead",
                &GpuParams::kernel_overhead,
                "Part of a kernel's duration in which no block runs: launch and completion.",
                Time(0),
                microseconds(100)),
            field(
                "lone_block_gain",
                &GpuParams::lone_block_gain,
                "Most that a block gains in speed where fewer of its kernel share its SM.",
                1.0,
                32.0),
            field(
                "drain_share",
                &GpuParams::drain_share,
                "Share of the L2 that a kernel's completion waits for while communication draws "
                "all of the HBM's bandwidth; less in proportion.",
                0.0,
                10.0),
            field(
                "exchange_accesses",
                &GpuParams::exchange_accesses,
                "How many accesses to an idle memory, one after the other, a kernel's completion "
                "takes longer while the blocks of an all-to-all are resident, moving data or not.",
                0.0,
                1000.0),
            field(
                "clock_drop",
                &GpuParams::clock_drop,
                "Share of the SM clock that is lost while communication draws all of the HBM's "
                "bandwidth; 0 is off.",
                0.0,
                0.9),
            field(
                "power_drop",
                &GpuParams::power_drop,
                "Share of the SM clock that is lost to the power limit while all SMs compute, "
                "against few that do: a wave on fewer SMs runs faster. 0 is off.",
                0.0,
                0.5)};
    }
};

}  // namespace switchfold
