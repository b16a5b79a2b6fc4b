// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/memory/parameters.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
        return list_of(
            field("threads", &SmParams::threads, "Resident threads.", 32U, 65'536U),
            field("blocks", &SmParams::blocks, "Resident thread blocks.", 1U, 1024U),
            field("registers", &SmParams::registers, "32-bit registers.", 1024U, 1U << 24U),
            field(
                "shared_memory", &SmParams::shared_memory, "Shared memory.", kibibytes(1),
                mebibytes(16)),
            field(
                "reserved_shared_memory", &SmParams::reserved_shared_memory,
                "Shared memory that the system reserves per block.", Bytes(0), kibibytes(64)),
            field(
                "carveouts", &SmParams::carveouts,
                "Sizes that an SM's shared memory can be set to, ascending; the rest is L1. Empty: "
                "blocks with any needs can share an SM.",
                Bytes(0), mebibytes(16)),
            field(
                "sharing_carveout", &SmParams::sharing_carveout,
                "SMs with a common carveout, which is fixed while any of them is busy.", 1U, 64U),
            field("warp", &SmParams::warp, "Threads of a warp.", 1U, 128U),
            field(
                "schedulers", &SmParams::schedulers,
                "Warps that can issue at the same time; fewer resident warps underuse an SM.", 1U,
                64U));
    }
    void check(ParamChecker& checker) const {
        if (!std::is_sorted(carveouts.begin(), carveouts.end()))
            checker.error("/carveouts", "is not ascending; expected ascending sizes");
        if (!carveouts.empty() && carveouts.back() != shared_memory)
            checker.error("/carveouts", "does not end with the shared memory of an SM");
    }
};

struct CopyParams {
    std::uint32_t engines = 2;
    Bandwidth host_bandwidth = gigabytes_per_second(24);
    std::optional<Bandwidth> to_host_bandwidth;
    double duplex = 1;
    Bytes outstanding = kibibytes(64);
    [[nodiscard]] Bandwidth rate_to_host() const {
        return to_host_bandwidth.value_or(host_bandwidth);
    }
    static constexpr auto fields() {
        return list_of(
            field("engines", &CopyParams::engines, "Copies that run at the same time.", 1U, 64U),
            field(
                "host_bandwidth", &CopyParams::host_bandwidth,
                "Rate from the host to the device, for one GPU alone; also the default of the "
                "other direction.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "to_host_bandwidth", &CopyParams::to_host_bandwidth,
                "Rate from the device to the host, for one GPU alone; absent: as host_bandwidth.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)),
            field(
                "duplex", &CopyParams::duplex,
                "Combined rate of simultaneous host copies in both directions, as a share of the "
                "sum of both rates.",
                0.5, 1.0),
            field(
                "outstanding", &CopyParams::outstanding,
                "Bytes in flight of a host copy; its unit of arbitration on shared links.",
                kibibytes(1), mebibytes(64)));
    }
};

/// How the vendor's library feeds the matrix units: determines the tiles and what they hide.
enum class MatrixUnits : std::uint8_t { kNone, kRegisters, kAsyncCopy, kWarpgroup, kTensorMemory };

template <>
struct EnumNames<MatrixUnits> {
    static constexpr std::array<std::pair<MatrixUnits, std::string_view>, 5> kNames{
        {{MatrixUnits::kNone, "none"},
         {MatrixUnits::kRegisters, "registers"},
         {MatrixUnits::kAsyncCopy, "async_copy"},
         {MatrixUnits::kWarpgroup, "warpgroup"},
         {MatrixUnits::kTensorMemory, "tensor_memory"}}};
};

/// Peak rates, from which the times of generated kernels are computed.
struct ArithmeticParams {
    FlopRate vector_rate;
    std::uint32_t of_sms = 0;
    double integer_ratio = 0.5;
    FlopRate half_rate;
    FlopRate float8_rate;
    FlopRate float4_rate;
    bool block_scales = false;
    FlopRate tf32_rate;
    MatrixUnits units = MatrixUnits::kNone;
    bool winograd = true;
    Bandwidth operand_bandwidth;
    Time launch = nanoseconds(2600);
    static constexpr auto fields() {
        constexpr FlopRate kMost(1'000'000'000'000'000'000);
        return list_of(
            field(
                "vector_rate", &ArithmeticParams::vector_rate,
                "Rate of the vector units on 32-bit numbers; 0: unknown.", FlopRate(0), kMost),
            field(
                "of_sms", &ArithmeticParams::of_sms,
                "SMs that these rates, matrix_rate and the L2's bandwidth were stated for: kernel "
                "times of a GPU with other sms take them by the SM. 0: as sms.",
                0U, 4096U),
            field(
                "integer_ratio", &ArithmeticParams::integer_ratio,
                "32-bit integer instructions of an SM's lanes per FLOP of vector_rate: 0.5 if "
                "there "
                "are as many integer lanes as floating-point lanes (V100, A100), 0.25 if half as "
                "many (H100).",
                0.01, 1.0),
            field(
                "half_rate", &ArithmeticParams::half_rate,
                "Rate of the matrix units on dense 16-bit numbers; 0: no matrix units.",
                FlopRate(0), kMost),
            field(
                "float8_rate", &ArithmeticParams::float8_rate,
                "Rate of the matrix units on dense 8-bit numbers; 0: unsupported.", FlopRate(0),
                kMost),
            field(
                "float4_rate", &ArithmeticParams::float4_rate,
                "Rate of the matrix units on dense 4-bit numbers with a scale for 16 (NVFP4); 0: "
                "unsupported.",
                FlopRate(0), kMost),
            field(
                "block_scales", &ArithmeticParams::block_scales,
                "The matrix units apply a scale for 32 elements of 8 bits (MXFP8)."),
            field(
                "tf32_rate", &ArithmeticParams::tf32_rate,
                "Rate of the matrix units on dense 32-bit numbers, rounded; 0: unsupported.",
                FlopRate(0), kMost),
            field(
                "units", &ArithmeticParams::units,
                "How the library's kernels feed the matrix units: through registers (V100, "
                "MI300X), by asynchronous copies (A100), as warpgroups with the tensor memory "
                "engine (H100), with tensor memory (B200); or none."),
            field(
                "winograd", &ArithmeticParams::winograd,
                "Whether the library has Winograd's algorithm for 32-bit convolutions on this "
                "GPU."),
            field(
                "operand_bandwidth", &ArithmeticParams::operand_bandwidth,
                "L2 bandwidth available to all SMs during matrix products; 0: as "
                "memory/l2/bandwidth.",
                Bandwidth(0), gigabytes_per_second(100'000)),
            field(
                "launch", &ArithmeticParams::launch,
                "Time from the end of one kernel to the first block of the next.", Time(0),
                microseconds(100)));
    }
    void check(ParamChecker& checker) const {
        if ((units == MatrixUnits::kNone) != (half_rate.count() == 0))
            checker.error(
                "/units", units == MatrixUnits::kNone
                              ? "is none, but half_rate is given; expected a kind of matrix units"
                              : "is given without half_rate; expected both");
    }
};

struct GpuParams {
    std::string name;
    std::uint32_t sms = 108;
    double clock = 1;
    SmParams sm;
    MemoryParams memory;
    CopyParams copy;
    FlopRate matrix_rate;
    ArithmeticParams arithmetic;
    std::uint32_t concurrent_kernels = 128;
    double roofline_sharpness = 4;
    Bandwidth draw_per_thread{12'000'000};
    Time draw_latency;
    Time kernel_overhead = nanoseconds(2000);
    double lone_block_gain = 2.5;
    Time completion_wait = microseconds(26);
    double exchange_accesses = 5;
    bool completion_measured = false;
    double clock_drop = 0;
    double power_drop = 0;
    static constexpr auto fields() {
        return list_of(
            field("name", &GpuParams::name, "The vendor's name of the GPU.").required(),
            field("sms", &GpuParams::sms, "Streaming multiprocessors.", 1U, 4096U).required(),
            field(
                "clock", &GpuParams::clock,
                "Clock of the SMs, relative to the one that the rates of arithmetic were stated "
                "for; moves the times of kernels alone.",
                0.05, 20.0),
            field("sm", &GpuParams::sm, "Limits of one SM."),
            field("memory", &GpuParams::memory, "L2 and HBM."),
            field("copy", &GpuParams::copy, "Copy engines."),
            field(
                "matrix_rate", &GpuParams::matrix_rate,
                "Rate of large dense 16-bit matrix products, for kernels of generated training "
                "steps; 0: unknown.",
                FlopRate(0), FlopRate(1'000'000'000'000'000'000)),
            field("arithmetic", &GpuParams::arithmetic, "Peak rates, for kernel times."),
            field(
                "concurrent_kernels", &GpuParams::concurrent_kernels,
                "Hardware queues: kernels resident at once.", 1U, 4096U),
            field(
                "roofline_sharpness", &GpuParams::roofline_sharpness,
                "Exponent with which a kernel's SM time and memory time overlap: 1 adds them, "
                "large takes the longer.",
                1.0, 64.0),
            field(
                "draw_per_thread", &GpuParams::draw_per_thread,
                "Memory rate of one resident thread: its bytes in flight divided by the latency.",
                Bandwidth(1000), gigabytes_per_second(100)),
            field(
                "draw_latency", &GpuParams::draw_latency,
                "Latency of an access that misses the L2 (memory/l2/latency and "
                "memory/hbm/latency) that draw_per_thread was stated for: with another latency a "
                "thread draws its bytes in flight once that. 0: as the memory's.",
                Time(0), microseconds(100)),
            field(
                "kernel_overhead", &GpuParams::kernel_overhead,
                "Part of a kernel's duration in which no block runs: launch and completion.",
                Time(0), microseconds(100)),
            field(
                "lone_block_gain", &GpuParams::lone_block_gain,
                "Largest speed-up of a block when fewer blocks of its kernel share its SM.", 1.0,
                32.0),
            field(
                "completion_wait", &GpuParams::completion_wait,
                "Time that a kernel's completion waits beside communication that takes the full "
                "HBM bandwidth; proportionally less beside less of it.",
                Time(0), microseconds(1000)),
            field(
                "exchange_accesses", &GpuParams::exchange_accesses,
                "Additional time of a kernel's completion while blocks of an all-to-all are "
                "resident, in sequential accesses to an idle memory.",
                0.0, 1000.0),
            field(
                "completion_measured", &GpuParams::completion_measured,
                "Whether completion_wait and exchange_accesses were seen on this GPU. Otherwise a "
                "slowdown is a range that begins without both."),
            field(
                "clock_drop", &GpuParams::clock_drop,
                "Share of the SM clock lost while communication draws the full HBM bandwidth; 0: "
                "off.",
                0.0, 0.9),
            field(
                "power_drop", &GpuParams::power_drop,
                "Share of the SM clock lost to the power limit while all SMs compute, relative to "
                "few: a wave on fewer SMs runs faster. 0: off.",
                0.0, 0.5));
    }
};

}  // namespace switchfold
