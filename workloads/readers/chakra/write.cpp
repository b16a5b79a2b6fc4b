// SPDX-License-Identifier: Apache-2.0
// Field numbers and types of attributes are those of mlcommons/chakra
// (schema/protobuf/et_def.proto) and of its feeder, which takes an attribute of another type for 0.
#include "workloads/readers/chakra/write.h"

#include "core/error.h"
#include "core/json.h"
#include "workloads/readers/chakra/group_members.h"
#include "workloads/readers/chakra/node.h"
#include "workloads/readers/chakra/wire_writer.h"
#include "workloads/readers/trace_format/output_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace switchfold {

namespace {

using chakra::NodeType;
using chakra::WireMessage;

constexpr std::uint32_t kAttributes = 10;  // of a node
constexpr double kPicosecondsOfUs = 1e6;

void add_attribute(WireMessage& node, std::string_view name, std::uint32_t field, std::uint64_t v) {
    WireMessage attribute;
    attribute.bytes(1, name);
    attribute.always(field, v);
    node.bytes(kAttributes, attribute.text());
}
void add_int32(WireMessage& node, std::string_view name, std::uint32_t value) {
    add_attribute(node, name, 7, value);
}
void add_int64(WireMessage& node, std::string_view name, std::uint64_t value) {
    add_attribute(node, name, 9, value);
}
void add_uint64(WireMessage& node, std::string_view name, std::uint64_t value) {
    add_attribute(node, name, 13, value);
}
void add_bool(WireMessage& node, std::string_view name, bool value) {
    add_attribute(node, name, 27, value ? 1 : 0);
}
void add_text(WireMessage& node, std::string_view name, std::string_view value) {
    WireMessage attribute;
    attribute.bytes(1, name);
    attribute.bytes(29, value);
    node.bytes(kAttributes, attribute.text());
}

/// CollectiveCommType. ASTRA-sim runs some of them.
struct CommType {
    std::uint64_t number = 0;
    bool in_astra_sim = true;
};
CommType comm_type(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kReduce:
        return {1, false};
    case CollectiveKind::kAllGather:
        return {2};
    case CollectiveKind::kGather:
        return {3, false};
    case CollectiveKind::kScatter:
        return {4, false};
    case CollectiveKind::kBroadcast:
        return {5};
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kMoeDispatch:
    case CollectiveKind::kMoeCombine:
        return {6};
    case CollectiveKind::kReduceScatter:
        return {7};
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kSendReceive:
        break;
    }
    return {0};
}

std::string copy_name(const std::string& name, CopyKind kind) {
    if (name.starts_with("Memcpy") || name.starts_with("Memset"))
        return name;
    switch (kind) {
    case CopyKind::kHostToDevice:
        return "Memcpy HtoD (" + name + ")";
    case CopyKind::kDeviceToHost:
        return "Memcpy DtoH (" + name + ")";
    case CopyKind::kMemset:
        return "Memset (" + name + ")";
    case CopyKind::kDeviceToDevice:
        break;
    }
    return "Memcpy DtoD (" + name + ")";
}

/// What the run as a whole says of all ranks.
struct Common {
    const TraceWorkload& workload;
    std::uint32_t world = 1;
    std::vector<std::uint32_t> group_number;            ///< of each group; 0: all ranks
    std::map<std::uint64_t, std::uint32_t> tag_number;  ///< those of messages, which may be large
    std::map<std::string, std::uint64_t> notes;         ///< a sentence about so many operations
};

class RankWriter {
public:
    RankWriter(Common& common, std::size_t index, const std::filesystem::path& path) :
        common_(common),
        report_(common.workload.files[index]),
        rank_(*common.workload.graph.ranks[index]),
        measured_(
            index < common.workload.measured.size() ? &common.workload.measured[index] : nullptr),
        file_(path, true) {}

    void run() {
        WireMessage metadata;
        metadata.bytes(1, "0.0.4");
        file_.write(metadata.delimited());
        node_of_.resize(rank_.operations.size());
        last_on_.assign(rank_.streams.size(), UINT64_MAX);
        carried_.assign(rank_.streams.size(), 0);
        for (std::uint32_t i = 0; i < rank_.operations.size(); ++i)
            add(i, rank_.operations[i]);
        file_.finish();
    }

private:
    void add(std::uint32_t index, const Operation& operation) {
        std::vector<std::uint64_t> before;
        for (const std::uint32_t dependency : operation.dependencies)
            before.push_back(node_of_[dependency]);
        if (last_on_[operation.stream] != UINT64_MAX)
            before.push_back(last_on_[operation.stream]);
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        if (const std::uint64_t gap = whole_us(operation.stream, operation.gap); gap > 0)
            before = {add_wait(operation.stream, gap, before)};
        const Time start = measured_ != nullptr ? (*measured_)[index].start : Time();
        start_us_ = static_cast<std::uint64_t>(
            std::llround(static_cast<double>(start.count()) / kPicosecondsOfUs));
        before_ = std::move(before);
        std::visit([&](const auto& body) { write(operation, body); }, operation.body);
        node_of_[index] = next_ - 1;
        last_on_[operation.stream] = next_ - 1;
    }

    /// What is left over of a microsecond goes to the stream's next operation.
    std::uint64_t whole_us(std::uint32_t stream, Time time) {
        const double us = static_cast<double>(time.count()) / kPicosecondsOfUs + carried_[stream];
        const double whole = std::max(0.0, std::round(us));
        carried_[stream] = us - whole;
        return static_cast<std::uint64_t>(whole);
    }

    const std::string& name(const Operation& operation) const {
        return common_.workload.graph.names[operation.name];
    }

    WireMessage begin(
        const std::string& name, NodeType type, std::uint64_t duration_us,
        const std::vector<std::uint64_t>& before) {
        WireMessage node;
        node.number(1, next_++);
        node.bytes(2, name);
        node.number(3, static_cast<std::uint64_t>(type));
        node.packed(5, before);
        node.number(6, start_us_);
        node.number(7, duration_us);
        return node;
    }
    WireMessage begin(const Operation& operation, NodeType type, Time duration) {
        WireMessage node =
            begin(name(operation), type, whole_us(operation.stream, duration), before_);
        on_gpu(node, operation.stream);
        return node;
    }
    void on_gpu(WireMessage& node, std::uint32_t stream) const {
        add_bool(node, "is_cpu_op", false);
        add_text(node, "stream", rank_.streams[stream].name);
    }
    void put(const WireMessage& node) { file_.write(node.delimited()); }

    /// Nothing but a node of the host takes time without holding the GPU.
    std::uint64_t
    add_wait(std::uint32_t stream, std::uint64_t us, const std::vector<std::uint64_t>& before) {
        start_us_ = 0;
        WireMessage node = begin("wait", NodeType::kCompute, us, before);
        add_bool(node, "is_cpu_op", true);
        add_bool(node, chakra::kIsGap, true);
        add_text(node, "tid", "before " + rank_.streams[stream].name);
        put(node);
        ++common_.notes["waits that no dependency explains are nodes of the host"];
        return next_ - 1;
    }

    void write(const Operation& operation, const KernelOperation& kernel) {
        WireMessage node = begin(
            operation, NodeType::kCompute,
            kernel.isolated != Time() ? kernel.isolated : kernel.measured);
        constexpr double kMostOps = 9e18;
        add_int64(
            node, "num_ops",
            static_cast<std::uint64_t>(std::clamp(std::round(kernel.flops), 0.0, kMostOps)));
        add_uint64(node, "tensor_size", kernel.bytes_read.count() + kernel.bytes_written.count());
        add_bool(
            node, chakra::kIsTimeAlone,
            kernel.duration_source != DurationSource::kMeasuredOverlapped);
        put(node);
        ++common_.notes["kernels keep their time alone, where it is known, and no launch shape"];
    }

    void write(const Operation& operation, const CopyOperation& copy) {
        WireMessage node = begin(
            copy_name(name(operation), copy.kind), NodeType::kCompute,
            whole_us(operation.stream, copy.isolated), before_);
        on_gpu(node, operation.stream);
        add_uint64(node, "tensor_size", copy.bytes.count());
        put(node);
    }

    void write(const Operation& operation, const HostDelayOperation& delay) {
        WireMessage node = begin(
            name(operation), NodeType::kCompute, whole_us(operation.stream, delay.duration),
            before_);
        add_bool(node, "is_cpu_op", true);
        add_text(node, "tid", rank_.streams[operation.stream].name);
        put(node);
    }

    void write(const Operation& operation, const SendOperation& send) {
        write_message(operation, true, send.peer, send.bytes, tag(send.tag));
    }
    void write(const Operation& operation, const ReceiveOperation& receive) {
        write_message(operation, false, receive.peer, receive.bytes, tag(receive.tag));
    }
    [[nodiscard]] std::uint32_t tag(std::uint64_t of) const { return common_.tag_number.at(of); }

    void write_message(
        const Operation& operation, bool send, std::uint32_t peer, Bytes bytes,
        std::uint32_t number) {
        WireMessage node = begin(operation, send ? NodeType::kSend : NodeType::kReceive, Time());
        add_int64(node, "comm_size", bytes.count());
        add_int32(node, "comm_src", send ? report_.rank : peer);
        add_int32(node, "comm_dst", send ? peer : report_.rank);
        add_int32(node, "comm_tag", number);
        put(node);
    }

    void write(const Operation& operation, const CollectiveOperation& c) {
        const Group& group = common_.workload.graph.groups[c.group];
        if (c.bytes == Bytes() || c.given != Time()) {
            put(begin(operation, NodeType::kCompute, c.given != Time() ? c.given : c.measured));
            ++common_.notes["collectives of unknown size are compute nodes that take as long"];
            return;
        }
        if (c.kind == CollectiveKind::kSendReceive) {
            pass_on(operation, c, group);
            return;
        }
        const CommType type = comm_type(c.kind);
        if (!type.in_astra_sim)
            ++common_.notes[fmt::format(
                "collectives are a {}, which ASTRA-sim does not run", to_string(c.kind))];
        if (c.exchange != 0)
            ++common_.notes["all-to-alls of unequal parts are equal ones"];
        WireMessage node = begin(operation, NodeType::kCollective, c.measured);
        add_int64(node, "comm_type", type.number);
        // A rank's part; nccl-tests counts what all hold together.
        const std::uint64_t parts =
            chakra::told_by_part(c.kind) ? std::max<std::size_t>(1, group.ranks.size()) : 1;
        add_int64(node, "comm_size", c.bytes.count() / parts);
        add_int32(node, "comm_priority", 0);
        if (const std::uint32_t number = common_.group_number[c.group]; number != 0)
            add_text(node, "pg_name", fmt::format("{}", number));
        put(node);
    }

    /// Every rank of a group sends to the next: a send and a receive.
    void pass_on(const Operation& operation, const CollectiveOperation& c, const Group& group) {
        const auto at = std::ranges::find(group.ranks, report_.rank);
        SWITCHFOLD_CHECK(at != group.ranks.end(), "rank {} is not in its group", report_.rank);
        const std::size_t place = static_cast<std::size_t>(at - group.ranks.begin());
        const std::size_t count = group.ranks.size();
        const auto number = static_cast<std::uint32_t>(c.sequence);
        write_message(operation, true, group.ranks[(place + 1) % count], c.bytes, number);
        write_message(operation, false, group.ranks[(place + count - 1) % count], c.bytes, number);
        ++common_.notes["rounds of a group, each rank to the next, are sends and receives"];
    }

    Common& common_;
    const TraceFileReport& report_;
    const RankGraph& rank_;
    const BigVector<TraceWorkload::Measured>* measured_;
    trace_format::OutputFile file_;
    std::vector<std::uint64_t> node_of_;  ///< the last one of each operation
    std::vector<std::uint64_t> last_on_;  ///< by stream
    std::vector<double> carried_;         ///< microseconds, by stream
    std::vector<std::uint64_t> before_;   ///< of the operation at hand
    std::uint64_t start_us_ = 0;
    std::uint64_t next_ = 1;
};

void number_groups(Common& common) {
    for (const Group& group : common.workload.graph.groups) {
        const bool all = group.ranks.size() == common.world;
        const auto given = static_cast<std::uint32_t>(
            std::ranges::count_if(common.group_number, [](std::uint32_t n) { return n != 0; }));
        common.group_number.push_back(all ? 0 : given + 1);
    }
}

void number_tags(Common& common) {
    std::set<std::uint64_t> tags;
    for (const auto& rank : common.workload.graph.ranks)
        for (const Operation& operation : rank->operations.pass()) {
            if (const auto* send = std::get_if<SendOperation>(&operation.body))
                tags.insert(send->tag);
            if (const auto* receive = std::get_if<ReceiveOperation>(&operation.body))
                tags.insert(receive->tag);
        }
    for (const std::uint64_t tag : tags)
        common.tag_number.emplace(tag, static_cast<std::uint32_t>(common.tag_number.size()));
}

}  // namespace

WrittenChakra write_chakra(const TraceWorkload& workload, const std::filesystem::path& prefix) {
    Common common{workload, 1, {}, {}, {}};
    const ExecutionGraph& graph = workload.graph;
    for (const TraceFileReport& report : workload.files)
        common.world = std::max({common.world, report.world_size, report.rank + 1});
    number_groups(common);
    number_tags(common);
    WrittenChakra written;
    for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
        const std::string name = fmt::format("{}.{}.et", prefix.string(), workload.files[r].rank);
        RankWriter(common, r, name).run();
        written.graphs.emplace_back(name);
    }
    OrderedJson groups = OrderedJson::object();
    for (std::size_t g = 0; g < graph.groups.size(); ++g)
        if (common.group_number[g] != 0)
            groups[fmt::format("{}", common.group_number[g])] = graph.groups[g].ranks;
    if (!groups.empty()) {
        written.groups = prefix.string() + ".groups.json";
        trace_format::OutputFile file(written.groups, true);
        file.write(groups.dump(2) + "\n");
        file.finish();
    }
    for (const auto& [what, count] : common.notes)
        written.notes.push_back(fmt::format("{} {}", count, what));
    if (graph.steps > 1)
        written.notes.push_back(
            fmt::format("{} steps follow each other as one: nodes have no steps", graph.steps));
    if (graph.ranks.size() < common.world)
        written.notes.push_back(fmt::format(
            "{} of {} ranks are traced: ASTRA-sim needs a graph of each", graph.ranks.size(),
            common.world));
    return written;
}

}  // namespace switchfold
