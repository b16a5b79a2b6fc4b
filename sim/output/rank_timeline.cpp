// SPDX-License-Identifier: Apache-2.0
#include "sim/output/rank_timeline.h"

#include "core/json_text.h"
#include "sim/output/trace_time.h"

#include <fmt/format.h>

#include <algorithm>

namespace switchfold {

namespace {

/// The host's first thread, which launches. Tools tell the host's events by their having no stream.
constexpr std::uint32_t kHostPid = 1'000'000;
constexpr std::uint32_t kHostThread = 1;

std::string shape(const std::array<std::uint32_t, 3>& of) {
    return fmt::format("[{}, {}, {}]", of[0], of[1], of[2]);
}

std::string kernel_arguments(const RankSlice& slice) {
    if (slice.grid[0] == 0 || slice.block[0] == 0)
        return {};
    return fmt::format(
        R"(, "grid": {}, "block": {}, "registers per thread": {}, "shared memory": {})",
        shape(slice.grid), shape(slice.block), slice.registers, slice.shared_memory);
}

std::string peer_argument(const RankCollective& collective) {
    if (!collective.peer)
        return {};
    return fmt::format(
        R"(, "{}": {})", collective.name == "send" ? "Dst Rank" : "Src Rank", *collective.peer);
}

std::string split_arguments(const RankCollective& collective) {
    if (collective.in_splits.empty())
        return {};
    return fmt::format(
        R"(, "In split size": "[{}]", "Out split size": "[{}]")",
        fmt::join(collective.in_splits, ", "), fmt::join(collective.out_splits, ", "));
}

std::string collective_arguments(const RankCollective& collective) {
    return fmt::format(
        R"(, "Collective name": "{}", "In msg nelems": {}, "Out msg nelems": {}, "dtype": "{}", )"
        R"("Group size": {}, "Process Group Name": {}, "Process Group Ranks": "[{}]"{}{})",
        collective.name, collective.in_elements, collective.out_elements, collective.datatype,
        collective.ranks.size(), json_text(collective.group), fmt::join(collective.ranks, ", "),
        peer_argument(collective), split_arguments(collective));
}

}  // namespace

RankTimelineWriter::RankTimelineWriter(
    const std::filesystem::path& path, const RankTimelineHead& head) :
    file_(path), rank_(head.rank) {
    file_.write(fmt::format(
        "{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": {}, \"name\": {}, "
        "\"totalGlobalMem\": {}, \"numSms\": {}}}],\n"
        "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}}},\n"
        "\"traceName\": \"simulated by switchfold\", \"switchfold_simulated\": true, "
        "\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n",
        head.rank, json_text(head.gpu), head.memory_bytes, head.sms, head.rank, head.ranks));
    for (const auto& [pid, name] :
         {std::pair{kHostPid, std::string("host")}, {rank_, fmt::format("GPU of rank {}", rank_)}})
        event(fmt::format(
            R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "ts": 0, "args": {{"name": "{}"}}}})",
            pid, name));
}

void RankTimelineWriter::event(const std::string& text) {
    if (!first_)
        file_.write(",\n");
    first_ = false;
    file_.write(text);
}

void RankTimelineWriter::write_call(
    std::string_view name, std::uint64_t correlation, std::uint64_t start_ps, std::uint64_t end_ps,
    std::uint32_t thread) {
    event(fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"External id": {}, "correlation": {}}}}})",
        name, kHostPid, kHostThread + thread, trace_us(start_ps), trace_us(end_ps - start_ps),
        correlation, correlation));
}

void RankTimelineWriter::write_launches() {
    std::ranges::sort(launches_);
    std::ranges::sort(wait_ends_);
    std::uint64_t before = 0;  // end of the last call of another moment
    auto wait = wait_ends_.begin();
    for (auto first = launches_.begin(); first != launches_.end();) {
        const std::uint64_t end = first->end_ps;
        const auto next =
            std::find_if(first, launches_.end(), [&](const Launch& l) { return l.end_ps > end; });
        for (; wait != wait_ends_.end() && *wait <= end; ++wait)
            before = std::max(before, *wait);
        const std::uint64_t start = std::max(before, end - std::min(end, kLaunchPs));
        std::uint64_t calls = 0;
        for (auto launch = first; launch != next; ++launch)
            calls += launch->waits + std::uint64_t{1};
        std::uint64_t call = 0;
        const auto write = [&](std::string_view name, std::uint64_t correlation) {
            const std::uint64_t from = start + (end - start) * call / calls;
            const std::uint64_t to = start + (end - start) * ++call / calls;
            if (from < to)
                write_call(name, correlation, from, to);
        };
        for (; first != next; ++first) {
            for (std::uint32_t i = 0; i < first->waits; ++i)
                write("cudaStreamWaitEvent", ++last_number_);
            write(first->copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", first->correlation);
        }
        before = end;
    }
}

void RankTimelineWriter::add(const RankSlice& slice) {
    if (slice.end_ps <= slice.start_ps)
        return;
    last_number_ = std::max(last_number_, slice.correlation);
    if (slice.launched_ps)
        launches_.push_back(
            {*slice.launched_ps, slice.correlation, slice.category != "kernel", slice.waits});
    event(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"External id": {}, "device": {}, "stream": {}, "correlation": {}{}{}{}}}}})",
        slice.category, json_text(slice.name), rank_, slice.stream, trace_us(slice.start_ps),
        trace_us(slice.end_ps - slice.start_ps), slice.correlation, rank_, slice.stream,
        slice.correlation, kernel_arguments(slice),
        slice.category == "kernel" ? std::string() : fmt::format(R"(, "bytes": {})", slice.bytes),
        slice.collective ? collective_arguments(*slice.collective) : std::string()));
}

void RankTimelineWriter::add_wait(
    std::uint32_t thread, std::uint64_t correlation, std::uint64_t start_ps, std::uint64_t end_ps) {
    wait_ends_.push_back(end_ps);
    last_number_ = std::max(last_number_, correlation);
    write_call("cudaStreamSynchronize", correlation, start_ps, end_ps, thread);
}

void RankTimelineWriter::add_step(
    std::uint32_t step, std::uint64_t start_ps, std::uint64_t end_ps) {
    if (end_ps <= start_ps)
        return;
    event(fmt::format(
        R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"External id": 0}}}})",
        step, kHostPid, kHostThread, trace_us(start_ps), trace_us(end_ps - start_ps)));
}

void RankTimelineWriter::close() {
    write_launches();
    file_.write("\n]}\n");
    file_.close();
}

}  // namespace switchfold
