// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/nsight/reader.h"

#include "core/error.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/nsight/database.h"
#include "workloads/readers/nsight/gpus.h"
#include "workloads/readers/nsight/nccl_ranges.h"
#include "workloads/readers/nvtx/range.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace switchfold {

namespace {

using nsight::Column;
using nsight::Database;
using nsight::Rows;

constexpr const char* kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* kMemsets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kRanges = "NVTX_EVENTS";
constexpr const char* kPayloads = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
constexpr const char* kGpus = "TARGET_INFO_GPU";
constexpr const char* kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr std::uint64_t kMostProcesses = 65'536;

/// Global ids hold the process in the 24 bits above the thread id.
std::uint64_t process_of(std::uint64_t global_id) {
    return (global_id >> 24U) & 0xffffffU;
}

/// Whether an eventType of NVTX_EVENTS is a range: push/pop or start/end, of NVTX (59, 60) or
/// NVTX-T (70, 71). Exports without types hold only ranges.
bool is_range(std::optional<std::uint64_t> type) {
    return !type || *type == 59 || *type == 60 || *type == 70 || *type == 71;
}

/// A GPU and the process that used it.
using RankKey = std::pair<std::uint64_t, std::uint64_t>;

struct Rank {
    RawTrace raw;
    std::unique_ptr<EventCollector> collector;
};

class NsightReader {
public:
    NsightReader(const std::filesystem::path& file, const NsightPlace& place) :
        file_(file.string()), database_(file, place.most), place_(place) {}

    std::uint32_t count_ranks() {
        find_ranks();
        return static_cast<std::uint32_t>(ranks_.size());
    }

    TraceWorkload run() {
        read_strings();
        find_ranks();
        describe_ranks();
        read_kernels();
        read_copies(kCopies, false);
        read_copies(kMemsets, true);
        read_calls();
        read_ranges();
        count_graphs();
        return finish();
    }

private:
    /// Times are in ns from the session's start or an epoch; they are converted to ps from the
    /// first event.
    void find_ranks() {
        if (!database_.has(kKernels))
            throw ConfigError(
                file_, kKernels,
                "does not exist; expected the export of a run that was traced with --trace=cuda");
        Rows rows = database_.rows(kKernels, {{"start"}, {"deviceId"}, {"globalPid", false}});
        while (rows.next()) {
            origin_ = std::min(origin_, rows.needed(0));
            ranks_.try_emplace({rows.needed(1), process_of(rows.number(2).value_or(0))});
            if (ranks_.size() > kMostProcesses)
                rows.fail(1, "is of more than 65,536 GPUs and processes; expected fewer");
        }
        if (ranks_.empty())
            throw ConfigError(file_, kKernels, "is empty; expected a run with kernels");
        // Launching calls and ranges begin slightly before the first kernel.
        constexpr std::uint64_t kHour = 3'600'000'000'000;
        origin_ -= std::min(origin_, kHour);
    }

    void read_strings() {
        if (!database_.has("StringIds"))
            return;
        Rows rows = database_.rows("StringIds", {{"id"}, {"value"}});
        while (rows.next())
            strings_[rows.needed(0)] = rows.text(1).value_or("");
    }

    void describe_ranks() {
        std::uint32_t number = place_.first_rank;
        const auto here = static_cast<std::uint32_t>(ranks_.size());
        const nsight::Gpus gpus(database_);
        for (auto& [key, rank] : ranks_) {
            TraceFileReport& report = rank.raw.report;
            report.file = file_;
            report.format = "Nsight Systems";
            report.rank = number++;
            report.world_size = place_.world_size == 0 ? here : place_.world_size;
            const nsight::Gpu gpu = gpus.of(key.first, key.second);
            report.gpu_name = gpu.name;
            report.memory_bytes = gpu.memory;
            report.sms = gpu.sms;
            report.memory_bandwidth = gpu.bandwidth;
            rank.collector = std::make_unique<EventCollector>(rank.raw);
        }
        if (!database_.has(kGpus))
            ranks_.begin()->second.raw.report.warnings.emplace_back(
                "the table TARGET_INFO_GPU does not exist, so names, memory and SMs of the GPUs "
                "are "
                "unknown: nsys export writes it from a whole report");
        if (ranks_.size() > 1)
            ranks_.begin()->second.raw.report.warnings.push_back(fmt::format(
                "{} GPUs and processes: numbered as ranks by GPU, then process", ranks_.size()));
    }

    void set_times(const Rows& rows, TraceEvent& event) const {
        const std::uint64_t start = rows.needed(0);
        const std::uint64_t end = rows.needed(1);
        if (end < start)
            rows.fail(1, fmt::format("is {}, before the start; expected it after that", end));
        constexpr std::uint64_t kLongestRun = UINT64_MAX / 2 / 1000;  // ns that fit ps
        if (start < origin_ || end - origin_ > kLongestRun)
            rows.fail(0, "is too far from the first kernel; expected less than 106 days");
        event.phase = "X";
        event.start = (start - origin_) * 1000;
        event.duration = (end - start) * 1000;
    }

    /// The first of the columns that holds a name, as a text or as the id of one.
    [[nodiscard]] std::string name_in(const Rows& rows, std::initializer_list<int> columns) const {
        for (const int column : columns) {
            std::optional<std::string> text = rows.text(column);
            if (text && !text->empty())
                return std::move(*text);
            const auto id = text ? std::nullopt : rows.if_known(column);
            const auto found = id ? strings_.find(*id) : strings_.end();
            if (found != strings_.end())
                return found->second;
        }
        return "unknown";
    }

    static void add(Rank& rank, const TraceEvent& event) {
        ++rank.raw.report.events;
        rank.collector->add(event);
    }

    static std::uint32_t small(const Rows& rows, int column) {
        const std::uint64_t value = rows.needed(column);
        if (value > UINT32_MAX)
            rows.fail(column, fmt::format("is {}; expected less than 2^32", value));
        return static_cast<std::uint32_t>(value);
    }
    static std::uint64_t shared_memory(const Rows& rows, int column) {
        return std::min<std::uint64_t>(rows.if_known(column).value_or(0), UINT32_MAX);
    }

    /// The rows of a table of GPU activity: first the columns common to all such tables, then
    /// `more`.
    [[nodiscard]] Rows gpu_rows(const char* table, std::initializer_list<Column> more) const {
        std::vector<Column> columns{{"start"},    {"end"},
                                    {"deviceId"}, {"globalPid", false},
                                    {"streamId"}, {"correlationId", false}};
        columns.insert(columns.end(), more);
        return database_.rows(table, columns);
    }
    static constexpr int kMore = 6;  ///< index of the first column of `more`

    /// Fills in the columns common to all such tables.
    void fill(const Rows& rows, const char* category, TraceEvent& event) const {
        event.clear();
        set_times(rows, event);
        event.category = category;
        event.stream = fmt::format("{}", rows.needed(4));
        event.correlation = rows.if_known(5);
    }
    Rank* rank_of(const Rows& rows) {
        const auto rank = ranks_.find({rows.needed(2), process_of(rows.number(3).value_or(0))});
        return rank == ranks_.end() ? nullptr : &rank->second;
    }

    void read_kernels() {
        Rows rows = gpu_rows(
            kKernels, {{"demangledName", false},
                       {"shortName", false},
                       {"gridX"},
                       {"gridY"},
                       {"gridZ"},
                       {"blockX"},
                       {"blockY"},
                       {"blockZ"},
                       {"registersPerThread", false},
                       {"staticSharedMemory", false},
                       {"dynamicSharedMemory", false}});
        TraceEvent event;
        while (rows.next()) {
            fill(rows, "kernel", event);
            event.name = name_in(rows, {kMore, kMore + 1});
            const auto shape = [&rows](int first) {
                return launch_shape(
                    {small(rows, first), small(rows, first + 1), small(rows, first + 2)});
            };
            event.grid = shape(kMore + 2);
            event.block = shape(kMore + 5);
            event.registers_per_thread = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(rows.if_known(kMore + 8).value_or(0), 255));
            event.shared_memory = shared_memory(rows, kMore + 9) + shared_memory(rows, kMore + 10);
            add(*rank_of(rows), event);
        }
    }

    void read_copies(const char* table, bool memset) {
        if (!database_.has(table))
            return;
        Rows rows = gpu_rows(table, {{"bytes"}, {"copyKind", false}});
        TraceEvent event;
        while (rows.next()) {
            Rank* const rank = rank_of(rows);
            if (rank == nullptr) {
                drop("copies of a GPU that ran no kernel");
                continue;
            }
            fill(rows, memset ? "gpu_memset" : "gpu_memcpy", event);
            event.name =
                memset ? "Memset (Device)" : copy_name(rows.if_known(kMore + 1).value_or(0));
            event.bytes = rows.needed(kMore);
            add(*rank, event);
        }
    }

    /// Counts CUDA graphs that were traced as a whole; their content is unknown.
    void count_graphs() {
        if (!database_.has(kGraphs))
            return;
        Rows rows = database_.rows(kGraphs, {{"start"}});
        std::uint64_t graphs = 0;
        for (; rows.next(); ++graphs)
            drop("CUDA graphs traced as a whole");
        if (graphs > 0)
            ranks_.begin()->second.raw.report.warnings.push_back(fmt::format(
                "{} launches of CUDA graphs hold kernels that are not here: profile with "
                "--cuda-graph-trace=node",
                graphs));
    }

    /// CUpti_ActivityMemcpyKind.
    static const char* copy_name(std::uint64_t kind) {
        switch (kind) {
        case 1:
        case 3:
            return "Memcpy HtoD";
        case 2:
        case 4:
            return "Memcpy DtoH";
        case 10:
            return "Memcpy PtoP";
        default:
            return "Memcpy DtoD";
        }
    }

    /// Calls `use` for all ranks of the process: host activity belongs to every GPU of its process.
    template <class Use>
    void for_process(std::uint64_t global_id, Use use) {
        for (auto& [key, rank] : ranks_)
            if (key.second == process_of(global_id))
                use(rank);
    }

    void read_calls() {
        if (!database_.has(kCalls))
            return;
        Rows rows = database_.rows(
            kCalls,
            {{"start"}, {"end"}, {"globalTid", false}, {"correlationId", false}, {"nameId"}});
        TraceEvent event;
        while (rows.next()) {
            if (!rows.if_known(0) || !rows.if_known(1) || rows.needed(0) < origin_) {
                drop("calls without times or long before the first kernel");
                continue;
            }
            const std::uint64_t thread = rows.number(2).value_or(0);
            for_process(thread, [&](Rank& rank) {
                event.clear();
                set_times(rows, event);
                event.category = "cuda_runtime";
                event.name = name_in(rows, {4});
                event.name.resize(std::min(event.name.find("_v"), event.name.size()));
                event.thread = fmt::format("{}", thread);
                event.correlation = rows.if_known(3);
                add(rank, event);
            });
        }
    }

    /// Layouts of NCCL's payloads in the report.
    [[nodiscard]] NvtxPayloads read_payloads() const {
        NvtxPayloads payloads;
        if (!database_.has(kPayloads))
            return payloads;
        Rows rows = database_.rows(
            kPayloads, {{"domainId"}, {"schemaId"}, {"name"}, {"type"}, {"offset", false}});
        while (rows.next())
            payloads.add(
                {rows.needed(0), rows.needed(1), rows.bytes(2), rows.if_known(3).value_or(0),
                 rows.if_known(4).value_or(0)});
        return payloads;
    }

    void read_ranges() {
        if (!database_.has(kRanges))
            return;
        Rows rows = database_.rows(
            kRanges, {{"start"},
                      {"end", false},
                      {"globalTid", false},
                      {"eventType", false},
                      {"text", false},
                      {"textId", false},
                      {"uint64Value", false},
                      {"jsonText", false},
                      {"jsonTextId", false},
                      {"binaryData", false}});
        const NvtxPayloads payloads = read_payloads();
        nsight::NcclRanges nccl;
        TraceEvent event;
        while (rows.next()) {
            const std::optional<std::uint64_t> start = rows.if_known(0);
            const std::optional<std::uint64_t> end = rows.if_known(1);
            // Older exports store a zero for a missing end.
            if (!is_range(rows.if_known(3)) || !start || end.value_or(0) == 0 || *start < origin_) {
                drop("NVTX marks, open ranges and ranges long before the first kernel");
                continue;
            }
            const std::uint64_t thread = rows.if_known(2).value_or(0);
            const std::string text = name_in(rows, {4, 5});
            event.clear();
            set_times(rows, event);
            if (nccl.add(
                    {text, thread, *start, *end, payload_of(rows, payloads)}, process_of(thread)))
                continue;
            for_process(thread, [&](Rank& rank) {
                TraceEvent range = event;
                describe_range(text, rows.if_known(6), range);
                range.thread = fmt::format("{}", thread);
                add(rank, range);
            });
        }
        add_nccl_calls(nccl);
    }

    [[nodiscard]] NcclPayload payload_of(const Rows& rows, const NvtxPayloads& payloads) const {
        NcclPayload payload = payloads.nccl_payload(rows.bytes(9));
        // What creates a communicator states no bytes.
        if (!payload.bytes && !payload.communicator)
            payload = nccl_payload(name_in(rows, {7, 8}));
        if (!payload.bytes)
            payload.bytes = rows.if_known(6);
        return payload;
    }

    void add_nccl_calls(nsight::NcclRanges& nccl) {
        const std::size_t ranges = nccl.size();
        const std::vector<nsight::NcclCall> calls = nccl.calls();
        for (std::size_t i = calls.size(); i < ranges; ++i)
            drop("NCCL's groups, and its calls that became one kernel with others");
        TraceEvent event;
        std::map<std::uint64_t, std::uint64_t> without_size;  // by rank
        for (const nsight::NcclCall& call : calls)
            for_process(call.thread, [&](Rank& rank) {
                event.clear();
                event.phase = "X";
                event.start = (call.start - origin_) * 1000;
                event.duration = (call.end - call.start) * 1000;
                describe_range(call.function, call.payload.bytes, event);
                event.thread = fmt::format("{}", call.thread);
                if (call.payload.communicator)
                    set_group(nccl, *call.payload.communicator, event);
                if (!call.transfers.empty() && call.payload.communicator)
                    describe_transfers(nccl, call, rank, event);
                if (event.name.starts_with("nccl:") && event.input_dims.empty())
                    ++without_size[rank.raw.report.rank];
                add(rank, event);
            });
        for (auto& [key, rank] : ranks_)
            if (const std::uint64_t count = without_size[rank.raw.report.rank]; count > 0)
                rank.raw.report.warnings.push_back(fmt::format(
                    "{} calls of NCCL say no size: their payloads were not exported (nsys export "
                    "--include-blobs=true does)",
                    count));
    }

    /// Sends and receives of one call: to and from everybody they are an exchange, otherwise
    /// messages of a batch, which stand before it as c10d's do.
    void describe_transfers(
        const nsight::NcclRanges& nccl, const nsight::NcclCall& call, Rank& rank,
        TraceEvent& event) {
        const nsight::NcclCommunicator* const known = nccl.communicator(*call.payload.communicator);
        if (known == nullptr || event.group_ranks.empty())
            return;
        if (std::any_of(
                call.transfers.begin(), call.transfers.end(),
                [&](const CallTransfer& transfer) { return transfer.peer >= known->size; }))
            return;
        if (describe_exchange(call.transfers, known->size, event))
            return;
        TraceEvent message = event;
        message.duration = 0;
        for (const CallTransfer& transfer : call.transfers) {
            const auto place = known->members.find(transfer.peer);
            const auto peer =
                place == known->members.end() ? ranks_.end() : ranks_.find(place->second);
            if (peer == ranks_.end())
                return;
            describe_message(transfer, peer->second.raw.report.rank, message);
            add(rank, message);
        }
        describe_batch(event);
    }

    /// Sets the group; for a communicator created before the report began, only its number is
    /// known.
    void
    set_group(const nsight::NcclRanges& nccl, std::uint64_t communicator, TraceEvent& event) const {
        event.group_name = fmt::format("communicator {:x}", communicator);
        const nsight::NcclCommunicator* const known = nccl.communicator(communicator);
        if (known == nullptr)
            return;
        event.group_size = known->size;
        std::vector<std::uint32_t> ranks;
        for (const auto& [number, place] : known->members)
            if (const auto rank = ranks_.find(place); rank != ranks_.end())
                ranks.push_back(rank->second.raw.report.rank);
        if (ranks.size() == known->size)
            event.group_ranks = fmt::format("[{}]", fmt::join(ranks, ", "));
    }

    void drop(const char* reason) {
        TraceFileReport& report = ranks_.begin()->second.raw.report;
        ++report.events;
        ++report.dropped[reason];
    }

    TraceWorkload finish() {
        std::vector<TraceWorkload> workloads;
        for (auto& [key, rank] : ranks_) {
            rank.collector->finish();
            workloads.push_back(workload_of(std::move(rank.raw)));
        }
        return join_ranks(std::move(workloads));
    }

    std::string file_;
    Database database_;
    NsightPlace place_;
    std::unordered_map<std::uint64_t, std::string> strings_;
    std::map<RankKey, Rank> ranks_;
    std::uint64_t origin_ = UINT64_MAX;
};

}  // namespace

bool is_sqlite(std::string_view beginning) {
    constexpr std::string_view kMagic = "SQLite format 3";
    return beginning.substr(0, kMagic.size()) == kMagic;
}

TraceWorkload read_nsight(const std::filesystem::path& file, const NsightPlace& place) {
    return NsightReader(file, place).run();
}

std::uint32_t ranks_in_nsight(const std::filesystem::path& file, std::uint64_t most) {
    return NsightReader(file, {0, 0, most}).count_ranks();
}

}  // namespace switchfold
