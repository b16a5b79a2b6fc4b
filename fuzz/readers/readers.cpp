// SPDX-License-Identifier: Apache-2.0
#include "fuzz/readers/readers.h"

#include "core/error.h"
#include "training/network/profile.h"
#include "training/network/table.h"
#include "workloads/capture/format/frame.h"
#include "workloads/capture/read_captures.h"
#include "workloads/kernels/kernel_times.h"
#include "workloads/profile/rank_alignment.h"
#include "workloads/profile/trace_summary.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/chakra/reader.h"
#include "workloads/readers/execution_trace/reader.h"
#include "workloads/readers/flight_recorder/reader.h"
#include "workloads/readers/kineto/reader.h"
#include "workloads/readers/nccl_inspector/reader.h"
#include "workloads/readers/nccl_tests/reader.h"
#include "workloads/readers/nsight/reader.h"
#include "workloads/readers/read_traces.h"
#include "workloads/readers/rocprof/reader.h"
#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/temporary_file.h"
#include "workloads/tests/test_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <zlib.h>

namespace switchfold::fuzz {

namespace {

// SQLite cannot open unnamed files.
using File = test_data::TemporaryFile;

constexpr std::uint64_t kMost = 16U << 20U;

void look_at(const TraceWorkload& workload) {
    check(workload.graph);
    static_cast<void>(align_ranks(workload));
    static_cast<void>(impossible_orders(workload));
    for (std::size_t r = 0; r < workload.graph.ranks.size(); ++r)
        static_cast<void>(summarise(workload, r));
    const File written("written.jsonl");
    write_trace(workload, written.path(), "fuzz");
    try {
        const TraceWorkload again = read_trace(written.path());
        for (std::size_t r = 0; r < workload.graph.ranks.size(); ++r)
            SWITCHFOLD_CHECK(
                again.graph.ranks.at(r)->operations == workload.graph.ranks[r]->operations,
                "our own format changed rank {}", r);
    } catch (const ConfigError& error) {
        // The only content that other formats can hold and switchfold's own cannot.
        const std::string_view text = error.what();
        SWITCHFOLD_CHECK(text.find("53 days") != std::string_view::npos, "{}", text);
    }
}

/// Recomputes the checksums of a capture's frames; otherwise no mutation would get past the first.
std::string sealed(std::string_view bytes) {
    constexpr std::size_t kHeader = 8;
    constexpr std::size_t kChecksum = 4;
    std::string out(bytes);
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(out[i]); };
    for (std::size_t at = capture::kMagic.size(); at + kHeader + kChecksum <= out.size();) {
        const std::size_t length = byte(at) | static_cast<std::size_t>(byte(at + 1)) << 8U |
                                   static_cast<std::size_t>(byte(at + 2)) << 16U |
                                   static_cast<std::size_t>(byte(at + 3)) << 24U;
        if (length > out.size() - at - kHeader - kChecksum)
            break;
        const std::size_t end = at + kHeader + length;
        const auto sum =
            crc32_z(0, reinterpret_cast<const Bytef*>(out.data() + at), kHeader + length);
        for (std::size_t i = 0; i < kChecksum; ++i)
            out[end + i] = static_cast<char>(sum >> (8 * i) & 0xffU);
        at = end + kChecksum;
    }
    return out;
}

/// Several captures may be concatenated: a run's ranks, or a second pass.
void read_capture_files(std::string_view bytes) {
    constexpr std::size_t kMostFiles = 4;
    std::vector<std::unique_ptr<File>> files;
    std::vector<std::filesystem::path> paths;
    do {
        const std::size_t next = std::min(bytes.find(capture::kMagic, 1), bytes.size());
        const std::string name = fmt::format("{}.sfcapture", files.size());
        files.push_back(std::make_unique<File>(name.c_str(), sealed(bytes.substr(0, next))));
        paths.push_back(files.back()->path());
        bytes.remove_prefix(next);
    } while (!bytes.empty() && files.size() < kMostFiles);
    look_at(join_ranks(capture::read_captures(paths)));
}

/// Reads it beside a trace of the same run, whose operator 3 is the execution trace's operator 1.
void read_beside_kineto(const std::filesystem::path& file) {
    const ExecutionTrace shapes = read_execution_trace(file, kMost);
    const File kineto("kineto", R"({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "tid": 1, "ts": 8, "dur": 10,
         "args": {"External id": 3}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 10, "dur": 2,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm", "tid": 7, "ts": 20, "dur": 5,
         "args": {"stream": 7, "correlation": 1}}]})");
    look_at(workload_of(read_raw_trace(kineto.path(), kMost, &shapes)));
}

/// With the members of its groups, as if no other rank were traced.
void read_one_chakra(const std::filesystem::path& path) {
    TraceWorkload workload = read_chakra({path, 0, 1, kMost, {}});
    chakra::complete_groups(workload);
    look_at(workload);
}

using Path = std::filesystem::path;

/// A reader, by the name of its folder of the corpus.
struct Row {
    std::string_view name;
    void (*read)(const Path& file, std::string_view bytes);
};
constexpr Row kReaders[] = {
    {"kineto",
     [](const Path& file, std::string_view /*bytes*/) {
         look_at(read_kineto({{file}, kMost}));
     }},
    {"own", [](const Path& file, std::string_view /*bytes*/) { look_at(read_trace(file, kMost)); }},
    {"nsight",
     [](const Path& file, std::string_view /*bytes*/) {
         look_at(read_nsight(file, {0, 0, kMost}));
     }},
    {"chakra", [](const Path& file, std::string_view /*bytes*/) { read_one_chakra(file); }},
    {"nccl_tests",
     [](const Path& file, std::string_view /*bytes*/) { look_at(read_nccl_tests(file, kMost)); }},
    {"nccl_json",
     [](const Path& file, std::string_view /*bytes*/) { look_at(read_nccl_json(file, kMost)); }},
    {"nccl_inspector",
     [](const Path& file, std::string_view /*bytes*/) {
         look_at(join_ranks(read_nccl_inspector({file}, kMost)));
     }},
    {"flight_recorder",
     [](const Path& file, std::string_view /*bytes*/) {
         look_at(join_ranks(read_flight_recorder({file}, kMost)));
     }},
    {"rocprof",
     [](const Path& file, std::string_view /*bytes*/) {
         look_at(read_rocprof(file, {0, 0, kMost}));
     }},
    {"execution_trace",
     [](const Path& file, std::string_view /*bytes*/) { read_beside_kineto(file); }},
    {"capture", [](const Path& /*file*/, std::string_view bytes) { read_capture_files(bytes); }},
    {"layer_table",
     [](const Path& file, std::string_view /*bytes*/) { check(read_network_table(file)); }},
    {"profile_graph",
     [](const Path& file, std::string_view /*bytes*/) { check(read_profile_graph(file, 8)); }},
    {"recognised",
     [](const Path& file, std::string_view /*bytes*/) { static_cast<void>(recognise(file)); }},
    {"kernel_table", [](const Path& file, std::string_view /*bytes*/) {
         static_cast<void>(KernelTimes(test_data::hopper(), file));
     }}};

void read_as(std::string_view reader, std::string_view bytes) {
    const auto* const row = std::ranges::find(kReaders, reader, &Row::name);
    SWITCHFOLD_CHECK(row != std::end(kReaders), "no reader is called {}", reader);
    row->read(File("trace", bytes).path(), bytes);
}

}  // namespace

std::vector<std::string_view> readers() {
    std::vector<std::string_view> names;
    for (const Row& row : kReaders)
        names.push_back(row.name);
    return names;
}

bool try_reader(std::string_view reader, std::string_view bytes) {
    try {
        read_as(reader, bytes);
        return true;
    } catch (const ConfigError&) {
    } catch (const IoError&) {
    }
    return false;
}

}  // namespace switchfold::fuzz
