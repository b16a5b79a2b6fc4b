// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "sim/config/workload_names.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold {

class WorkloadKind;

inline constexpr Time kShortestKernel = nanoseconds(100);
inline constexpr Time kLongestKernel = microseconds(1'000'000);

/// Sizes along x, y and z; those that are not given are 1. \pre at most three.
[[nodiscard]] Dim3 dimensions(const std::vector<std::uint32_t>& sizes);

/// A kernel of the vendor's library that multiplies two matrices.
struct MatrixProductParams {
    static constexpr std::string_view kType = "matrix_product";
    static constexpr std::uint32_t kMostRows = 1U << 22U;
    std::uint32_t m = 0;
    std::uint32_t n = 0;
    std::uint32_t k = 0;
    Datatype datatype = Datatype::kBfloat16;
    std::optional<Time> time;
    static constexpr auto fields() {
        using P = MatrixProductParams;
        return list_of(
            field("m", &P::m, "Rows of the result.", 1U, kMostRows).required(),
            field("n", &P::n, "Columns of the result.", 1U, kMostRows).required(),
            field("k", &P::k, "Terms of each sum.", 1U, kMostRows).required(),
            field(
                "datatype", &P::datatype,
                "Type of the factors: float32, float16, bfloat16 or float8."),
            field(
                "time", &P::time,
                "Duration alone on the GPU. Absent: by the model of "
                "docs/contention.md#a-kernel-alone.",
                kShortestKernel, kLongestKernel));
    }
    void check(ParamChecker& checker) const;
};

/// Any kernel, by its launch and what it moves.
struct LaunchedKernelParams {
    static constexpr std::string_view kType = "launch";
    std::vector<std::uint32_t> grid;
    std::vector<std::uint32_t> block;
    std::uint32_t registers_per_thread = 32;
    Bytes shared_memory;
    Bytes bytes_read;
    Bytes bytes_written;
    double flops = 0;
    std::optional<Time> time;
    static constexpr auto fields() {
        using P = LaunchedKernelParams;
        constexpr std::uint32_t kMostBlocks = 1U << 31U;
        constexpr double kMostFlops = 1e18;
        constexpr Bytes kMostBytes(1ULL << 44U);
        return list_of(
            field("grid", &P::grid, "Thread blocks along x, y and z.", 1U, kMostBlocks).required(),
            field("block", &P::block, "Threads of a block along x, y and z.", 1U, 1024U).required(),
            field(
                "registers_per_thread", &P::registers_per_thread, "Registers of a thread.", 1U,
                255U),
            field(
                "shared_memory", &P::shared_memory, "Shared memory of a block, static and dynamic.",
                Bytes(0), mebibytes(1)),
            field(
                "bytes_read", &P::bytes_read, "Read from L2 and beyond, by the whole kernel.",
                Bytes(0), kMostBytes),
            field("bytes_written", &P::bytes_written, "Written likewise.", Bytes(0), kMostBytes),
            field("flops", &P::flops, "Floating-point operations.", 0.0, kMostFlops),
            field(
                "time", &P::time,
                "Duration alone on the GPU. Absent: that of its bytes, and of its flops on the "
                "vector units, by the model of docs/contention.md#a-kernel-alone.",
                kShortestKernel, kLongestKernel));
    }
    void check(ParamChecker& checker) const;
};

/// A loop of kernels beside a loop of collectives on every GPU.
struct KernelBesideCollectiveParams {
    static constexpr std::string_view kType = "kernel_beside_collective";
    static constexpr std::uint32_t kMostRuns = 10'000;
    std::variant<MatrixProductParams, LaunchedKernelParams> kernel;
    CollectiveKind collective = CollectiveKind::kAllReduce;
    Bytes size;
    Datatype datatype = Datatype::kFloat32;
    std::uint32_t ranks = 0;
    std::uint32_t kernels = 0;
    std::uint32_t collectives = 0;
    static constexpr auto fields() {
        using P = KernelBesideCollectiveParams;
        return list_of(
            field("kernel", &P::kernel, "The kernel, the same on every GPU.").required(),
            field("collective", &P::collective, "Kind of the collective."),
            field(
                "size", &P::size, "Payload of one rank, as nccl-tests counts it.", Bytes(1),
                Bytes(1ULL << 40U))
                .required(),
            field("datatype", &P::datatype, "Type of the collective's elements."),
            field("ranks", &P::ranks, "Participating GPUs, from rank 0; 0: all.", 0U, 65'536U),
            field(
                "kernels", &P::kernels,
                "Kernels in a row; 0: as many as take as long as the collectives while both run, "
                "the longer of the two ten times.",
                0U, kMostRuns),
            field(
                "collectives", &P::collectives, "Collectives in a row; 0: likewise.", 0U,
                kMostRuns));
    }
};

[[nodiscard]] const WorkloadKind& kind_of(const KernelBesideCollectiveParams& params);

}  // namespace switchfold
