// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "workloads/readers/input/limits.h"
#include "workloads/readers/input/lines.h"
#include "workloads/readers/trace_format/record_parser.h"
#include "workloads/readers/trace_format/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace switchfold {

namespace tf = trace_format;
using tf::RecordError;

namespace {

// Limit on a time: sums of times must fit 64 bits of ps.
constexpr std::uint64_t kLongestRecord = UINT64_MAX / 4;
constexpr std::uint32_t kMostSteps = 1'000'000;
constexpr std::uint64_t kMostExchanged = 1ULL
                                         << 46U;  // by a pair: sums over ranks must fit 64 bits

Dim3 dimensions(const char* pointer, const std::vector<std::uint32_t>& sizes) {
    if (sizes.size() > 3)
        throw RecordError(pointer, "has more than three numbers; expected x, y and z");
    Dim3 dims;
    std::uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
    for (std::size_t i = 0; i < sizes.size(); ++i)
        *parts[i] = sizes[i];
    if (std::find(sizes.begin(), sizes.end(), 0U) != sizes.end())
        throw RecordError(pointer, "holds a zero; expected at least 1 in each direction");
    return dims;
}

ShortText short_text(const char* pointer, const std::string& text) {
    const ShortText kept(text);
    if (kept.text() != text)
        throw RecordError(
            pointer,
            fmt::format(
                "has {} letters; expected a word of at most {}", text.size(), ShortText::kLongest));
    return kept;
}

KernelShape shape_of(const tf::KernelRecord& r) {
    KernelShape shape;
    shape.datatype = r.datatype.value;
    shape.tf32 = r.tf32;
    shape.causal = r.causal;
    shape.backward = r.backward;
    shape.newest = r.newest;
    const auto take = [&](const char* pointer, const auto& sides, ShapeKind kind,
                          std::size_t count) {
        if (sides.empty())
            return;
        if (sides.size() != count || std::find(sides.begin(), sides.end(), 0U) != sides.end())
            throw RecordError(
                pointer,
                fmt::format("is not {} sizes of 1 or more; expected those, or none", count));
        shape.kind = kind;
        std::copy(sides.begin(), sides.end(), shape.sides.begin());
    };
    take("/product", r.product, ShapeKind::kProduct, kSidesOfProduct);
    if (shape.kind != ShapeKind::kUnknown && !r.attention.empty())
        throw RecordError("/attention", "is given with product; expected one of them");
    take("/attention", r.attention, ShapeKind::kAttention, kSidesOfAttention);
    return shape;
}

OperationBody body_of(const tf::KernelRecord& r) {
    KernelOperation kernel;
    kernel.grid = dimensions("/grid", r.grid);
    kernel.block = dimensions("/block", r.block);
    kernel.registers_per_thread = r.registers_per_thread;
    kernel.shared_memory = Bytes(r.shared_memory_bytes);
    kernel.measured = Time(r.duration_ps);
    kernel.isolated = Time(r.isolated_ps.value_or(r.duration_ps));
    kernel.duration_source = r.isolated_from.value;
    kernel.bytes_read = Bytes(r.bytes_read);
    kernel.bytes_written = Bytes(r.bytes_written);
    kernel.byte_source = r.bytes_from.value;
    kernel.flops = r.flops;
    kernel.kernel_class = r.kernel_class.value;
    kernel.inside_cuda_graph = r.inside_cuda_graph;
    if (r.l2_share)
        kernel.l2_share = static_cast<float>(*r.l2_share);
    kernel.shape = shape_of(r);
    if (kernel.isolated > Time(kLongestRecord))
        throw RecordError("/isolated_ps", "is more than 53 days; expected a kernel's duration");
    return kernel;
}

OperationBody body_of(const tf::CollectiveRecord& r) {
    CollectiveOperation collective;
    collective.kind = r.kind.value;
    collective.bytes = Bytes(r.bytes);
    collective.datatype = r.datatype.value;
    collective.group = r.group;
    collective.sequence = r.sequence;
    collective.size_source = r.bytes_from.value;
    collective.measured = Time(r.duration_ps);
    collective.thread_blocks = r.thread_blocks;
    collective.threads_per_block = r.threads_per_block;
    collective.registers_per_thread = r.registers_per_thread;
    collective.shared_memory = Bytes(r.shared_memory_bytes);
    collective.algorithm = short_text("/algorithm", r.algorithm);
    collective.protocol = short_text("/protocol", r.protocol);
    if (r.peers_late_ps > kLongestRecord)
        throw RecordError("/peers_late_ps", "is more than 53 days; expected less");
    collective.peers_late = Time(r.peers_late_ps);
    if (r.exchange)
        collective.exchange = *r.exchange + 1;
    if (r.given_ps > kLongestRecord)
        throw RecordError("/given_ps", "is more than 53 days; expected less");
    if (r.holds_blocks && r.given_ps == 0)
        throw RecordError("/holds_blocks", "is set without given_ps; expected both");
    collective.given = Time(r.given_ps);
    collective.holds_blocks = r.holds_blocks;
    return collective;
}

OperationBody body_of(const tf::SendRecord& r) {
    return SendOperation{r.peer, Bytes(r.bytes), r.tag};
}
OperationBody body_of(const tf::ReceiveRecord& r) {
    return ReceiveOperation{r.peer, Bytes(r.bytes), r.tag};
}
OperationBody body_of(const tf::CopyRecord& r) {
    return CopyOperation{r.kind.value, Bytes(r.bytes), Time(r.duration_ps)};
}
OperationBody body_of(const tf::HostRecord& r) {
    return HostDelayOperation{Time(r.duration_ps), r.shared};
}

/// Builds the workload from records in file order.
class Assembler {
public:
    explicit Assembler(const std::filesystem::path& path) : path_(path) {}

    void take(const tf::Record& record) {
        if (ended_)
            throw RecordError("", "follows the end record; expected nothing more");
        if (!begun_ && !std::holds_alternative<tf::TraceRecord>(record))
            throw RecordError("/type", "is not trace; expected the trace record first");
        std::visit([this](const auto& r) { add(r); }, record);
        ++records_;
    }

    TraceWorkload finish() {
        if (!ended_)
            throw RecordError("", "has no end record after it; expected a whole trace");
        finish_rank();
        if (workload_.graph.ranks.empty())
            throw RecordError("", "ends a trace without ranks; expected one at least");
        return std::move(workload_);
    }

private:
    void add(const tf::TraceRecord& r) {
        if (begun_)
            throw RecordError("/type", "is trace again; expected that once");
        if (r.version == 0 || r.version > tf::kVersion)
            throw RecordError(
                "/version", fmt::format(
                                "is {}; expected 1{}: a newer switchfold wrote this", r.version,
                                tf::kVersion > 1 ? fmt::format(" to {}", tf::kVersion) : ""));
        if (r.steps > kMostSteps)
            throw RecordError(
                "/steps", fmt::format("is {}; expected at most {}", r.steps, kMostSteps));
        begun_ = true;
        graph().steps = std::max(1U, r.steps);
        graph().provenance = {r.source,       r.gpu,        r.synthetic,
                              r.traced_ranks, r.world_size, Time(r.measured_iteration_ps)};
    }
    void add(const tf::NameRecord& r) { graph().names.push_back(r.text); }
    void add(const tf::GroupRecord& r) {
        if (r.ranks.empty())
            throw RecordError("/ranks", "is empty; expected the group's ranks");
        for (std::size_t i = 1; i < r.ranks.size(); ++i)
            if (r.ranks[i - 1] >= r.ranks[i])
                throw RecordError("/ranks", "does not ascend; expected each rank once, in order");
        graph().groups.push_back({r.name, r.ranks});
    }
    void add(const tf::ExchangeRecord& r) {
        if (r.ranks == 0 || r.ranks > kMostTracedRanks ||
            r.bytes.size() != std::uint64_t{r.ranks} * r.ranks)
            throw RecordError(
                "/bytes", fmt::format(
                              "has {} numbers for {} ranks; expected one a pair, up to {} ranks",
                              r.bytes.size(), r.ranks, kMostTracedRanks));
        for (std::size_t i = 0; i < r.bytes.size(); ++i)
            if (r.bytes[i] != UnevenExchange::kUnknown && r.bytes[i] > kMostExchanged)
                throw RecordError(
                    fmt::format("/bytes/{}", i),
                    fmt::format(
                        "is {}; expected {} at most, or 2^64 - 1 for unknown", r.bytes[i],
                        kMostExchanged));
        graph().exchanges.push_back({r.ranks, r.bytes});
    }
    void add(const tf::RankRecord& r) {
        finish_rank();
        if (!ranks_.insert(r.rank).second)
            throw RecordError("/rank", "appeared before; expected each rank once");
        if (r.world_size > kMostTracedRanks || r.rank >= std::max(1U, r.world_size))
            throw RecordError(
                "/world_size",
                fmt::format(
                    "is {} with rank {} among them; expected more than that and at most {}",
                    r.world_size, r.rank, kMostTracedRanks));
        rank_ = std::make_shared<RankGraph>();
        measured_.clear();
        TraceFileReport report;
        report.file = path_.string();
        report.format = r.format;
        report.gpu_name = r.gpu;
        report.memory_bytes = r.memory_bytes;
        report.peak_allocated = r.peak_allocated_bytes;
        report.peak_reserved = r.peak_reserved_bytes;
        report.sms = r.sms;
        report.rank = r.rank;
        report.world_size = std::max(1U, r.world_size);
        report.steps = std::max(1U, r.steps);
        report.synthetic = r.synthetic;
        report.host = {
            r.launches, Time(r.between_launches_ps), r.collective_calls, Time(r.until_call_ps)};
        report.events = r.events;
        report.used = r.used;
        report.dropped = r.dropped;
        report.mended = r.mended;
        report.steps_from = r.steps_from;
        report.warnings = r.warnings;
        workload_.files.push_back(std::move(report));
    }
    void add(const tf::StreamRecord& r) {
        need_rank();
        if (!rank_->operations.empty())
            throw RecordError("/type", "is stream; expected streams before the operations");
        rank_->streams.push_back({r.kind.value, r.name, r.priority});
    }
    void add(const tf::EndRecord& r) {
        if (r.records != records_)
            throw RecordError(
                "/records",
                fmt::format("is {} after {} records; expected a whole trace", r.records, records_));
        ended_ = true;
    }
    template <class R>
    void add(const R& r) {
        need_rank();
        check_references(r);
        if constexpr (std::is_same_v<R, tf::CollectiveRecord>) {
            check_group(r);
            check_exchange(r);
        }
        Operation operation;
        operation.name = r.name;
        operation.stream = r.stream;
        operation.step = r.step;
        operation.phase = r.phase.value;
        operation.gap = Time(r.gap_ps);
        const auto index = static_cast<std::uint32_t>(rank_->operations.size());
        for (const std::uint32_t back : r.after)
            operation.dependencies.push_back(index - back);
        operation.body = body_of(r);
        rank_->operations.push_back(std::move(operation));
        // Host operations have no times of their own.
        const bool host = std::is_same_v<R, tf::HostRecord>;
        measured_.push_back({Time(r.start_ps), Time(r.start_ps + (host ? 0 : r.duration_ps))});
    }

    void check_references(const tf::OperationFields& r) const {
        if (r.name >= workload_.graph.names.size())
            throw RecordError("/name", fmt::format("is {}; no name has that number yet", r.name));
        if (r.stream >= rank_->streams.size())
            throw RecordError(
                "/stream", fmt::format("is {}; this rank has no such stream", r.stream));
        if (r.step >= workload_.graph.steps)
            throw RecordError("/step", fmt::format("is {}; the trace has fewer steps", r.step));
        if (r.gap_ps > kLongestRecord || r.start_ps > kLongestRecord ||
            r.duration_ps > kLongestRecord)
            throw RecordError("", "holds a time of more than 53 days; expected less");
        for (std::size_t i = 0; i < r.after.size(); ++i)
            if (r.after[i] == 0 || r.after[i] > rank_->operations.size())
                throw RecordError(
                    fmt::format("/after/{}", i),
                    fmt::format(
                        "{} is {} operations back of number {}; expected one before it: an "
                        "operation cannot wait for itself or for a later one",
                        workload_.graph.names[r.name], r.after[i], rank_->operations.size()));
    }
    void check_group(const tf::CollectiveRecord& r) const {
        if (r.group >= workload_.graph.groups.size())
            throw RecordError(
                "/group", fmt::format("is {}; no group has that number yet", r.group));
    }
    void check_exchange(const tf::CollectiveRecord& r) const {
        if (!r.exchange)
            return;
        const auto& exchanges = workload_.graph.exchanges;
        if (*r.exchange >= exchanges.size())
            throw RecordError(
                "/exchange", fmt::format("is {}; no exchange has that number yet", *r.exchange));
        if (r.kind.value != CollectiveKind::kAllToAll)
            throw RecordError("/exchange", "is given to another kind; expected an all_to_all");
        const std::size_t ranks = workload_.graph.groups[r.group].ranks.size();
        if (exchanges[*r.exchange].ranks != ranks)
            throw RecordError(
                "/exchange", fmt::format(
                                 "is of {} ranks and the group has {}; expected those of the group",
                                 exchanges[*r.exchange].ranks, ranks));
    }
    void need_rank() const {
        if (!rank_)
            throw RecordError("/type", "belongs to a rank; expected a rank record before it");
    }
    void finish_rank() {
        if (!rank_)
            return;
        if (rank_->operations.empty())
            throw RecordError("", "ends a rank without operations; expected one at least");
        count_operations(*rank_, workload_.files.back());
        graph().ranks.push_back(std::move(rank_));
        workload_.measured.push_back(std::move(measured_));
    }
    ExecutionGraph& graph() { return workload_.graph; }

    std::filesystem::path path_;
    TraceWorkload workload_;
    std::shared_ptr<RankGraph> rank_;
    BigVector<TraceWorkload::Measured> measured_;
    std::set<std::uint32_t> ranks_;
    std::uint64_t records_ = 0;
    bool begun_ = false;
    bool ended_ = false;
};

}  // namespace

TraceWorkload read_trace(const std::filesystem::path& path, std::uint64_t most) {
    LineReader lines(path, most);
    tf::RecordParser parser;
    Assembler assembler(path);
    std::string line;
    try {
        while (lines.next(line))
            assembler.take(parser.parse(line));
        return assembler.finish();
    } catch (const RecordError& error) {
        throw ConfigError(
            path.string(), fmt::format("line {}{}", lines.number(), error.pointer()), error.what());
    }
}

bool is_own_trace(std::string_view beginning) {
    const std::size_t end = beginning.find('\n');
    std::string line(beginning.substr(0, end));
    std::erase_if(line, [](unsigned char c) { return std::isspace(c) != 0; });
    return line.find("\"type\":\"trace\"") != std::string::npos &&
           line.find("\"version\":") != std::string::npos;
}

std::string trace_record_schema() {
    OrderedJson schema{
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "switchfold trace: one line"}};
    schema.update(SchemaOf<tf::Record>::make());
    return schema.dump(2) + "\n";
}

}  // namespace switchfold
