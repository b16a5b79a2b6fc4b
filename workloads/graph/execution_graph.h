// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/big_vector.h"
#include "core/memory_classes.h"
#include "core/units.h"
#include "workloads/graph/dependencies.h"
#include "workloads/graph/expert_exchange.h"
#include "workloads/graph/kernel_shape.h"
#include "workloads/graph/short_text.h"
#include "workloads/graph/uneven_exchange.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace switchfold {

enum class Phase : std::uint8_t { kOther, kForward, kBackward, kOptimizer };

enum class CollectiveKind : std::uint8_t {
    kAllReduce,
    kReduceScatter,
    kAllGather,
    kBroadcast,
    kReduce,
    kAllToAll,
    kSendReceive,  ///< a send with its receive, once matched; in a group: every rank sends to the
                   ///< next
    kGather,       ///< every rank's part goes to the first
    kScatter,      ///< each rank receives its part from the first
    kMoeDispatch,  ///< tokens go to their experts' ranks
    kMoeCombine,   ///< expert outputs return and are added up
};

/// Whether a collective is a dispatch or a combine of a mixture-of-experts layer.
[[nodiscard]] constexpr bool is_experts(CollectiveKind kind) {
    return kind == CollectiveKind::kMoeDispatch || kind == CollectiveKind::kMoeCombine;
}

inline constexpr std::array kCollectiveKinds{
    CollectiveKind::kAllReduce,   CollectiveKind::kReduceScatter, CollectiveKind::kAllGather,
    CollectiveKind::kBroadcast,   CollectiveKind::kReduce,        CollectiveKind::kAllToAll,
    CollectiveKind::kSendReceive, CollectiveKind::kGather,        CollectiveKind::kScatter};

[[nodiscard]] Bytes size_of(Datatype type);
/// The same for arithmetic on fractional counts.
[[nodiscard]] inline double element_bytes(Datatype type) {
    return static_cast<double>(size_of(type).count());
}

inline constexpr double kSingleBytes = 4;  ///< bytes of a number in 32 bits

/// What a kernel does, judged by its name; selects default bytes and the group in results.
enum class KernelClass : std::uint8_t {
    kGemmConv,
    kAttention,
    kNorm,
    kReduction,
    kElementwise,
    kCopyLayout,
    kEmbeddingGather,
    kOptimizer,
    kOther,
};

/// Source of a kernel's byte counts; the report counts kernels per source.
enum class ByteSource : std::uint8_t { kCounters, kShapes, kClassDefault };

/// Source of a kernel's isolated duration.
enum class DurationSource : std::uint8_t {
    kMeasuredAlone,       ///< this occurrence ran without communication beside it
    kOtherOccurrence,     ///< median of the kernel's non-overlapped occurrences
    kMeasuredOverlapped,  ///< only overlapped occurrences exist: the measured value, an upper bound
    kModel,               ///< from a model of kernel times, in synthetic workloads
    kCounts,              ///< operations and bytes at a GPU's peak rates: the trace has no time
};

/// Whether a trace says how long the kernel took.
[[nodiscard]] constexpr bool is_measured(DurationSource source) {
    return source != DurationSource::kModel && source != DurationSource::kCounts;
}

/// Source of a collective's size.
enum class SizeSource : std::uint8_t { kTrace, kUser, kEstimatedFromDuration };

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    /// Saturates at 64 bits.
    [[nodiscard]] std::uint64_t count() const {
        const std::uint64_t plane = std::uint64_t{x} * y;
        return z != 0 && plane > UINT64_MAX / z ? UINT64_MAX : plane * z;
    }
    bool operator==(const Dim3&) const = default;
};

struct KernelOperation {
    Dim3 grid;
    Dim3 block;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;  ///< static and dynamic, per block
    Time isolated;        ///< duration alone on the GPU; slowdown is against this
    Time measured;        ///< duration in the trace; zero if unknown
    DurationSource duration_source = DurationSource::kMeasuredAlone;
    Bytes bytes_read;  ///< from L2 and beyond, by the whole kernel
    Bytes bytes_written;
    double flops = 0;
    ByteSource byte_source = ByteSource::kClassDefault;
    KernelClass kernel_class = KernelClass::kOther;
    /// Of a CUDA graph, and not its last: its successors wait on the GPU, and nobody else does.
    bool inside_cuda_graph = false;
    /// Share of its bytes that it finds in the L2, alone on the GPU; negative: unknown.
    float l2_share = -1;
    KernelShape shape;  ///< what it computes, if known: its time on another GPU follows
    bool operator==(const KernelOperation&) const = default;
};

/// One rank's part in a collective. Parts are matched across ranks by (group, sequence).
struct CollectiveOperation {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;  ///< payload of one rank as nccl-tests counts it (all-reduce: the buffer;
                  ///< all-gather: the output)
    Datatype datatype = Datatype::kFloat32;
    std::uint32_t group = 0;     ///< index into ExecutionGraph::groups
    std::uint64_t sequence = 0;  ///< index of this collective among the group's on this rank
    SizeSource size_source = SizeSource::kTrace;
    std::uint32_t experts = 0;  ///< for a dispatch or combine: index into ExecutionGraph::experts
    /// For an all-to-all of unequal parts: 1 + index into ExecutionGraph::exchanges, the same on
    /// all its ranks, and `bytes` is what this rank sends; 0: all parts are equal.
    std::uint32_t exchange = 0;
    Time given;  ///< fixed duration, without traffic: measured in a run of its own; zero: simulated
    /// With `given`: a kernel of `thread_blocks` blocks holds its SMs while it waits for the other
    /// ranks and for `given` from the last one's arrival. False: nothing but time passes, and no
    /// rank waits for another.
    bool holds_blocks = false;
    /// With `holds_blocks`: bytes that the rank's memory serves for it, evenly over `given`, and
    /// buffers that it keeps in the L2; it takes longer where kernels beside it hold its bytes up.
    Bytes given_traffic;
    Bytes given_footprint;
    /// With `given_traffic`: those of a rank with the same number, not 0, take turns on its links,
    /// which they keep busy for so long of the given time.
    std::uint32_t given_links = 0;
    Time given_busy;
    /// What was measured that takes the given time: 1 + index into ExecutionGraph::measured_as;
    /// 0: not known.
    std::uint32_t measured_as = 0;
    Time measured;    ///< duration in the trace, waiting for peers included; zero if none
    Time peers_late;  ///< from this rank's arrival to that of the last untraced rank
    std::uint32_t thread_blocks = 0;  ///< of the communication kernel; 0 = let the model choose
    std::uint32_t threads_per_block = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
    ShortText algorithm;  ///< "ring", "tree", "nvls", ... if the trace states it; else empty
    ShortText protocol;   ///< "ll", "ll128", "simple" if the trace states it; else empty
    bool operator==(const CollectiveOperation&) const = default;
};

/// The k-th send of a tag from rank a to rank b matches the k-th receive of that tag on b.
struct SendOperation {
    std::uint32_t peer = 0;  ///< global rank
    Bytes bytes;
    std::uint64_t tag = 0;
    bool operator==(const SendOperation&) const = default;
};
struct ReceiveOperation {
    std::uint32_t peer = 0;
    Bytes bytes;
    std::uint64_t tag = 0;
    bool operator==(const ReceiveOperation&) const = default;
};

enum class CopyKind : std::uint8_t {
    kHostToDevice,
    kDeviceToHost,
    kDeviceToDevice,
    kMemset,
};
struct CopyOperation {
    CopyKind kind = CopyKind::kDeviceToDevice;
    Bytes bytes;
    Time isolated;  ///< duration in the trace; zero: the model decides
    bool operator==(const CopyOperation&) const = default;
};

/// Time that a host thread spends between two calls.
struct HostDelayOperation {
    Time duration;
    bool shared = false;  ///< the thread is that of all ranks, which it serves in order of arrival
    bool operator==(const HostDelayOperation&) const = default;
};

using OperationBody = std::variant<
    KernelOperation, CollectiveOperation, SendOperation, ReceiveOperation, CopyOperation,
    HostDelayOperation>;

/// One thing a rank does. It starts `gap` after the previous operation on its stream and all its
/// dependencies have ended.
struct Operation {
    std::uint32_t name = 0;    ///< index into ExecutionGraph::names
    std::uint32_t stream = 0;  ///< index into RankGraph::streams
    std::uint32_t step = 0;    ///< training iteration, from 0
    Phase phase = Phase::kOther;
    Time gap;  ///< launch latency, or a wait in the trace that no dependency explains
    Dependencies dependencies;  ///< earlier operations of the same rank, by index
    OperationBody body;
    bool operator==(const Operation&) const = default;
};

/// Everything lies in place, except long dependency lists, which are on the heap.
template <>
struct IsRelocatable<Operation> : std::true_type {
    static_assert(std::is_trivially_copyable_v<OperationBody>);
};

enum class StreamKind : std::uint8_t { kGpu, kHost };

struct Stream {
    StreamKind kind = StreamKind::kGpu;
    std::string name;           ///< as in the trace, for example "7"
    std::int32_t priority = 0;  ///< CUDA's: lower is more urgent
    bool operator==(const Stream&) const = default;
};

/// Operations of a rank that belong together, for example a pass of a pipeline: from the first
/// begin to the last end.
struct Span {
    std::uint32_t name = 0;  ///< index into ExecutionGraph::names
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t round = 0;  ///< of TrainingFacts
    Phase phase = Phase::kOther;
    bool operator==(const Span&) const = default;
};

/// Change of the bytes of a class that a rank of a generated step holds; negative: freed.
struct MemoryChange {
    std::uint32_t operation = 0;  ///< takes effect when this begins
    bool at_end = false;          ///< takes effect at its end instead
    MemoryClass what = MemoryClass::kActivations;
    std::int64_t bytes = 0;
    bool operator==(const MemoryChange&) const = default;
};

/// What one rank does. Operations on a stream run in index order; dependencies point backwards
/// only, so the graph is acyclic by construction.
struct RankGraph {
    std::vector<Stream> streams;
    BigVector<Operation> operations;
    std::vector<Span> spans;
    MemoryBytes held;                  ///< throughout, in a generated step
    std::vector<MemoryChange> memory;  ///< changes on top of it
    bool operator==(const RankGraph&) const = default;
};

struct Group {
    std::string name;
    std::vector<std::uint32_t> ranks;  ///< ascending global ranks
    /// If not 0, the ranks stand for this many: member m of all does what member m mod ranks.size()
    /// does.
    std::uint32_t stands_for = 0;
    std::vector<std::uint32_t> whole{};  ///< all these; empty: the first ranks of the machine
    bool operator==(const Group&) const = default;
};

/// How a collective ran whose time others are given.
struct MeasuredAs {
    std::string algorithm;  ///< as results name it
    std::string study;      ///< how switches reduced that nobody has built; empty: there are such
    std::uint32_t ranks = 0;
    std::uint32_t machines = 0;
    bool operator==(const MeasuredAs&) const = default;
};

/// What was measured where the workload was captured; empty for generated workloads.
struct Provenance {
    std::string source;  ///< file names or the generator
    std::string gpu_name;
    bool synthetic = false;  ///< no real run behind it; the report says so
    std::uint32_t traced_ranks = 0;
    std::uint32_t world_size = 0;
    Time measured_iteration;  ///< mean over all steps; zero if unknown
    bool operator==(const Provenance&) const = default;
};

/// What a generated step trains; all zero for traces.
struct TrainingFacts {
    double samples = 0;  ///< per round
    double flops = 0;    ///< per round, over all ranks: the model's, without recomputation
    /// Rounds are steps, or mini-batches of a pipeline that is never drained. `warm_up` rounds at
    /// either end do not run at the steady pace.
    std::uint32_t rounds = 1;
    std::uint32_t warm_up = 0;
    bool operator==(const TrainingFacts&) const = default;
};

/// What every workload lowers to.
struct ExecutionGraph {
    std::vector<std::string> names;
    std::vector<Group> groups;
    std::vector<ExpertExchange> experts;
    std::vector<UnevenExchange> exchanges;
    std::vector<MeasuredAs> measured_as;
    /// By rank, how many it stands for, which then have no operations; empty: all for themselves.
    std::vector<std::uint32_t> represents;
    std::vector<std::shared_ptr<const RankGraph>> ranks;  ///< several entries may share one graph
    std::uint32_t steps = 1;
    Provenance provenance;
    TrainingFacts training;
};

/// Number of ranks with operations: a rank may stand for others, which then have none.
[[nodiscard]] std::size_t ranks_at_work(const ExecutionGraph& graph);
/// The same with those that they stand for.
[[nodiscard]] std::size_t represented_ranks(const ExecutionGraph& graph);

/// What a rank counts in means over all ranks: as much as it stands for, relative to the rank that
/// stands for most.
class RankWeights {
public:
    explicit RankWeights(const ExecutionGraph& graph);
    [[nodiscard]] double of(std::size_t rank) const;
    /// Of the ranks with operations.
    [[nodiscard]] double total() const { return total_; }

private:
    std::vector<double> weights_;  ///< empty: all alike
    double total_ = 0;
};

/// Interns names: each distinct name gets one index.
class NameTable {
public:
    std::uint32_t intern(std::string_view name);
    [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> index_;
};

/// Throws InternalError naming the operation if a dependency points forward, a stream, name or
/// group does not exist, or a collective has no ranks.
void check(const ExecutionGraph& graph);

[[nodiscard]] std::string_view to_string(Phase phase);
[[nodiscard]] std::string_view to_string(CollectiveKind kind);
[[nodiscard]] std::string_view to_string(Datatype type);
[[nodiscard]] std::string_view to_string(KernelClass kernel_class);
[[nodiscard]] std::string_view to_string(ByteSource source);
[[nodiscard]] std::string_view to_string(DurationSource source);
[[nodiscard]] std::string_view to_string(SizeSource source);
[[nodiscard]] std::string_view to_string(CopyKind kind);
[[nodiscard]] std::string_view to_string(StreamKind kind);

}  // namespace switchfold
