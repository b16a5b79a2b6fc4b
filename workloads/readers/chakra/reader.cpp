// SPDX-License-Identifier: Apache-2.0
#include "workloads/readers/chakra/reader.h"

#include "core/error.h"
#include "workloads/graph/schedule.h"
#include "workloads/kernels/roofline.h"
#include "workloads/profile/classify.h"
#include "workloads/readers/chakra/beside_collectives.h"
#include "workloads/readers/chakra/messages.h"
#include "workloads/readers/chakra/node_order.h"
#include "workloads/readers/chakra/process_groups.h"
#include "workloads/readers/chakra/wire.h"
#include "workloads/readers/input/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

namespace switchfold {

namespace {

using chakra::Node;
using chakra::NodeType;

// For nodes without a duration: below that of any GPU that trains today, as for kernels' default
// bytes.
constexpr double kCautiousBytesPerSecond = 1e12;
constexpr double kCautiousFlops = 1e14;
constexpr std::uint64_t kMostGroupMembers = 16'000'000;  // of all groups together
// No node says how its kernel was launched: so many blocks that they spread evenly over any GPU.
constexpr std::uint32_t kAssumedBlocks = 16'384;
constexpr std::uint64_t kBarrier = 9;                     // CollectiveCommType
constexpr std::uint64_t kLatestUs = 4'000'000'000'000;    // 46 days: sums fit 64 bits of ps
constexpr std::uint64_t kMostDependencies = 100'000'000;  // total of all operations

class ChakraReader {
public:
    explicit ChakraReader(const ChakraOptions& options) :
        options_(options), file_(options.file.string()) {}

    TraceWorkload run() {
        report_.file = file_;
        report_.format = "Chakra";
        report_.rank = options_.rank;
        report_.world_size = options_.world_size;
        report_.steps = 1;
        read_nodes();
        groups_.emplace(nodes_, options_.world_size, options_.groups);
        const std::vector<std::size_t> order = chakra::order_of(nodes_, position_, report_);
        index_of_.assign(nodes_.size(), UINT32_MAX);
        for (const std::size_t node : order)
            add(node);
        if (rank_->operations.empty())
            throw ConfigError(file_, "", "holds no node that runs; expected a Chakra trace");
        return finish();
    }

private:
    void read_nodes() {
        chakra::Messages messages(options_.file, options_.most);
        std::string message;
        bool first = true;
        while (messages.next(message)) {
            try {
                if (first)
                    static_cast<void>(chakra::parse_version(message));
                else
                    nodes_.push_back(chakra::parse_node(message));
            } catch (const chakra::WireError& error) {
                throw ConfigError(
                    file_, fmt::format("byte {}", messages.offset()),
                    fmt::format("{} {}", first ? "metadata" : "a node", error.what()));
            }
            first = false;
        }
        report_.events = nodes_.size();
        for (const Node& node : nodes_)
            first_start_ = std::min(first_start_, node.start_us);
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].start_us - first_start_ > kLatestUs)
                fail(
                    nodes_[i], fmt::format(
                                   "begins {} us behind the first; expected less than 46 days",
                                   nodes_[i].start_us - first_start_));
            if (!position_.emplace(nodes_[i].id, i).second)
                fail(nodes_[i], "appears twice; expected each id once");
        }
    }

    static bool is_on_host(const Node& node) { return node.number("is_cpu_op", 0) != 0; }

    [[noreturn]] void fail(const Node& node, const std::string& what) const {
        throw ConfigError(file_, fmt::format("node {} ({})", node.id, node.name), what);
    }

    std::uint32_t stream(StreamKind kind, const std::string& name) {
        const auto [at, fresh] =
            streams_.try_emplace({kind, name}, static_cast<std::uint32_t>(rank_->streams.size()));
        if (fresh)
            rank_->streams.push_back({kind, name, 0});
        return at->second;
    }

    /// Stream of a node; PyTorch's profiler calls a GPU's streams threads.
    std::uint32_t gpu_stream(const Node& node, const std::string& otherwise) {
        std::string named = node.text("stream");
        if (named.empty())
            named = node.text("tid");
        return stream(StreamKind::kGpu, named.empty() ? otherwise : named);
    }

    void add(std::size_t index) {
        const Node& node = nodes_[index];
        timed_ = timed_ || node.start_us > 0;
        Operation operation;
        operation.name = names_.intern(node.name);
        std::vector<std::uint32_t> before;
        for (const std::uint64_t id : node.dependencies) {
            depend(before, id);
            if (const auto gap = gaps_.find(id); gap != gaps_.end())
                operation.gap = std::max(operation.gap, gap->second);
        }
        std::sort(before.begin(), before.end());
        before.erase(std::unique(before.begin(), before.end()), before.end());
        // A node that does not run passes its dependencies on; a few such nodes could multiply
        // them.
        dependencies_ += before.size();
        if (dependencies_ > kMostDependencies)
            fail(
                node, fmt::format(
                          "is where the trace has {} dependencies; expected fewer", dependencies_));
        const bool gap = node.number(chakra::kIsGap, 0) != 0;
        if (gap)
            gaps_[node.id] = microseconds(node.duration_us);
        if (gap || !set_body(node, operation)) {
            stands_for_[index] = std::move(before);
            return;
        }
        if (std::holds_alternative<CollectiveOperation>(operation.body))
            wait_for_launched(node, before);
        operation.dependencies = before;
        index_of_[index] = static_cast<std::uint32_t>(rank_->operations.size());
        // Host operations have no times.
        const bool host = std::holds_alternative<HostDelayOperation>(operation.body);
        const Time start = host ? Time() : microseconds(node.start_us - first_start_);
        measured_.push_back({start, start + (host ? Time() : duration_of(node, operation))});
        if (!host && !std::holds_alternative<CollectiveOperation>(operation.body))
            last_on_[operation.stream] = index_of_[index];
        rank_->operations.push_back(std::move(operation));
    }

    /// An operation holds no duration of a message: it takes as long as the machine lets it.
    static Time duration_of(const Node& node, const Operation& operation) {
        const bool message = node.type == NodeType::kSend || node.type == NodeType::kReceive;
        return message ? microseconds(node.duration_us) : measured_duration(operation);
    }

    /// Some traces link a collective to the call that issued it but to no kernel. PyTorch's c10d
    /// makes the collective wait for everything launched on the caller's streams before the call;
    /// this adds those dependencies.
    void wait_for_launched(const Node& node, std::vector<std::uint32_t>& before) {
        const bool issued = std::any_of(
            node.dependencies.begin(), node.dependencies.end(), [this](std::uint64_t id) {
                const auto found = position_.find(id);
                return found != position_.end() &&
                       nodes_[found->second].type == NodeType::kCollective &&
                       is_on_host(nodes_[found->second]);
            });
        const bool ordered = std::any_of(before.begin(), before.end(), [this](std::uint32_t i) {
            return rank_->streams[rank_->operations[i].stream].kind == StreamKind::kGpu;
        });
        if (!issued || ordered || last_on_.empty())
            return;
        for (const auto& [stream, last] : last_on_)
            before.push_back(last);
        std::sort(before.begin(), before.end());
        ++joined_;
    }

    /// Adds a dependency. A node that does not run (metadata, barriers) is replaced by its own
    /// dependencies.
    void depend(std::vector<std::uint32_t>& all, std::uint64_t id) const {
        const auto found = position_.find(id);
        if (found == position_.end())
            return;
        if (index_of_[found->second] != UINT32_MAX) {
            all.push_back(index_of_[found->second]);
            return;
        }
        const auto stands = stands_for_.find(found->second);
        if (stands != stands_for_.end())
            all.insert(all.end(), stands->second.begin(), stands->second.end());
    }

    /// \returns false for a node that does not run.
    bool set_body(const Node& node, Operation& operation) {
        const bool cpu = is_on_host(node);
        switch (node.type) {
        case NodeType::kCompute:
            if (cpu)
                set_host(node, operation);
            else if (node.name.starts_with("Memcpy") || node.name.starts_with("Memset"))
                set_copy(node, operation, classify_copy(node.name));
            else
                set_kernel(node, operation);
            return true;
        case NodeType::kMemoryLoad:
            set_copy(node, operation, CopyKind::kHostToDevice);
            return true;
        case NodeType::kMemoryStore:
            set_copy(node, operation, CopyKind::kDeviceToHost);
            return true;
        case NodeType::kSend:
        case NodeType::kReceive:
            set_transfer(node, operation);
            return true;
        case NodeType::kCollective:
            if (cpu) {  // the call that issued the GPU's collective
                set_host(node, operation);
                return true;
            }
            return set_collective(node, operation);
        case NodeType::kMetadata:
        case NodeType::kInvalid:
            break;
        }
        ++report_.dropped["metadata"];
        return false;
    }

    void set_host(const Node& node, Operation& operation) {
        const std::string thread = node.text("tid");
        operation.stream =
            stream(StreamKind::kHost, thread.empty() ? "host" : fmt::format("host {}", thread));
        operation.body = HostDelayOperation{microseconds(node.duration_us)};
        ++report_.used["operators of the host"];
    }

    void set_kernel(const Node& node, Operation& operation) {
        operation.stream = gpu_stream(node, "compute");
        KernelOperation kernel;
        kernel.kernel_class = classify_kernel(node.name);
        kernel.flops = static_cast<double>(node.number("num_ops", 0));
        const std::uint64_t bytes = node.number("tensor_size", 0);
        kernel.bytes_read = Bytes(bytes);
        kernel.byte_source = bytes > 0 ? ByteSource::kShapes : ByteSource::kClassDefault;
        kernel.measured = microseconds(node.duration_us);
        kernel.isolated = kernel.measured;
        kernel.grid = {kAssumedBlocks, 1, 1};
        kernel.block = {256, 1, 1};
        if (node.duration_us == 0) {
            kernel.isolated = roofline_time(kernel, kCautiousFlops, kCautiousBytesPerSecond);
            kernel.duration_source = DurationSource::kCounts;
            ++without_duration_;
        } else if (node.number(chakra::kIsTimeAlone, 0) == 0) {
            may_be_slowed_.push_back(static_cast<std::uint32_t>(rank_->operations.size()));
        }
        operation.body = kernel;
        ++report_.used["kernels"];
    }

    void set_copy(const Node& node, Operation& operation, CopyKind kind) {
        operation.stream = gpu_stream(node, "copies");
        operation.body = CopyOperation{
            kind, Bytes(node.number("tensor_size", 0)), microseconds(node.duration_us)};
        ++report_.used["copies"];
    }

    void set_transfer(const Node& node, Operation& operation) {
        operation.stream = gpu_stream(node, "transfers");
        const bool send = node.type == NodeType::kSend;
        const char* const key = send ? "comm_dst" : "comm_src";
        const std::uint64_t peer = node.number(key, UINT64_MAX);
        if (peer > UINT32_MAX)
            fail(node, fmt::format("has no {}; expected the peer's rank", key));
        const Bytes bytes(node.number("comm_size", 0));
        const std::uint64_t tag = node.number("comm_tag", 0);
        if (send)
            operation.body = SendOperation{static_cast<std::uint32_t>(peer), bytes, tag};
        else
            operation.body = ReceiveOperation{static_cast<std::uint32_t>(peer), bytes, tag};
        ++report_.used["sends and receives"];
    }

    bool set_collective(const Node& node, Operation& operation) {
        const std::uint64_t type = node.number("comm_type", UINT64_MAX);
        if (type == kBarrier) {
            ++report_.dropped["barriers"];
            return false;
        }
        CollectiveOperation collective;
        collective.kind = kind_of(node, type);
        const std::string group = node.text("pg_name");
        operation.stream =
            gpu_stream(node, group.empty() ? "communication" : fmt::format("group {}", group));
        collective.group = groups_->index(group);
        if (groups_->members() > kMostGroupMembers)
            fail(
                node,
                fmt::format("is of group number {}; expected fewer groups", collective.group));
        const std::size_t members =
            std::max<std::size_t>(1, groups_->groups()[collective.group].ranks.size());
        // comm_size counts a rank's contribution, nccl-tests an all-gather's result.
        const std::uint64_t size = node.number("comm_size", 0);
        const std::uint64_t copies = chakra::told_by_part(collective.kind) ? members : 1;
        if (size > UINT64_MAX / 2 / copies)
            fail(node, fmt::format("moves {} bytes; expected fewer", size));
        collective.bytes = Bytes(size * copies);
        collective.size_source = size > 0 ? SizeSource::kTrace : SizeSource::kEstimatedFromDuration;
        collective.datatype = kernel_datatype(node.name).value_or(Datatype::kFloat32);
        collective.sequence = sequences_[collective.group]++;
        collective.measured = microseconds(node.duration_us);
        operation.body = std::move(collective);
        ++report_.used["collectives"];
        return true;
    }

    [[nodiscard]] CollectiveKind kind_of(const Node& node, std::uint64_t type) const {
        switch (type) {
        case 0:
            return CollectiveKind::kAllReduce;
        case 1:
            return CollectiveKind::kReduce;
        case 2:
            return CollectiveKind::kAllGather;
        case 3:
            return CollectiveKind::kGather;
        case 4:
            return CollectiveKind::kScatter;
        case 5:
            return CollectiveKind::kBroadcast;
        case 6:
            return CollectiveKind::kAllToAll;
        case 7:
        case 8:
            return CollectiveKind::kReduceScatter;
        default:
            fail(
                node, fmt::format(
                          "is a collective of type {}; expected all-reduce, reduce, all-gather, "
                          "gather, scatter, broadcast, all-to-all, reduce-scatter or barrier",
                          type == UINT64_MAX ? "nothing" : fmt::format("{}", type)));
        }
    }

    /// Start times where no node has one: determined by durations, dependencies and stream order
    /// alone.
    void schedule() {
        const Schedule schedule = evaluate(*rank_, [&](std::uint32_t i, const Operation& o) {
            return rank_->streams[o.stream].kind == StreamKind::kGpu
                       ? measured_[i].end - measured_[i].start
                       : measured_duration(o);
        });
        for (std::size_t i = 0; i < schedule.operations.size(); ++i)
            if (rank_->streams[rank_->operations[i].stream].kind == StreamKind::kGpu)
                measured_[i] = {schedule.operations[i].start, schedule.operations[i].end};
        report_.warnings.emplace_back(
            "no node has a start time: durations and dependencies alone say when each ran");
    }

    void warn() {
        if (options_.world_size == 1 && report_.used.contains("collectives"))
            report_.warnings.emplace_back(
                "collectives of a run whose number of ranks the file does not say: an experiment's "
                "\"ranks\" gives it");
        if (report_.used.contains("kernels"))
            report_.warnings.push_back(fmt::format(
                "kernels have no launch shape: each is taken as {} blocks of 256 threads, which "
                "fill any GPU",
                kAssumedBlocks));
        if (joined_ > 0)
            report_.warnings.push_back(fmt::format(
                "{} collectives depend on no kernel: each waits for those that were launched "
                "before "
                "it, as PyTorch's c10d makes it wait",
                joined_));
    }

    TraceWorkload finish() {
        if (!timed_)
            schedule();
        chakra::mark_kernels_beside_collectives(*rank_, may_be_slowed_, measured_);
        warn();
        if (without_duration_ > 0)
            report_.warnings.push_back(fmt::format(
                "{} kernels have no duration: theirs follow from their operations and bytes, in a "
                "run at the peak rates of its GPUs, otherwise at 100 Tflop/s and 1 TB/s",
                without_duration_));
        count_operations(*rank_, report_);
        TraceWorkload workload;
        ExecutionGraph& graph = workload.graph;
        graph.names = names_.take();
        graph.groups = groups_->groups();
        Time iteration;  // unknown where durations and dependencies alone say when each node ran
        if (timed_)
            for (const auto& measured : measured_.pass())
                iteration = std::max(iteration, measured.end);
        graph.provenance = {file_, "", false, 1, options_.world_size, iteration};
        graph.ranks.push_back(std::move(rank_));
        workload.files.push_back(std::move(report_));
        workload.measured.push_back(std::move(measured_));
        return workload;
    }

    ChakraOptions options_;
    std::string file_;
    TraceFileReport report_;
    std::vector<Node> nodes_;
    std::unordered_map<std::uint64_t, std::size_t> position_;  ///< by id
    std::uint64_t first_start_ = UINT64_MAX;                   ///< us
    std::optional<chakra::ProcessGroups> groups_;
    NameTable names_;
    std::shared_ptr<RankGraph> rank_ = std::make_shared<RankGraph>();
    BigVector<TraceWorkload::Measured> measured_;
    std::map<std::pair<StreamKind, std::string>, std::uint32_t> streams_;
    std::map<std::uint32_t, std::uint64_t> sequences_;  ///< by group
    std::vector<std::uint32_t> index_of_;               ///< operation of each node that runs
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> stands_for_;
    std::unordered_map<std::uint64_t, Time> gaps_;  ///< by the id of the node that is nothing else
    std::vector<std::uint32_t> may_be_slowed_;  ///< kernels whose durations may not be those alone
    std::uint64_t without_duration_ = 0;
    std::uint64_t dependencies_ = 0;
    bool timed_ = false;                              ///< whether any node has a start time
    std::map<std::uint32_t, std::uint32_t> last_on_;  ///< last kernel or copy, by GPU stream
    std::uint64_t joined_ = 0;
};

/// Removes the first message, preceded by its length, from `bytes` and returns it. Throws
/// WireError.
std::string_view take_message(std::string_view& bytes) {
    chakra::WireReader reader(bytes);
    const std::uint64_t length = reader.varint();
    std::size_t before = 1;
    for (std::uint64_t rest = length >> 7U; rest != 0; rest >>= 7U)
        ++before;
    if (bytes.size() < before || bytes.size() - before < length)
        throw chakra::WireError("ends within a message; expected a whole one");
    const std::string_view message = bytes.substr(before, length);
    bytes.remove_prefix(before + length);
    return message;
}

}  // namespace

TraceWorkload read_chakra(const ChakraOptions& options) {
    return ChakraReader(options).run();
}

std::uint32_t rank_in_name(const std::filesystem::path& file, std::uint32_t otherwise) {
    // "trace.3.et", "trace.3.et.gz"
    std::filesystem::path name = file.filename();
    while (!name.extension().empty() && name.extension() != ".et")
        name = name.stem();
    const std::string number = name.stem().extension().string();
    std::uint32_t rank = 0;
    const auto [end, code] =
        std::from_chars(number.data() + 1, number.data() + number.size(), rank);
    const bool found = number.size() > 1 && code == std::errc{} &&
                       end == number.data() + number.size() && rank < kMostTracedRanks;
    return found ? rank : otherwise;
}

bool is_chakra(std::string_view beginning) {
    try {
        const std::string_view metadata = take_message(beginning);
        const std::string version = chakra::parse_version(metadata);
        if (!version.empty())
            return version.find_first_not_of("0123456789.-abcdefghijklmnopqrstuvwxyz") ==
                   std::string::npos;
        // Some writers omit the version: then the first node identifies the format.
        static_cast<void>(chakra::parse_node(take_message(beginning)));
        return true;
    } catch (const chakra::WireError&) {
        return false;
    }
}

}  // namespace switchfold
