// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// Kernels of one name and launch shape in a backward pass, alone on the GPU.
struct KernelAlone {
    std::string name;
    std::vector<std::uint32_t> grid;
    std::vector<std::uint32_t> block;
    std::uint32_t registers = 0;
    std::uint64_t shared_bytes = 0;
    double alone_us = 0;
    std::uint32_t places = 1;
    std::optional<std::uint64_t> bytes_read;
    std::optional<std::uint64_t> bytes_written;
    static constexpr auto fields() {
        using K = KernelAlone;
        return list_of(
            field("name", &K::name, "Of the kernel.").required(),
            field("grid", &K::grid, "Blocks along x, y, z.").required(),
            field("block", &K::block, "Threads along x, y, z.").required(),
            field("registers", &K::registers, "Of a thread.").required(),
            field("shared_bytes", &K::shared_bytes, "Of a block.").required(),
            field("alone_us", &K::alone_us, "Mean over its places of the median time.", 0.1, 1e7)
                .required(),
            field("places", &K::places, "How often it runs in a pass.").required(),
            field("bytes_read", &K::bytes_read, "From DRAM, by counters."),
            field("bytes_written", &K::bytes_written, "To DRAM, by counters."));
    }
    void check(ParamChecker& checker) const;
};

/// The same kernels beside the mover.
struct KernelBeside {
    std::uint32_t kernel = 0;
    double us = 0;
    double low_us = 0;
    double high_us = 0;
    std::uint32_t passes = 0;
    static constexpr auto fields() {
        using K = KernelBeside;
        return list_of(
            field("kernel", &K::kernel, "Its place in the network's list.").required(),
            field("us", &K::us, "Median over the passes.", 0.1, 1e7).required(),
            field("low_us", &K::low_us, "Of the fastest pass.", 0.1, 1e7).required(),
            field("high_us", &K::high_us, "Of the slowest pass.", 0.1, 1e7).required(),
            field("passes", &K::passes, "How many.").required());
    }
};

/// A setting of the memory mover (h200/cuda/ring_mover.h), with all kernels beside it.
struct MoverRun {
    std::uint32_t blocks = 0;
    std::uint32_t threads = 0;
    std::uint32_t registers_per_thread = 0;
    std::uint64_t shared_bytes = 0;
    std::uint64_t static_shared_bytes = 0;
    std::uint64_t footprint_bytes = 0;
    double requested_bytes_per_second = 0;
    double bytes_per_second = 0;
    double slowdown = 0;
    std::vector<KernelBeside> kernels;
    static constexpr auto fields() {
        using R = MoverRun;
        constexpr double kMostRate = 1e14;
        return list_of(
            field("blocks", &R::blocks, "Of the mover.", 1U, 4096U).required(),
            field("threads", &R::threads, "Of a block of it.", 32U, 1024U).required(),
            field("registers_per_thread", &R::registers_per_thread, "Of it.").required(),
            field("shared_bytes", &R::shared_bytes, "Dynamic, of a block of it.").required(),
            field("static_shared_bytes", &R::static_shared_bytes, "The same, static.").required(),
            field("footprint_bytes", &R::footprint_bytes, "Memory that it goes over.").required(),
            field(
                "requested_bytes_per_second", &R::requested_bytes_per_second,
                "Read and written; 0: as fast as it can.", 0.0, kMostRate)
                .required(),
            field(
                "bytes_per_second", &R::bytes_per_second, "Read and written, as measured.", 0.0,
                kMostRate)
                .required(),
            field("slowdown", &R::slowdown, "Of all kernels, weighted with their time.", 0.1, 1e3)
                .required(),
            field("kernels", &R::kernels, "Those that were measured.").required());
    }
};

struct NetworkContention {
    std::string network;
    std::uint32_t unsteady_kernels = 0;
    std::vector<KernelAlone> kernels;
    std::vector<MoverRun> runs;
    static constexpr auto fields() {
        using N = NetworkContention;
        return list_of(
            field("network", &N::network, "Whose backward pass.").required(),
            field("unsteady_kernels", &N::unsteady_kernels, "Not run by every pass: left out."),
            field("kernels", &N::kernels, "Alone.").required(),
            field("runs", &N::runs, "Beside the mover.").required());
    }
    void check(ParamChecker& checker) const;
};

/// The content of contention.json, written by validation/h200/measure.py.
struct ContentionData {
    static constexpr std::string_view kSchema = "switchfold/h200-contention/1";
    std::string schema;
    std::string date;
    std::string command;
    std::map<std::string, std::string> versions;
    std::vector<NetworkContention> networks;
    static constexpr auto fields() {
        using D = ContentionData;
        return list_of(
            field("schema", &D::schema, "Kind and version of the file.").required(),
            field("date", &D::date, "When it was measured.").required(),
            field("command", &D::command, "By which command.").required(),
            field("versions", &D::versions, "GPU, driver and libraries.").required(),
            field("networks", &D::networks, "What was measured.").required());
    }
    void check(ParamChecker& checker) const;
};

/// Throws ConfigError with all problems.
[[nodiscard]] ContentionData read_contention(const std::filesystem::path& file);

}  // namespace switchfold::validation
