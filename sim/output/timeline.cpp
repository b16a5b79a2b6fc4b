// SPDX-License-Identifier: Apache-2.0
#include "sim/output/timeline.h"

#include "core/error.h"
#include "core/gibibytes.h"
#include "core/json_text.h"
#include "sim/output/trace_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace switchfold {

namespace {

/// Tools that read Kineto's traces expect stream names to be numbers.
std::uint32_t stream_number(const TimelineSlice& slice) {
    std::uint32_t number = 0;
    const char* end = slice.stream_name.data() + slice.stream_name.size();
    const auto parsed = std::from_chars(slice.stream_name.data(), end, number);
    return parsed.ec == std::errc() && parsed.ptr == end ? number : slice.stream;
}

}  // namespace

TimelineWriter::TimelineWriter(
    const std::filesystem::path& path, std::string_view gpu_name, std::uint32_t ranks,
    std::uint32_t sms) :
    file_(path) {
    file_.write(fmt::format(
        "{{\"schemaVersion\": 1, \"deviceProperties\": [{{\"id\": 0, \"name\": {}, \"numSms\": "
        "{}}}],\n"
        "\"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": 0, \"world_size\": {}}},\n"
        "\"traceName\": \"simulated by switchfold\", \"switchfold_simulated\": true, "
        "\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n",
        json_text(gpu_name), sms, ranks));
}

void TimelineWriter::event(const std::string& text_of_event) {
    if (!first_)
        file_.write(",\n");
    first_ = false;
    file_.write(text_of_event);
}

std::uint32_t TimelineWriter::add_process(std::string_view scenario, std::uint32_t rank) {
    SWITCHFOLD_CHECK(rank < kPidsOfScenario - 1, "rank {} has no pid of its own", rank);
    return add_named(scenario, rank, fmt::format("{} rank {}", scenario, rank));
}

std::uint32_t TimelineWriter::add_others(std::string_view scenario, std::string_view what) {
    return add_named(scenario, kPidsOfScenario - 1, fmt::format("{} {}", scenario, what));
}

std::uint32_t TimelineWriter::add_named(
    std::string_view scenario, std::uint32_t number, const std::string& name) {
    const auto known = std::find(scenarios_.begin(), scenarios_.end(), scenario);
    const auto place = static_cast<std::uint32_t>(known - scenarios_.begin());
    if (known == scenarios_.end())
        scenarios_.emplace_back(scenario);
    const std::uint32_t pid = place * kPidsOfScenario + number;
    event(fmt::format(
        R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "ts": 0, "args": {{"name": {}}}}})",
        pid, json_text(name)));
    event(fmt::format(
        R"({{"ph": "M", "name": "process_sort_index", "pid": {}, "tid": 0, "ts": 0, "args": {{"sort_index": {}}}}})",
        pid, pid));
    return pid;
}

bool TimelineWriter::name_track(std::uint32_t pid, std::uint32_t track, std::string_view name) {
    if (!named_.insert({pid, track}).second)
        return false;
    event(fmt::format(
        R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "ts": 0, "args": {{"name": {}}}}})",
        pid, track, json_text(name)));
    return true;
}

void TimelineWriter::add(std::uint32_t pid, const TimelineSlice& slice) {
    if (slice.end_ps <= slice.start_ps)
        return;
    name_track(pid, slice.stream, fmt::format("stream {}", slice.stream_name));
    event(fmt::format(
        R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": {}, "stream": {}, "correlation": {}, "External id": {}, "isolated us": {}{}}}}})",
        slice.category, json_text(slice.name), pid, slice.stream, trace_us(slice.start_ps),
        trace_us(slice.end_ps - slice.start_ps), slice.rank, stream_number(slice),
        slice.correlation, slice.correlation, trace_us(slice.isolated_ps),
        slice.communication ? R"(, "communication": true)" : ""));
}

void TimelineWriter::add_annotation(
    std::uint32_t pid, std::uint32_t track, std::string_view track_name, std::string_view name,
    std::uint64_t start_ps, std::uint64_t end_ps) {
    if (end_ps <= start_ps)
        return;
    if (name_track(pid, track, track_name))
        event(fmt::format(
            R"({{"ph": "M", "name": "thread_sort_index", "pid": {}, "tid": {}, "ts": 0, "args": {{"sort_index": -1}}}})",
            pid, track));
    event(fmt::format(
        R"({{"ph": "X", "cat": "user_annotation", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{}}}})",
        json_text(name), pid, track, trace_us(start_ps), trace_us(end_ps - start_ps)));
}

void TimelineWriter::add_span(
    std::uint32_t pid, std::uint32_t track, std::string_view track_name, std::string_view name,
    std::uint64_t start_ps, std::uint64_t end_ps) {
    if (end_ps <= start_ps)
        return;
    name_track(pid, track, track_name);
    event(fmt::format(
        R"({{"ph": "X", "cat": "switch", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{}}}})",
        json_text(name), pid, track, trace_us(start_ps), trace_us(end_ps - start_ps)));
}

void TimelineWriter::add_flow(const TimelinePoint& from, const TimelinePoint& to) {
    const std::uint64_t id = ++flows_;
    const auto end_of_arrow = [&](const char* phase, const TimelinePoint& at) {
        event(fmt::format(
            R"({{"ph": {}, "id": {}, "cat": "ac2g", "name": "ac2g", "pid": {}, "tid": {}, "ts": {}}})",
            phase, id, at.pid, at.track, trace_us(at.ps)));
    };
    end_of_arrow(R"("s")", from);
    // Binds to the enclosing slice instead of the next one.
    end_of_arrow(R"("f", "bp": "e")", to);
}

void TimelineWriter::add(std::uint32_t pid, const std::vector<MemoryRow>& rows) {
    std::vector<MemoryClassText> held;
    std::copy_if(
        kMemoryClasses.begin(), kMemoryClasses.end(), std::back_inserter(held),
        [&](const MemoryClassText& memory) {
            return std::any_of(rows.begin(), rows.end(), [&](const MemoryRow& row) {
                return row.bytes[memory.value] > 0;
            });
        });
    for (const MemoryRow& row : rows) {
        std::string values;
        for (const MemoryClassText& memory : held)
            values += fmt::format(
                R"({}"{}": {:.6f})", values.empty() ? "" : ", ", memory.name,
                in_gibibytes(row.bytes[memory.value]));
        event(fmt::format(
            R"({{"ph": "C", "name": "memory, GiB", "pid": {}, "ts": {:.6f}, "args": {{{}}}}})", pid,
            row.time_us, values));
    }
}

void TimelineWriter::add(std::uint32_t pid, const CounterSample& sample) {
    if (!std::isfinite(sample.value))
        return;
    event(fmt::format(
        R"({{"ph": "C", "name": {}, "pid": {}, "ts": {:.6f}, "args": {{"value": {:.3f}}}}})",
        json_text(sample.track), pid, sample.time_us, sample.value));
}

void TimelineWriter::close() {
    file_.write("\n]}\n");
    file_.close();
}

}  // namespace switchfold
