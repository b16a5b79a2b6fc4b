// SPDX-License-Identifier: Apache-2.0
// Any bytes end in a workload or in an error of the user's (ConfigError, IoError): all else, and
// what the sanitizers find, is a bug. A workload must also come through what looks at it.
#include "sim/core/error.h"
#include "workloads/chakra/reader.h"
#include "workloads/execution_trace/execution_trace.h"
#include "workloads/kineto/reader.h"
#include "workloads/nccl_tests/reader.h"
#include "workloads/nsight/reader.h"
#include "workloads/rank_alignment.h"
#include "workloads/trace_format/trace_file.h"
#include "workloads/trace_summary.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include <sys/mman.h>
#include <unistd.h>

namespace switchfold {
namespace {

constexpr std::uint64_t kMost = 16U << 20U;

void look_at(const TraceWorkload& workload) {
    check(workload.graph);
    static_cast<void>(align_ranks(workload));
    static_cast<void>(impossible_orders(workload));
    for (std::size_t r = 0; r < workload.graph.ranks.size(); ++r)
        static_cast<void>(summarise(workload, r));
}

[[maybe_unused]] void kineto(const std::filesystem::path& file) {
    look_at(read_kineto({{file}, kMost}));
}
[[maybe_unused]] void own(const std::filesystem::path& file) {
    look_at(read_trace(file, kMost));
}
[[maybe_unused]] void nsight(const std::filesystem::path& file) {
    look_at(read_nsight(file));
}
[[maybe_unused]] void chakra(const std::filesystem::path& file) {
    look_at(read_chakra({file, 0, 1, kMost}));
}
[[maybe_unused]] void nccl_tests(const std::filesystem::path& file) {
    look_at(read_nccl_tests(file, kMost));
}
[[maybe_unused]] void execution_trace(const std::filesystem::path& file) {
    static_cast<void>(read_execution_trace(file, kMost));
}

}  // namespace
}  // namespace switchfold

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = memfd_create("trace", 0);
    if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size))
        std::abort();
    try {
        switchfold::SWITCHFOLD_FUZZ_READER(fmt::format("/proc/self/fd/{}", file));
    } catch (const switchfold::ConfigError&) {
    } catch (const switchfold::IoError&) {
    }
    close(file);
    return 0;
}
