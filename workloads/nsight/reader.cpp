// SPDX-License-Identifier: Apache-2.0
#include "workloads/nsight/reader.h"

#include "sim/core/error.h"
#include "workloads/kineto/event_collector.h"
#include "workloads/nsight/database.h"
#include "workloads/nsight/nvtx.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
constexpr std::uint64_t kMostRanks = 65'536;
constexpr std::uint64_t kPushPop = 59;   // eventType of NVTX_EVENTS: a range of one thread
constexpr std::uint64_t kStartEnd = 60;  // of any threads

/// Global ids hold the process in the 24 bits above the thread's.
std::uint64_t process_of(std::uint64_t global_id) {
    return (global_id >> 24U) & 0xffffffU;
}

/// A GPU and the process that used it.
using RankKey = std::pair<std::uint64_t, std::uint64_t>;

struct Rank {
    RawTrace raw;
    std::unique_ptr<EventCollector> collector;
};

class NsightReader {
public:
    explicit NsightReader(const std::filesystem::path& file) :
        file_(file.string()), database_(file) {}

    TraceWorkload run() {
        if (!database_.has(kKernels))
            throw ConfigError(
                file_,
                kKernels,
                "is not there; expected the export of a run that was traced with --trace=cuda");
        read_strings();
        read_gpus();
        find_ranks();
        read_kernels();
        read_copies(kCopies, false);
        read_copies(kMemsets, true);
        read_calls();
        read_ranges();
        return finish();
    }

private:
    void read_strings() {
        if (!database_.has("StringIds"))
            return;
        Rows rows = database_.rows("StringIds", {{"id"}, {"value"}});
        while (rows.next())
            strings_[rows.needed(0)] = rows.text(1).value_or("");
    }

    void read_gpus() {
        if (!database_.has("TARGET_INFO_GPU"))
            return;
        Rows rows = database_.rows(
            "TARGET_INFO_GPU", {{"id"}, {"name"}, {"totalMemory", false}, {"smCount", false}});
        while (rows.next()) {
            Gpu& gpu = gpus_[rows.needed(0)];
            gpu.name = rows.text(1).value_or("");
            gpu.memory = rows.number(2).value_or(0);
            gpu.sms = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(rows.number(3).value_or(0), UINT32_MAX));
        }
    }

    /// Times are ns from the session's start or from an epoch: ps from the first event.
    void find_ranks() {
        Rows rows = database_.rows(kKernels, {{"start"}, {"deviceId"}, {"globalPid", false}});
        while (rows.next()) {
            origin_ = std::min(origin_, rows.needed(0));
            ranks_.try_emplace({rows.needed(1), process_of(rows.number(2).value_or(0))});
            if (ranks_.size() > kMostRanks)
                rows.fail(1, "is of more than 65,536 GPUs and processes; expected fewer");
        }
        if (ranks_.empty())
            throw ConfigError(file_, kKernels, "is empty; expected a run with kernels");
        // Launching calls and ranges begin a little before the first kernel.
        constexpr std::uint64_t kHour = 3'600'000'000'000;
        origin_ -= std::min(origin_, kHour);
        std::uint32_t number = 0;
        for (auto& [key, rank] : ranks_) {
            TraceFileReport& report = rank.raw.report;
            report.file = file_;
            report.format = "Nsight Systems";
            report.rank = number++;
            report.world_size = static_cast<std::uint32_t>(ranks_.size());
            const Gpu& gpu = gpus_[key.first];
            report.gpu_name = gpu.name;
            report.memory_bytes = gpu.memory;
            report.sms = gpu.sms;
            rank.collector = std::make_unique<EventCollector>(rank.raw);
        }
        if (ranks_.size() > 1)
            ranks_.begin()->second.raw.report.warnings.push_back(fmt::format(
                "{} GPUs and processes: numbered as ranks by GPU, then process", ranks_.size()));
    }

    void set_times(const Rows& rows, TraceEvent& event) const {
        const std::uint64_t start = rows.needed(0);
        const std::uint64_t end = rows.needed(1);
        if (end < start)
            rows.fail(1, fmt::format("is {}, before the start; expected it after that", end));
        constexpr std::uint64_t kLongest = UINT64_MAX / 2 / 1000;  // ns that fit ps
        if (start < origin_ || end - origin_ > kLongest)
            rows.fail(0, "is too far from the first kernel; expected less than 106 days");
        event.phase = "X";
        event.start = (start - origin_) * 1000;
        event.duration = (end - start) * 1000;
    }

    std::string name(std::optional<std::uint64_t> id) const {
        const auto found = id ? strings_.find(*id) : strings_.end();
        return found == strings_.end() ? "unknown" : found->second;
    }

    void add(Rank& rank, TraceEvent& event) {
        ++rank.raw.report.events;
        rank.collector->add(event);
    }

    static std::uint32_t small(const Rows& rows, int column) {
        const std::uint64_t value = rows.needed(column);
        if (value > UINT32_MAX)
            rows.fail(column, fmt::format("is {}; expected less than 2^32", value));
        return static_cast<std::uint32_t>(value);
    }

    void read_kernels() {
        Rows rows = database_.rows(
            kKernels,
            {{"start"},
             {"end"},
             {"deviceId"},
             {"globalPid", false},
             {"streamId"},
             {"correlationId", false},
             {"demangledName", false},
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
            event = TraceEvent{};
            set_times(rows, event);
            event.category = "kernel";
            const auto long_name = rows.number(6);
            event.name = name(long_name ? long_name : rows.number(7));
            event.stream = fmt::format("{}", rows.needed(4));
            event.correlation = rows.number(5);
            event.grid = launch_shape({small(rows, 8), small(rows, 9), small(rows, 10)});
            event.block = launch_shape({small(rows, 11), small(rows, 12), small(rows, 13)});
            event.registers_per_thread = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(rows.number(14).value_or(0), 255));
            event.shared_memory = std::min<std::uint64_t>(rows.number(15).value_or(0), UINT32_MAX) +
                                  std::min<std::uint64_t>(rows.number(16).value_or(0), UINT32_MAX);
            add(ranks_.at({rows.needed(2), process_of(rows.number(3).value_or(0))}), event);
        }
    }

    void read_copies(const char* table, bool memset) {
        if (!database_.has(table))
            return;
        Rows rows = database_.rows(
            table,
            {{"start"},
             {"end"},
             {"deviceId"},
             {"globalPid", false},
             {"streamId"},
             {"correlationId", false},
             {"bytes"},
             {"copyKind", false}});
        TraceEvent event;
        while (rows.next()) {
            const auto rank = ranks_.find({rows.needed(2), process_of(rows.number(3).value_or(0))});
            if (rank == ranks_.end()) {
                ++ranks_.begin()->second.raw.report.events;
                ++ranks_.begin()->second.raw.report.dropped["copies of a GPU that ran no kernel"];
                continue;
            }
            event = TraceEvent{};
            set_times(rows, event);
            event.category = memset ? "gpu_memset" : "gpu_memcpy";
            event.name = memset ? "Memset (Device)" : copy_name(rows.number(7).value_or(0));
            event.stream = fmt::format("{}", rows.needed(4));
            event.correlation = rows.number(5);
            event.bytes = rows.needed(6);
            add(rank->second, event);
        }
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

    /// What happens on the host is its process's: all GPUs of the process see it.
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
            if (!rows.number(0) || !rows.number(1) || rows.needed(0) < origin_) {
                drop("calls without times or long before the first kernel");
                continue;
            }
            const std::uint64_t thread = rows.number(2).value_or(0);
            for_process(thread, [&](Rank& rank) {
                event = TraceEvent{};
                set_times(rows, event);
                event.category = "cuda_runtime";
                event.name = name(rows.number(4));
                event.name.resize(std::min(event.name.find("_v"), event.name.size()));
                event.thread = fmt::format("{}", thread);
                event.correlation = rows.number(3);
                add(rank, event);
            });
        }
    }

    void read_ranges() {
        if (!database_.has(kRanges))
            return;
        Rows rows = database_.rows(
            kRanges,
            {{"start"},
             {"end", false},
             {"globalTid", false},
             {"eventType", false},
             {"text", false},
             {"textId", false},
             {"uint64Value", false}});
        while (rows.next()) {
            const std::uint64_t type = rows.number(3).value_or(0);
            const bool range = type == kPushPop || type == kStartEnd;
            if (!range || !rows.number(0) || !rows.number(1) || rows.needed(0) < origin_) {
                drop("NVTX marks, open ranges and ranges long before the first kernel");
                continue;
            }
            const std::uint64_t thread = rows.number(2).value_or(0);
            const std::optional<std::string> text = rows.text(4);
            for_process(thread, [&](Rank& rank) {
                TraceEvent event =
                    nsight::event_of_range(text ? *text : name(rows.number(5)), rows.number(6));
                set_times(rows, event);
                event.thread = fmt::format("{}", thread);
                add(rank, event);
            });
        }
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

    struct Gpu {
        std::string name;
        std::uint64_t memory = 0;
        std::uint32_t sms = 0;
    };

    std::string file_;
    Database database_;
    std::unordered_map<std::uint64_t, std::string> strings_;
    std::map<std::uint64_t, Gpu> gpus_;
    std::map<RankKey, Rank> ranks_;
    std::uint64_t origin_ = UINT64_MAX;
};

}  // namespace

bool is_sqlite(std::string_view beginning) {
    constexpr std::string_view kMagic = "SQLite format 3";
    return beginning.substr(0, kMagic.size()) == kMagic;
}

TraceWorkload read_nsight(const std::filesystem::path& file) {
    return NsightReader(file).run();
}

}  // namespace switchfold
