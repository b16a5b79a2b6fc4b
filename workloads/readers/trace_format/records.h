// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "workloads/readers/trace_format/words.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace switchfold::trace_format {

/// Version that this program writes, and the newest that it reads.
inline constexpr std::uint32_t kVersion = 3;

// The records of a trace, one JSON object per line (docs/traces.md#our-own-format). Their fields
// are declared once: reader, writer and schema use these lists. Times are in ps, sizes in bytes.

/// The first record.
struct TraceRecord {
    static constexpr std::string_view kType = "trace";
    std::uint32_t version = 0;
    std::string written_by;
    std::string source;
    std::string gpu;
    bool synthetic = false;
    std::uint32_t traced_ranks = 0;
    std::uint32_t world_size = 0;
    std::uint32_t steps = 1;
    std::uint64_t measured_iteration_ps = 0;
    static constexpr auto fields() {
        using R = TraceRecord;
        return list_of(
            field("version", &R::version, "Of the format.").required(),
            field("written_by", &R::written_by, "Program and version."),
            field("source", &R::source, "What it was made from: files or a generator."),
            field("gpu", &R::gpu, "The GPUs' name."),
            field("synthetic", &R::synthetic, "No real run is behind it."),
            field("traced_ranks", &R::traced_ranks, "Ranks that the file holds."),
            field("world_size", &R::world_size, "Ranks of the run."),
            field("steps", &R::steps, "Training steps."),
            field(
                "measured_iteration_ps", &R::measured_iteration_ps,
                "Mean over the steps; 0 if it was not measured."));
    }
};

/// Defines the next name; operations refer to it by its number, from 0.
struct NameRecord {
    static constexpr std::string_view kType = "name";
    std::string text;
    static constexpr auto fields() {
        return list_of(field("text", &NameRecord::text, "Of operations.").required());
    }
};

/// Defines the next group; collectives refer to it by its number, from 0.
struct GroupRecord {
    static constexpr std::string_view kType = "group";
    std::string name;
    std::vector<std::uint32_t> ranks;
    static constexpr auto fields() {
        return list_of(
            field("name", &GroupRecord::name, "Process group.").required(),
            field("ranks", &GroupRecord::ranks, "Global ranks, ascending.").required());
    }
};

/// Defines the next exchange of unequal parts; all-to-alls refer to it by its number, from 0.
struct ExchangeRecord {
    static constexpr std::string_view kType = "exchange";
    std::uint32_t ranks = 0;
    std::vector<std::uint64_t> bytes;
    static constexpr auto fields() {
        using R = ExchangeRecord;
        return list_of(
            field("ranks", &R::ranks, "Of its group.").required(),
            field(
                "bytes", &R::bytes,
                "From the group's rank i to its rank j at i * ranks + j; 2^64 - 1: unknown.")
                .required());
    }
};

/// Begins a rank: streams and operations up to the next such record belong to it.
struct RankRecord {
    static constexpr std::string_view kType = "rank";
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    std::uint32_t steps = 1;
    std::string file;
    std::string format;
    std::string gpu;
    std::uint64_t memory_bytes = 0;
    std::uint64_t peak_allocated_bytes = 0;
    std::uint64_t peak_reserved_bytes = 0;
    std::uint32_t sms = 0;
    bool synthetic = false;
    std::uint64_t launches = 0;
    std::uint64_t between_launches_ps = 0;
    std::uint64_t collective_calls = 0;
    std::uint64_t until_call_ps = 0;
    std::uint64_t events = 0;
    std::map<std::string, std::uint64_t> used;
    std::map<std::string, std::uint64_t> dropped;
    std::map<std::string, std::uint64_t> mended;
    std::string steps_from;
    std::vector<std::string> warnings;
    static constexpr auto fields() {
        using R = RankRecord;
        return list_of(
            field("rank", &R::rank, "Global rank.").required(),
            field("world_size", &R::world_size, "Ranks of the run, as this rank knew it."),
            field("steps", &R::steps, "Training steps of this rank."),
            field("file", &R::file, "What it was read from."),
            field("format", &R::format, "What kind of trace that was."),
            field("gpu", &R::gpu, "This rank's GPU."),
            field("memory_bytes", &R::memory_bytes, "Of the GPU."),
            field(
                "peak_allocated_bytes", &R::peak_allocated_bytes,
                "Most that the framework's allocator had handed out; 0 if unknown."),
            field(
                "peak_reserved_bytes", &R::peak_reserved_bytes,
                "Most that it had taken from the GPU; 0 if unknown."),
            field("sms", &R::sms, "Of the GPU; 0 if unknown."),
            field("synthetic", &R::synthetic, "No real run is behind it."),
            field("launches", &R::launches, "Of a host that did not wait before them."),
            field(
                "between_launches_ps", &R::between_launches_ps,
                "Mean, from the launch before to each of these."),
            field("collective_calls", &R::collective_calls, "The same, of collectives."),
            field(
                "until_call_ps", &R::until_call_ps,
                "Mean, from the launch before to each of these."),
            field("events", &R::events, "Events of the original file."),
            field("used", &R::used, "Of these, used: by what they are."),
            field("dropped", &R::dropped, "Of these, dropped: by reason."),
            field("mended", &R::mended, "Contradictions mended: by what was done."),
            field("steps_from", &R::steps_from, "Which steps were taken, and why."),
            field("warnings", &R::warnings, "What a reader should know."));
    }
};

/// Defines the rank's next stream; operations refer to it by its number, from 0 in each rank.
struct StreamRecord {
    static constexpr std::string_view kType = "stream";
    Word<StreamKind> kind;
    std::string name;
    std::int32_t priority = 0;
    static constexpr auto fields() {
        using R = StreamRecord;
        return list_of(
            field("kind", &R::kind, "Of a GPU, or a thread of the host."),
            field("name", &R::name, "As the profiler calls it.").required(),
            field("priority", &R::priority, "CUDA's: lower is more urgent."));
    }
};

/// Fields of all operations. A rank's operations are numbered from 0 in file order.
struct OperationFields {
    std::uint32_t name = 0;
    std::uint32_t stream = 0;
    std::uint32_t step = 0;
    Word<Phase> phase;
    std::uint64_t gap_ps = 0;
    std::vector<std::uint32_t> after;
    std::uint64_t start_ps = 0;
    std::uint64_t duration_ps = 0;
    static constexpr auto common() {
        using R = OperationFields;
        return list_of(
            field("name", &R::name, "Number of its name.").required(),
            field("stream", &R::stream, "Number of its stream.").required(),
            field("step", &R::step, "Training step, from 0."),
            field("phase", &R::phase, "Of training."),
            field(
                "gap_ps", &R::gap_ps,
                "How long it waits when all that it depends on has ended: launch latency, or what "
                "nothing in the trace explains."),
            field(
                "after", &R::after,
                "What it waits for beside the operation before it on its stream, as how many "
                "operations back: 1 is the one before."),
            field("start_ps", &R::start_ps, "When it was measured to start."),
            field("duration_ps", &R::duration_ps, "How long it was measured to take."));
    }
};

}  // namespace switchfold::trace_format
