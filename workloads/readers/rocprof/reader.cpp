// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/rocprof/reader.h"

#include "sim/core/error.h"
#include "sim/core/text.h"
#include "workloads/profile/event_collector.h"
#include "workloads/readers/input/json_fields.h"
#include "workloads/readers/input/json_stream.h"
#include "workloads/readers/nsight/nccl_ranges.h"
#include "workloads/readers/nvtx/range.h"
#include "workloads/readers/rocprof/records.h"

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

std::uint64_t handle_in(const JsonFields& record, const char* key) {
    return record.object(key).whole("handle", kAny);
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
                read_agent(process_of(pointer), JsonFields(value, file_, pointer));
            });
        stream.on(
            std::string(kProcess) + "/buffer_records/kernel_dispatch/*",
            [this](const std::string& pointer, const Json& value) {
                const JsonFields record(value, file_, pointer);
                const auto info = record.object_if_any("dispatch_info");
                ranks_.try_emplace(
                    {process_of(pointer), handle_in(info ? *info : record, "agent_id")});
                constexpr std::size_t kMostGpus = 65'536;
                if (ranks_.size() > kMostGpus)
                    record.fail("is of more than 65,536 GPUs; expected fewer");
                origin_ = std::min(origin_, record.whole("start_timestamp", kLatestNs));
            });
        stream.run();
        if (ranks_.empty())
            throw ConfigError(
                file_,
                "/rocprofiler-sdk-tool/0/buffer_records/kernel_dispatch",
                "is missing or empty; expected a run with --kernel-trace");
        // Launching calls and ranges begin slightly before the first kernel.
        constexpr std::uint64_t kHour = 3'600'000'000'000;
        origin_ -= std::min(origin_, kHour);
    }

    void read_agent(std::uint64_t process, const JsonFields& fields) {
        constexpr std::uint64_t kGpu = 2;  // rocprofiler_agent_type_t
        Agent agent;
        agent.gpu = fields.whole_if_any("type", kAny) == kGpu;
        agent.name = fields.text_if_any("product_name");
        if (agent.name.empty())
            agent.name = fields.text_if_any("name");
        agent.compute_units =
            static_cast<std::uint32_t>(fields.whole_if_any("cu_count", UINT32_MAX).value_or(0));
        agent.node = fields.whole_if_any("node_id", kAny).value_or(0);
        for (const JsonFields& bank : fields.objects("mem_banks"))
            agent.memory_bytes =
                std::max(agent.memory_bytes, bank.whole_if_any("size_in_bytes", kAny).value_or(0));
        agents_[{process, handle_in(fields, "id")}] = std::move(agent);
    }

    void describe_ranks() {
        for (auto& [key, rank] : ranks_) {
            const auto agent = agents_.find(key);
            const Agent known = agent == agents_.end() ? Agent() : agent->second;
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
        if (place_.world_size > 1)
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
            r.read_symbol(p, f);
        });
        each("/strings/buffer_records/*", [](Reader& r, Process p, const Fields& f) {
            r.read_names(p, f);
        });
        each("/strings/marker_api/*", [](Reader& r, Process p, const Fields& f) {
            r.read_message(p, f);
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

    void read_symbol(std::uint64_t process, const JsonFields& fields) {
        const auto id = fields.whole_if_any("kernel_id", kAny);
        if (!id)
            return;
        Symbol symbol;
        for (const char* key : {"formatted_kernel_name", "demangled_kernel_name", "kernel_name"})
            if (symbol.name.empty())
                symbol.name = fields.text_if_any(key);
        if (symbol.name.ends_with(".kd"))
            symbol.name.resize(symbol.name.size() - 3);
        constexpr std::uint64_t kMostRegisters = 512;
        symbol.registers = static_cast<std::uint32_t>(std::min(
            kMostRegisters,
            fields.whole_if_any("arch_vgpr_count", UINT32_MAX).value_or(0) +
                fields.whole_if_any("accum_vgpr_count", UINT32_MAX).value_or(0)));
        symbols_[{process, *id}] = std::move(symbol);
    }

    /// {"kind": "HIP_RUNTIME_API", "operations": ["hipApiName", ...]}; records name both by index.
    void read_names(std::uint64_t process, const JsonFields& fields) {
        std::vector<std::string>& names = names_[process].emplace_back();
        const Json* const operations = fields.find("operations");
        if (operations != nullptr && operations->is_array())
            for (const Json& operation : *operations)
                names.push_back(operation.is_string() ? operation.get<std::string>() : "");
    }

    /// Texts of roctx ranges, by correlation.
    void read_message(std::uint64_t process, const JsonFields& fields) {
        const auto key = fields.whole_if_any("key", kAny);
        if (key)
            messages_[{process, *key}] = fields.text_if_any("value");
    }

    [[nodiscard]] std::string operation_of(std::uint64_t process, const JsonFields& record) const {
        const auto names = names_.find(process);
        const std::uint64_t kind = record.whole("kind", kAny);
        const std::uint64_t operation = record.whole("operation", kAny);
        if (names == names_.end() || kind >= names->second.size() ||
            operation >= names->second[kind].size())
            return {};
        return names->second[kind][operation];
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
        const auto symbol = symbols_.find({process, info.whole("kernel_id", kAny)});
        event_.category = "kernel";
        event_.name = symbol == symbols_.end() || symbol->second.name.empty() ? "unknown"
                                                                              : symbol->second.name;
        event_.registers_per_thread =
            symbol == symbols_.end() ? 0 : std::min(symbol->second.registers, 255U);
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
        const bool from_gpu = is_gpu(process, from);
        const bool to_gpu = is_gpu(process, to);
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

    [[nodiscard]] bool is_gpu(std::uint64_t process, std::uint64_t agent) const {
        const auto found = agents_.find({process, agent});
        return found != agents_.end() && found->second.gpu;
    }

    void read_call(std::uint64_t process, const JsonFields& record) {
        event_.clear();
        if (!set_times(record, event_))
            return;
        event_.category = "hip_runtime";
        event_.name = operation_of(process, record);
        // Of traces that state its grid in work items. Here all grids are those of the dispatches.
        if (event_.name == "hipExtModuleLaunchKernel")
            event_.name = "hipModuleLaunchKernel";
        event_.thread = fmt::format("{}", record.whole("thread_id", kAny));
        event_.correlation = correlation_of(record);
        for_process(process, [this](Rank& rank) { add(rank); });
    }

    void read_range(std::uint64_t process, const JsonFields& record) {
        const auto correlation = correlation_of(record);
        const auto text = correlation ? messages_.find({process, *correlation}) : messages_.end();
        if (text == messages_.end() || text->second.empty()) {
            drop("marks without a text");
            return;
        }
        event_.clear();
        if (!set_times(record, event_))
            return;
        describe_range(text->second, std::nullopt, event_);
        event_.thread = fmt::format("{}", record.whole("thread_id", kAny));
        for_process(process, [this](Rank& rank) { add(rank); });
    }

    void read_rccl_call(std::uint64_t process, const JsonFields& record) {
        std::string function = operation_of(process, record);
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
    std::map<GpuKey, Agent> agents_;
    std::map<GpuKey, Rank> ranks_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, Rank*>
        order_;  ///< by process, node and agent
    std::map<std::pair<std::uint64_t, std::uint64_t>, Symbol> symbols_;  ///< by process and kernel
    std::map<std::uint64_t, std::vector<std::vector<std::string>>>
        names_;  ///< by process, kind and operation
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> messages_;
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
