// SPDX-License-Identifier: Apache-2.0
#include "workloads/tests/big_trace.h"

#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/read_traces.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include <sys/resource.h>

namespace switchfold::big_trace_test {
namespace {

/// Peak resident memory of this process so far, in bytes.
std::int64_t peak() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::int64_t{usage.ru_maxrss} * 1024;
}

struct Seen {
    std::uint64_t kernels = 0;
    std::int64_t peak = 0;
};

/// All that `trace check`, `inspect` and `convert` do, first on the file and then on its
/// conversion.
Seen work_through(const std::filesystem::path& file) {
    const std::filesystem::path converted = file.string() + ".swt";
    {
        const TraceWorkload workload = read_traces({{file}});
        check(workload.graph);
        EXPECT_TRUE(align_ranks(workload).problems.empty());
        EXPECT_TRUE(impossible_orders(workload).empty());
        EXPECT_GT(summarise(workload, 0).slowed_kernels, 0U);
        write_trace(workload, converted, "test");
    }
    const TraceWorkload again = read_traces({{converted}});
    std::filesystem::remove(converted);
    check(again.graph);
    return {again.files[0].kernels, peak()};
}

TEST(BigTrace, MemoryDoesNotGrowWithTheTrace) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "what was given back the sanitizer keeps for a while";
#endif
    constexpr std::uint64_t kSmall = 120'000'000;
    const Seen small = work_through(test_data::BigTrace(kSmall).path());
    const Seen large = work_through(test_data::BigTrace(3 * kSmall).path());
    EXPECT_GT(large.kernels, 2 * small.kernels);
    const auto more = static_cast<std::int64_t>(large.kernels - small.kernels);
    // An operation alone takes 176 bytes, and there are two for each kernel, so the graph is not
    // all in memory.
    EXPECT_LT(large.peak - small.peak, 60 * more) << "bytes for each of " << more << " kernels";
}

}  // namespace
}  // namespace switchfold::big_trace_test
