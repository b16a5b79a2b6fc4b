// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/memory/parameters.h"
#include "sim/core/params.h"
#include "sim/core/units.h"

#include <cstdint>
#include <string>
#include <tuple>

namespace switchfold {

/// Limits of one streaming multiprocessor.
struct SmParams {
    std::uint32_t threads = 2048;
    std::uint32_t blocks = 32;
    std::uint32_t registers = 65'536;
    Bytes shared_memory = kibibytes(164);
    std::uint32_t warp = 32;
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
            field("warp", &SmParams::warp, "Threads of a warp.", 1U, 128U)};
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
    std::uint32_t concurrent_kernels = 128;
    double roofline_sharpness = 4;
    Bandwidth draw_per_thread{12'000'000};
    static constexpr auto fields() {
        return std::tuple{
            field("name", &GpuParams::name, "As the vendor calls it.").required(),
            field("sms", &GpuParams::sms, "Streaming multiprocessors.", 1U, 4096U).required(),
            field("sm", &GpuParams::sm, "Limits of one SM."),
            field("memory", &GpuParams::memory, "L2 and HBM."),
            field("copy", &GpuParams::copy, "Copy engines."),
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
                gigabytes_per_second(100))};
    }
};

}  // namespace switchfold
