// SPDX-License-Identifier: Apache-2.0
#include "sim/results/rank_timelines.h"

#include "sim/output/rank_timeline.h"
#include "workloads/graph/serial_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <string>

namespace switchfold {

namespace {

/// What a file system and a shell take without care; scenarios of different names stay apart.
std::string folder_name(const std::string& scenario, std::set<std::string>& taken) {
    std::string name = scenario;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_')
            c = '_';
    while (!taken.insert(name).second)
        name += '_';
    return name;
}

/// As c10d names them at the head of a collective's kernel.
std::string_view call_of(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return "allreduce";
    case CollectiveKind::kReduceScatter:
        return "_reduce_scatter_base";
    case CollectiveKind::kAllGather:
        return "_allgather_base";
    case CollectiveKind::kBroadcast:
        return "broadcast";
    case CollectiveKind::kReduce:
        return "reduce";
    case CollectiveKind::kSendReceive:
        return "sendrecv";
    case CollectiveKind::kGather:
        return "gather";
    case CollectiveKind::kScatter:
        return "scatter";
    default:
        return "all_to_all";
    }
}

/// As NCCL names kernels: by "nccl" tools tell communication from compute.
std::string_view kernel_of(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return "AllReduce";
    case CollectiveKind::kReduceScatter:
        return "ReduceScatter";
    case CollectiveKind::kAllGather:
        return "AllGather";
    case CollectiveKind::kBroadcast:
        return "Broadcast";
    case CollectiveKind::kReduce:
        return "Reduce";
    default:
        return "SendRecv";
    }
}

std::string_view torch_name(Datatype type) {
    switch (type) {
    case Datatype::kFloat32:
        return "Float";
    case Datatype::kFloat16:
        return "Half";
    case Datatype::kBfloat16:
        return "BFloat16";
    case Datatype::kFloat64:
        return "Double";
    case Datatype::kInt8:
        return "Char";
    case Datatype::kInt32:
        return "Int";
    case Datatype::kInt64:
        return "Long";
    case Datatype::kFloat8:
        return "Float8_e4m3fn";
    default:
        return "Byte";
    }
}

std::string nccl_name(std::string_view name, CollectiveKind kind) {
    return name.starts_with("nccl") ? std::string(name)
                                    : fmt::format("ncclDevKernel_{}({})", kernel_of(kind), name);
}

std::string copy_name(std::string_view name, CopyKind kind) {
    if (name.starts_with("Mem"))
        return std::string(name);
    const std::string_view way = kind == CopyKind::kHostToDevice   ? "HtoD (Pinned -> Device)"
                                 : kind == CopyKind::kDeviceToHost ? "DtoH (Device -> Pinned)"
                                                                   : "DtoD (Device -> Device)";
    return fmt::format("Memcpy {}", way);
}

class RankTimeline {
public:
    RankTimeline(
        const std::filesystem::path& path, const RanScenario& scenario, std::uint32_t rank,
        const GpuParams& gpu) :
        number_(rank),
        graph_(scenario.graph),
        everyone_(scenario.graph.ranks.size()),
        rank_(*scenario.graph.ranks[rank]),
        times_(scenario.outcome.times[rank]),
        writer_(
            path, {gpu.name, gpu.sms, gpu.memory.capacity.count(), rank,
                   static_cast<std::uint32_t>(scenario.graph.ranks.size())}) {
        std::iota(everyone_.begin(), everyone_.end(), 0U);
        number_streams();
    }

    void write() {
        for (std::size_t i = 0; i < rank_.operations.size(); ++i)
            if (rank_.streams[rank_.operations[i].stream].kind == StreamKind::kGpu)
                add(i);
            else
                add_host(i);
        add_steps();
        writer_.close();
    }

private:
    /// Their own numbers where names are numbers, else numbers that nobody has.
    void number_streams() {
        std::set<std::uint32_t> taken;
        for (const auto& stream : rank_.streams) {
            const std::string& name = stream.name;
            std::uint32_t number = 0;
            const auto end = name.data() + name.size();
            const auto parsed = std::from_chars(name.data(), end, number);
            if (parsed.ec != std::errc() || parsed.ptr != end || taken.contains(number))
                for (number = 1; taken.contains(number);)
                    ++number;
            taken.insert(number);
            streams_.push_back(number);
        }
    }

    /// When the host was through with what came before: the last of its operations that this one
    /// waits for.
    [[nodiscard]] std::optional<std::uint64_t> launched(const Operation& operation) const {
        std::optional<std::uint64_t> last;
        for (const std::uint32_t d : operation.dependencies)
            if (rank_.streams[rank_.operations[d].stream].kind == StreamKind::kHost)
                last = std::max(last.value_or(0), times_[d].end.count());
        return last;
    }

    /// How many operations of other streams it waits for.
    [[nodiscard]] std::uint32_t awaited(const Operation& operation) const {
        return static_cast<std::uint32_t>(
            std::ranges::count_if(operation.dependencies, [&](std::uint32_t d) {
                const std::uint32_t stream = rank_.operations[d].stream;
                return stream != operation.stream && rank_.streams[stream].kind == StreamKind::kGpu;
            }));
    }

    void add(std::size_t index) {
        const Operation& operation = rank_.operations[index];
        RankSlice slice;
        slice.name = graph_.names[operation.name];
        slice.category = "kernel";
        slice.stream = streams_[operation.stream];
        slice.start_ps = times_[index].start.count();
        slice.end_ps = times_[index].end.count();
        slice.correlation = index + 1;
        slice.launched_ps = launched(operation);
        // Communication waits for what was launched before it on the streams of kernels, as c10d
        // makes it.
        if (!communicates(operation))
            slice.waits = awaited(operation);
        std::visit([&](const auto& body) { describe(body, slice); }, operation.body);
        writer_.add(slice);
        begin(operation.step, std::min(slice.launched_ps.value_or(slice.start_ps), slice.start_ps));
        end_ = std::max(end_, slice.end_ps);
    }

    /// What the host does is not drawn but by its calls: one where it waits for the GPU.
    void add_host(std::size_t index) {
        const Operation& operation = rank_.operations[index];
        const auto thread =
            host_done_
                .try_emplace(operation.stream, static_cast<std::uint32_t>(host_done_.size()), 0)
                .first;
        std::uint64_t& done = thread->second.second;
        begin(operation.step, times_[index].start.count());
        std::uint64_t until = 0;
        for (const std::uint32_t d : operation.dependencies)
            if (rank_.streams[rank_.operations[d].stream].kind == StreamKind::kGpu)
                until = std::max(until, times_[d].end.count());
        if (until > done)
            writer_.add_wait(thread->second.first, index + 1, done, until);
        done = times_[index].end.count();
    }

    void describe(const KernelOperation& kernel, RankSlice& slice) const {
        slice.grid = {kernel.grid.x, kernel.grid.y, kernel.grid.z};
        slice.block = {kernel.block.x, kernel.block.y, kernel.block.z};
        slice.registers = kernel.registers_per_thread;
        slice.shared_memory = kernel.shared_memory.count();
    }

    void describe(const CollectiveOperation& collective, RankSlice& slice) const {
        slice.name = nccl_name(slice.name, collective.kind);
        const Group& group = graph_.groups[collective.group];
        RankCollective told;
        told.name = call_of(collective.kind);
        told.datatype = torch_name(collective.datatype);
        const std::uint64_t elements =
            collective.bytes.count() / size_of(collective.datatype).count();
        const std::uint64_t share = elements / std::max<std::size_t>(1, group.ranks.size());
        const bool gathers = collective.kind == CollectiveKind::kAllGather;
        const bool scatters = collective.kind == CollectiveKind::kReduceScatter;
        told.in_elements = gathers ? share : elements;
        told.out_elements = scatters ? share : elements;
        told.group = group.name;
        told.ranks = group.ranks;
        if (collective.exchange != 0)
            split(graph_.exchanges[collective.exchange - 1], collective.datatype, told);
        slice.collective = told;
        if (collective.thread_blocks > 0 && collective.threads_per_block > 0) {
            slice.grid = {collective.thread_blocks, 1, 1};
            slice.block = {collective.threads_per_block, 1, 1};
            slice.registers = collective.registers_per_thread;
            slice.shared_memory = collective.shared_memory.count();
        }
    }

    /// What this rank sends to and receives from each of the group.
    void split(const UnevenExchange& exchange, Datatype type, RankCollective& told) const {
        const auto own =
            static_cast<std::uint32_t>(std::ranges::find(told.ranks, number_) - told.ranks.begin());
        const std::uint64_t width = size_of(type).count();
        told.in_elements = told.out_elements = 0;
        for (std::uint32_t other = 0; other < exchange.ranks; ++other) {
            told.in_splits.push_back(exchange.at(own, other) / width);
            told.out_splits.push_back(exchange.at(other, own) / width);
            told.in_elements += told.in_splits.back();
            told.out_elements += told.out_splits.back();
        }
    }

    void describe(const CopyOperation& copy, RankSlice& slice) const {
        slice.name = copy_name(slice.name, copy.kind);
        slice.category = "gpu_memcpy";
        slice.bytes = copy.bytes.count();
    }

    /// A send or receive: its bytes and its peer, as c10d states them. Messages of one tag share a
    /// group, so that what reads them matches the same ones.
    void describe_message(
        std::string_view call, std::uint32_t peer, Bytes bytes, std::uint64_t tag,
        RankSlice& slice) const {
        slice.name = nccl_name(slice.name, CollectiveKind::kSendReceive);
        RankCollective told;
        told.name = call;
        told.datatype = torch_name(Datatype::kUint8);
        told.in_elements = told.out_elements = bytes.count();
        told.group = fmt::format("messages {}", tag);
        told.ranks = everyone_;
        told.peer = peer;
        slice.collective = told;
    }
    void describe(const SendOperation& send, RankSlice& slice) const {
        describe_message("send", send.peer, send.bytes, send.tag, slice);
    }
    void describe(const ReceiveOperation& receive, RankSlice& slice) const {
        describe_message("recv", receive.peer, receive.bytes, receive.tag, slice);
    }
    void describe(const HostDelayOperation& /*delay*/, RankSlice& /*slice*/) const {}

    /// A step begins with the first that its host or its GPU does.
    void begin(std::uint32_t step, std::uint64_t ps) {
        auto [at, fresh] = steps_.try_emplace(step, ps);
        at->second = std::min(at->second, ps);
    }

    /// All ranks begin the first step together: one that is late then is late within it.
    void add_steps() {
        if (!steps_.empty())
            steps_.begin()->second = 0;
        for (auto at = steps_.begin(); at != steps_.end(); ++at) {
            const auto next = std::next(at);
            const auto before = [](std::uint64_t ps) { return ps - std::min(ps, kLaunchPs); };
            writer_.add_step(
                at->first, before(at->second), next == steps_.end() ? end_ : before(next->second));
        }
    }

    std::uint32_t number_;
    const ExecutionGraph& graph_;
    std::vector<std::uint32_t> everyone_;
    const RankGraph& rank_;
    const std::vector<OperationTimes>& times_;
    RankTimelineWriter writer_;
    std::vector<std::uint32_t> streams_;            ///< numbers
    std::map<std::uint32_t, std::uint64_t> steps_;  ///< their first moments
    /// A thread's number, and when it was done with its last operation, by stream.
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> host_done_;
    std::uint64_t end_ = 0;
};

}  // namespace

void write_rank_timelines(
    ResultFolder& folder, const std::vector<RanScenario>& scenarios,
    const std::function<const GpuParams&(std::uint32_t rank)>& gpu_of) {
    const std::filesystem::path all = folder.stage_folder("rank-timelines");
    std::set<std::string> taken;
    for (const RanScenario& scenario : scenarios) {
        const std::filesystem::path of = all / folder_name(scenario.name, taken);
        make_folder(of);
        for (std::uint32_t rank = 0; rank < scenario.graph.ranks.size(); ++rank)
            RankTimeline(of / fmt::format("rank{}.json.gz", rank), scenario, rank, gpu_of(rank))
                .write();
    }
}

}  // namespace switchfold
