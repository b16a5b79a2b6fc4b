// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/coprocessor/processor_memory_params.h"

#include <cstdint>
#include <string>

namespace switchfold {

/// The matrix library of a processor.
struct ProcessorLibraryParams {
    double kernel_efficiency = 1;
    std::uint32_t tile_rows = 1;
    std::uint32_t tile_columns = 1;
    static constexpr auto fields() {
        using P = ProcessorLibraryParams;
        return list_of(
            field(
                "kernel_efficiency", &P::kernel_efficiency,
                "Share of a core's peak that the library's kernel reaches on packed tiles.", 0.01,
                1.0)
                .required(),
            field(
                "tile_rows", &P::tile_rows, "Size of the tiles that are divided among cores.", 1U,
                65'536U)
                .required(),
            field("tile_columns", &P::tile_columns, "Of them.", 1U, 65'536U).required());
    }
};

/// A processor of cores with threads and vector lanes: a many-core coprocessor or a host's socket.
struct ProcessorParams {
    std::string name;
    std::uint32_t cores = 1;
    std::uint32_t system_cores = 0;
    std::uint32_t threads_per_core = 1;
    Frequency clock;
    std::uint32_t simd_lanes = 1;
    std::uint32_t vector_registers = 16;
    std::uint32_t issue_interval = 1;
    std::uint32_t step_slots = 0;
    std::uint32_t sigmoid_slots = 1;
    ProcessorCacheParams cache;
    ProcessorMemoryParams memory;
    Time region_hop;
    Time context_switch;
    ProcessorLibraryParams library;
    static constexpr auto fields() {
        using P = ProcessorParams;
        return list_of(
            field("name", &P::name, "Name in reports.").required(),
            field("cores", &P::cores, "Cores that programs may use.", 1U, 4096U).required(),
            field(
                "system_cores", &P::system_cores,
                "Of them, cores that the operating system and the transfers occupy while a host "
                "offloads work; a workload that names its cores may use them too.",
                0U, 4095U),
            field("threads_per_core", &P::threads_per_core, "Hardware threads.", 1U, 64U)
                .required(),
            field(
                "clock", &P::clock, "Clock of the cores.", Frequency(1'000'000),
                Frequency(100'000'000'000))
                .required(),
            field(
                "simd_lanes", &P::simd_lanes,
                "32-bit numbers per vector; a core multiplies and adds one vector per cycle.", 1U,
                1024U)
                .required(),
            field(
                "vector_registers", &P::vector_registers, "Vector registers per thread.", 4U, 1024U)
                .required(),
            field(
                "issue_interval", &P::issue_interval,
                "Least cycles between two vector instructions of a thread: 2 if a thread can issue "
                "only every other cycle.",
                1U, 64U)
                .required(),
            field(
                "step_slots", &P::step_slots,
                "Issue slots of a product's loop per loaded vector, besides its multiply-adds: the "
                "load, and what leaves the first-level cache's port to lines that arrive. 0: loads "
                "have ports of their own.",
                0U, 64U)
                .required(),
            field(
                "sigmoid_slots", &P::sigmoid_slots,
                "Issue slots per vector of sigmoids: an exponential, an addition, a reciprocal.",
                1U, 1024U)
                .required(),
            field("cache", &P::cache, "Caches and the ring.").required(),
            field("memory", &P::memory, "Its memory.").required(),
            field(
                "region_hop", &P::region_hop,
                "Time per level and direction of the tree of threads when a parallel region begins "
                "or its threads synchronise: the flag's transfer and the runtime's code.",
                picoseconds(1), microseconds(10'000))
                .required(),
            field(
                "context_switch", &P::context_switch,
                "Time of a switch between software threads on one hardware thread.", Time(),
                microseconds(10'000))
                .required(),
            field("library", &P::library, "Its matrix library.").required());
    }
    void check(ParamChecker& checker) const;
};

}  // namespace switchfold
