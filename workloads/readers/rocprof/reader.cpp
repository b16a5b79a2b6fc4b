// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/rocprof/reader.h"

#include "core/error.h"
#include "core/text.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/json_stream.h"
#include "workloads/readers/input/limits.h"
#include "workloads/readers/nsight/nccl_ranges.h"
#include "workloads/readers/nvtx/range.h"
#include "workloads/readers/rocprof/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace switchfold::rocprof {

namespace {

constexpr std::uint64_t kAny = UINT64_MAX;
constexpr std::uint64_t kLatestNs = UINT64_MAX / 2;
constexpr const char* kProcess = "/rocprofiler-sdk-tool/*";

/// The number of the process that a pointer is in: "/rocprofiler-sdk-tool/2/agents".
std::uint64_t process_of(const std::string& pointer) {
    std::uint64_t number = 0;
    for (std::size_t i = pointer.find('/', 1) + 1; i < pointer.size() && pointer[i] != '/'; ++i)
        number = number * 10 + static_cast<std::uint64_t>(pointer[i] - '0');
    return number;
}

/// Process and agent.
using GpuKey = std::pair<std::uint64_t, std::uint64_t>;

struct Rank {
    RawTrace raw;
    std::unique_ptr<EventCollector> collector;
};

class Reader {
public:
    Reader(const std::filesystem::path& path, const RocprofPlace& place) :
        path_(path), file_(path.string()), place_(place) {}

    std::uint32_t count_ranks() {
        survey();
        return static_cast<std::uint32_t>(ranks_.size());
    }

    TraceWorkload run() {
        survey();
        describe_ranks();
        read_records();
        add_rccl_calls();
        warn();
        std::vector<TraceWorkload> workloads;
        for (auto& [key, rank] : order_) {
            rank->collector->finish();
            workloads.push_back(workload_of(std::move(rank->raw)));
        }
        return join_ranks(std::move(workloads));
    }

private:
    /// Which GPUs ran kernels, and when the first began: the records count from there.
    void survey() {
        JsonStream stream(path_, place_.most);
        stream.on(
            std::string(kProcess) + "/agents/*",
            [this](const std::string& pointer, const Json& value) {
                tables_.read_agent(process_of(pointer), JsonFields(value, file_, pointer));
            });
        stream.on(
            std::string(kProcess) + "/buffer_records/kernel_dispatch/*",
            [this](const std::string& pointer, const Json& value) {
                const JsonFields record(value, file_, pointer);
                const auto info = record.object_if_any("dispatch_info");
                ranks_.try_emplace(
                    {process_of(pointer), handle_in(info ? *info : record, "agent_id")});
                if (ranks_.size() > kMostTracedRanks)
                    record.fail("is of more than 65,536 GPUs; expected fewer");
                origin_ = std::min(origin_, record.whole("start_timestamp", kLatestNs));
            });
        stream.run();
        if (ranks_.empty())
            throw ConfigError(
                file_, "/rocprofiler-sdk-tool/0/buffer_records/kernel_dispatch",
                "is missing or empty; expected a run with --kernel-trace");
        // Launching calls and ranges begin slightly before the first kernel.
        constexpr std::uint64_t kHour = 3'600'000'000'000;
        origin_ -= std::min(origin_, kHour);
    }

    void describe_ranks() {
        for (auto& [key, rank] : ranks_) {
            const Agent known = tables_.agent(key.first, key.second);
            order_.emplace(std::tuple(key.first, known.node, key.second), &rank);
            rank.raw.report.gpu_name = known.name;
            rank.raw.report.memory_bytes = known.memory_bytes;
            rank.raw.report.sms = known.compute_units;
        }
        std::uint32_t number = place_.first_rank;
        for (auto& [key, rank] : order_) {
            TraceFileReport& report = rank->raw.report;
            report.file = file_;
            report.format = "rocprofv3";
            report.rank = number++;
            report.world_size = place_.world_size == 0 ? static_cast<std::uint32_t>(ranks_.size())
                                                       : place_.world_size;
            rank->collector = std::make_unique<EventCollector>(rank->raw);
        }
        if (first().world_size > 1)
            first().warnings.emplace_back(
                "rocprofv3 names no ranks: numbered by file, process and GPU");
    }

    TraceFileReport& first() { return order_.begin()->second->raw.report; }

    void read_records() {
        JsonStream stream(path_, place_.most);
        const auto each = [&](const char* list, auto read) {
            stream.on(
                std::string(kProcess) + list,
                [this, read](const std::string& pointer, const Json& value) {
                    read(*this, process_of(pointer), JsonFields(value, file_, pointer));
                });
        };
        using Process = std::uint64_t;
        using Fields = JsonFields;
        each("/kernel_symbols/*", [](Reader& r, Process p, const Fields& f) {
            r.tables_.read_symbol(p, f);
        });
        each("/strings/buffer_records/*", [](Reader& r, Process p, const Fields& f) {
            r.tables_.read_names(p, f);
        });
        each("/strings/marker_api/*", [](Reader& r, Process p, const Fields& f) {
            r.tables_.read_message(p, f);
        });
        each("/buffer_records/kernel_dispatch/*", [](Reader& r, Process p, const Fields& f) {
            r.read_kernel(p, f);
        });
        each("/buffer_records/memory_copy/*", [](Reader& r, Process p, const Fields& f) {
            r.read_copy(p, f);
        });
        each("/buffer_records/hip_api/*", [](Reader& r, Process p, const Fields& f) {
            r.read_call(p, f);
        });
        each("/buffer_records/rccl_api/*", [](Reader& r, Process p, const Fields& f) {
            r.read_rccl_call(p, f);
        });
        each("/buffer_records/marker_api/*", [](Reader& r, Process p, const Fields& f) {
            r.read_range(p, f);
        });
        stream.run();
    }

    static std::optional<std::uint64_t> correlation_of(const JsonFields& record) {
        const auto id = record.object_if_any("correlation_id");
        return id ? id->whole_if_any("internal", kAny) : std::nullopt;
    }

    static std::pair<std::uint64_t, std::uint64_t> times_of(const JsonFields& record) {
        const std::uint64_t start = record.whole("start_timestamp", kLatestNs);
        const std::uint64_t end = record.whole("end_timestamp", kLatestNs);
        if (end < start)
            record.fail(
                "end_timestamp",
                fmt::format("is {}, before the start; expected it after that", end));
        return {start, end};
    }

    /// \returns false if the record began long before the first kernel.
    bool set_times(const JsonFields& record, TraceEvent& event) {
        const auto [start, end] = times_of(record);
        constexpr std::uint64_t kLongestNs = UINT64_MAX / 2 / 1000;  // fits ps
        if (start < origin_) {
            drop("records long before the first kernel");
            return false;
        }
        if (end - origin_ > kLongestNs)
            record.fail(
                "end_timestamp", "is too far from the first kernel; expected less than 106 days");
        event.phase = "X";
        event.start = (start - origin_) * 1000;
        event.duration = (end - start) * 1000;
        return true;
    }

    static Dim3 shape_of(const JsonFields& info, const char* key) {
        const JsonFields shape = info.object(key);
        const auto side = [&shape](const char* axis) {
            return static_cast<std::uint32_t>(shape.whole(axis, UINT32_MAX));
        };
        return {side("x"), side("y"), side("z")};
    }

    /// Grids are counted in work items.
    static std::optional<Dim3> groups_in(const Dim3& items, const Dim3& group) {
        if (!launch_shape(items) || !launch_shape(group))
            return std::nullopt;
        const auto count = [](std::uint32_t all, std::uint32_t one) {
            return all / one + (all % one == 0 ? 0 : 1);
        };
        return Dim3{count(items.x, group.x), count(items.y, group.y), count(items.z, group.z)};
    }

    void read_kernel(std::uint64_t process, const JsonFields& record) {
        const auto nested = record.object_if_any("dispatch_info");
        const JsonFields& info = nested ? *nested : record;
        event_.clear();
        if (!set_times(record, event_))
            return;
        const Symbol symbol = tables_.symbol(process, info.whole("kernel_id", kAny));
        event_.category = "kernel";
        event_.name = symbol.name.empty() ? "unknown" : symbol.name;
        event_.registers_per_thread = std::min(symbol.registers, 255U);
        event_.shared_memory = std::min<std::uint64_t>(
            info.whole_if_any("group_segment_size", kAny).value_or(0), UINT32_MAX);
        const Dim3 group = shape_of(info, "workgroup_size");
        event_.block = launch_shape(group);
        event_.grid = groups_in(shape_of(info, "grid_size"), group);
        event_.stream = stream_of(record, info);
        event_.correlation = correlation_of(record);
        if (Rank* const rank = rank_of(process, handle_in(info, "agent_id")))
            add(*rank);
    }

    /// The stream of HIP if it is told; otherwise the queue of HSA.
    static std::string stream_of(const JsonFields& record, const JsonFields& info) {
        if (const auto stream = record.object_if_any("stream_id"))
            return fmt::format("{}", stream->whole("handle", kAny));
        const auto queue = info.object_if_any("queue_id");
        return queue ? fmt::format("queue {}", queue->whole("handle", kAny)) : "0";
    }

    void read_copy(std::uint64_t process, const JsonFields& record) {
        const std::uint64_t from = handle_in(record, "src_agent_id");
        const std::uint64_t to = handle_in(record, "dst_agent_id");
        const bool from_gpu = tables_.agent(process, from).gpu;
        const bool to_gpu = tables_.agent(process, to).gpu;
        Rank* const rank = rank_of(process, from_gpu ? from : to);
        if (rank == nullptr) {
            drop("copies of a GPU that ran no kernel");
            return;
        }
        event_.clear();
        if (!set_times(record, event_))
            return;
        event_.category = "gpu_memcpy";
        event_.name = !from_gpu    ? "Memcpy HtoD"
                      : !to_gpu    ? "Memcpy DtoH"
                      : from == to ? "Memcpy DtoD"
                                   : "Memcpy PtoP";
        const auto stream = record.object_if_any("stream_id");
        event_.stream = stream ? fmt::format("{}", stream->whole("handle", kAny)) : "copies";
        event_.correlation = correlation_of(record);
        const auto bytes = record.whole_if_any("bytes", kAny);
        event_.bytes = bytes.value_or(0);
        copies_without_bytes_ += bytes ? 0 : 1;
        add(*rank);
    }

    void read_call(std::uint64_t process, const JsonFields& record) {
        event_.clear();
        if (!set_times(record, event_))
            return;
        event_.category = "hip_runtime";
        event_.name = tables_.operation(process, record);
        // Of traces that state its grid in work items. Here all grids are those of the dispatches.
        if (event_.name == "hipExtModuleLaunchKernel")
            event_.name = "hipModuleLaunchKernel";
        event_.thread = fmt::format("{}", record.whole("thread_id", kAny));
        event_.correlation = correlation_of(record);
        for_process(process, [this](Rank& rank) { add(rank); });
    }

    void read_range(std::uint64_t process, const JsonFields& record) {
        const auto correlation = correlation_of(record);
        const std::string text = correlation ? tables_.message(process, *correlation) : "";
        if (text.empty()) {
            drop("marks without a text");
            return;
        }
        event_.clear();
        if (!set_times(record, event_))
            return;
        describe_range(text, std::nullopt, event_);
        event_.thread = fmt::format("{}", record.whole("thread_id", kAny));
        for_process(process, [this](Rank& rank) { add(rank); });
    }

    void read_rccl_call(std::uint64_t process, const JsonFields& record) {
        std::string function = tables_.operation(process, record);
        if (!set_times(record, event_))
            return;
        const auto [start, end] = times_of(record);
        if (function == "ncclAllToAll" || function == "ncclAllToAllv")
            function = "ncclAlltoAll";
        static_cast<void>(rccl_[process].add(
            {std::move(function), record.whole("thread_id", kAny), start, end, {}}, process));
    }

    /// RCCL launches the kernels of a group at its end.
    void add_rccl_calls() {
        for (auto& [process, ranges] : rccl_) {
            const std::size_t all = ranges.size();
            const std::vector<nsight::NcclCall> calls = ranges.calls();
            for (std::size_t i = calls.size(); i < all; ++i)
                drop("RCCL's groups, and its calls that became one kernel with others");
            for (const nsight::NcclCall& call : calls) {
                event_.clear();
                event_.phase = "X";
                event_.start = (call.start - origin_) * 1000;
                event_.duration = (call.end - call.start) * 1000;
                describe_range(call.function, std::nullopt, event_);
                event_.thread = fmt::format("{}", call.thread);
                without_size_ += event_.name.starts_with("nccl:") ? 1 : 0;
                for_process(process, [this](Rank& rank) { add(rank); });
            }
        }
    }

    void warn() {
        if (without_size_ > 0)
            first().warnings.push_back(fmt::format(
                "{} calls of RCCL say no size: rocprofv3 does not record their arguments",
                without_size_));
        if (copies_without_bytes_ > 0)
            first().warnings.push_back(fmt::format("{} copies say no size", copies_without_bytes_));
    }

    Rank* rank_of(std::uint64_t process, std::uint64_t agent) {
        const auto rank = ranks_.find({process, agent});
        return rank == ranks_.end() ? nullptr : &rank->second;
    }

    /// Activity of the host belongs to every GPU of its process.
    template <class Use>
    void for_process(std::uint64_t process, Use use) {
        for (auto& [key, rank] : ranks_)
            if (key.first == process)
                use(rank);
    }

    void add(Rank& rank) {
        ++rank.raw.report.events;
        rank.collector->add(event_);
    }

    void drop(const char* reason) {
        ++first().events;
        ++first().dropped[reason];
    }

    std::filesystem::path path_;
    std::string file_;
    RocprofPlace place_;
    Tables tables_;
    std::map<GpuKey, Rank> ranks_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Rank*>
        order_;                                         ///< by process, node and agent
    std::map<std::uint64_t, nsight::NcclRanges> rccl_;  ///< by process
    TraceEvent event_;
    std::uint64_t origin_ = UINT64_MAX;  ///< ns
    std::uint64_t without_size_ = 0;
    std::uint64_t copies_without_bytes_ = 0;
};

}  // namespace

}  // namespace switchfold::rocprof

namespace switchfold {

TraceWorkload read_rocprof(const std::filesystem::path& file, const RocprofPlace& place) {
    return rocprof::Reader(file, place).run();
}

std::uint32_t ranks_in_rocprof(const std::filesystem::path& file, std::uint64_t most) {
    return rocprof::Reader(file, {0, 0, most}).count_ranks();
}

}  // namespace switchfold
