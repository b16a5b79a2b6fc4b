// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/big_vector.h"
#include "sim/core/memory_classes.h"
#include "sim/core/units.h"
#include "workloads/graph/dependencies.h"
#include "workloads/graph/expert_exchange.h"
#include "workloads/graph/short_text.h"

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
    kSendReceive,  ///< a send with its receive, once they have been matched; of a group: every rank
                   ///< sends to the next
    kGather,       ///< every rank's share goes to the first
    kScatter,      ///< and from it
    kMoeDispatch,  ///< tokens go to the ranks of their experts
    kMoeCombine,   ///< and come back, added
};

inline constexpr std::array kCollectiveKinds{
    CollectiveKind::kAllReduce,
    CollectiveKind::kReduceScatter,
    CollectiveKind::kAllGather,
    CollectiveKind::kBroadcast,
    CollectiveKind::kReduce,
    CollectiveKind::kAllToAll,
    CollectiveKind::kSendReceive,
    CollectiveKind::kGather,
    CollectiveKind::kScatter};

enum class Datatype : std::uint8_t {
    kFloat32,
    kFloat16,
    kBfloat16,
    kFloat64,
    kInt8,
    kUint8,
    kInt32,
    kInt64,
    kFloat8,
};
[[nodiscard]] Bytes size_of(Datatype type);
/// The same, for arithmetic on counts that are no whole numbers.
[[nodiscard]] inline double element_bytes(Datatype type) {
    return static_cast<double>(size_of(type).count());
}

inline constexpr double kSingleBytes = 4;  ///< bytes of a number in 32 bits

/// What a kernel does, judged by its name: decides default bytes and how results are grouped.
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

/// Source of a kernel's byte counts; the report counts kernels by it.
enum class ByteSource : std::uint8_t { kCounters, kShapes, kClassDefault };

/// Source of a kernel's isolated duration.
enum class DurationSource : std::uint8_t {
    kMeasuredAlone,       ///< this very occurrence ran without communication beside it
    kOtherOccurrence,     ///< median of non-overlapped occurrences of the same kernel
    kMeasuredOverlapped,  ///< only overlapped occurrences exist: the measured value, an upper bound
    kModel,               ///< a generator's roofline: what is in a synthetic trace
};

/// Where a collective's size came from.
enum class SizeSource : std::uint8_t { kTrace, kUser, kEstimatedFromDuration };

struct Dim3 {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
    /// Not more than 64 bits hold: no GPU has as many.
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
    Bytes shared_memory;  ///< static and dynamic, of one block
    Time isolated;        ///< duration alone on the GPU; slowdown is against this
    Time measured;        ///< duration in the trace; zero if there was none
    DurationSource duration_source = DurationSource::kMeasuredAlone;
    Bytes bytes_read;  ///< from L2 and beyond, whole kernel
    Bytes bytes_written;
    double flops = 0;
    ByteSource byte_source = ByteSource::kClassDefault;
    KernelClass kernel_class = KernelClass::kOther;
    bool operator==(const KernelOperation&) const = default;
};

/// One rank's part in a collective. The parts of a collective are matched over the ranks by (group,
/// sequence).
struct CollectiveOperation {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;  ///< payload of one rank as nccl-tests counts it (all-reduce: the buffer;
                  ///< all-gather: the output)
    Datatype datatype = Datatype::kFloat32;
    std::uint32_t group = 0;     ///< index into ExecutionGraph::groups
    std::uint64_t sequence = 0;  ///< counts this group's collectives on this rank
    SizeSource size_source = SizeSource::kTrace;
    std::uint32_t experts = 0;  ///< of a dispatch or combine: index into ExecutionGraph::experts
    Time
        given;  ///< it takes so long and moves nothing: measured in a run of its own; zero: it runs
    Time measured;    ///< duration in the trace, waiting for peers included; zero if none
    Time peers_late;  ///< how much later than this rank the last of the others comes, if they
                      ///< were not traced
    std::uint32_t thread_blocks = 0;  ///< of the communication kernel; 0 = let the model choose
    std::uint32_t threads_per_block = 0;
    std::uint32_t registers_per_thread = 0;
    Bytes shared_memory;
    ShortText algorithm;  ///< "ring", "tree", "nvls", ... where the trace tells; else empty
    ShortText protocol;   ///< "ll", "ll128", "simple" where the trace tells; else empty
    bool operator==(const CollectiveOperation&) const = default;
};

/// The k-th send of a tag from one rank to another belongs to the k-th receive of it there.
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
    Time isolated;  ///< duration in the trace; zero lets the model decide
    bool operator==(const CopyOperation&) const = default;
};

/// Time that a host thread spends between two calls.
struct HostDelayOperation {
    Time duration;
    bool operator==(const HostDelayOperation&) const = default;
};

using OperationBody = std::variant<
    KernelOperation,
    CollectiveOperation,
    SendOperation,
    ReceiveOperation,
    CopyOperation,
    HostDelayOperation>;

/// One thing a rank does. It starts when the operation before it on its stream and all its
/// dependencies have ended and then `gap` has passed.
struct Operation {
    std::uint32_t name = 0;    ///< index into ExecutionGraph::names
    std::uint32_t stream = 0;  ///< index into RankGraph::streams
    std::uint32_t step = 0;    ///< training iteration, from 0
    Phase phase = Phase::kOther;
    Time gap;  ///< launch latency or a wait of the trace that no dependency explains
    Dependencies dependencies;  ///< operations of the same rank, each with a smaller index
    OperationBody body;
    bool operator==(const Operation&) const = default;
};

/// All of it lies in place but dependencies that are many, and those elsewhere.
template <>
struct IsRelocatable<Operation> : std::true_type {
    static_assert(std::is_trivially_copyable_v<OperationBody>);
};

enum class StreamKind : std::uint8_t { kGpu, kHost };

struct Stream {
    StreamKind kind = StreamKind::kGpu;
    std::string name;           ///< as the trace calls it, for example "7"
    std::int32_t priority = 0;  ///< CUDA's: lower is more urgent
    bool operator==(const Stream&) const = default;
};

/// Operations of a rank that belong together, as a pass of a pipeline: from when the first begins
/// until the last ends.
struct Span {
    std::uint32_t name = 0;  ///< index into ExecutionGraph::names
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t round = 0;  ///< of TrainingFacts
    Phase phase = Phase::kOther;
    bool operator==(const Span&) const = default;
};

/// A rank of a generated step holds that many bytes more or, below 0, fewer of a class.
struct MemoryChange {
    std::uint32_t operation = 0;  ///< from its begin on
    bool at_end = false;          ///< from its end on instead
    MemoryClass what = MemoryClass::kActivations;
    std::int64_t bytes = 0;
    bool operator==(const MemoryChange&) const = default;
};

/// What one rank does. Operations on a stream run in the order of their index; dependencies point
/// backwards only, so the graph has no cycles by construction.
struct RankGraph {
    std::vector<Stream> streams;
    BigVector<Operation> operations;
    std::vector<Span> spans;
    MemoryBytes held;                  ///< all along, of a generated step
    std::vector<MemoryChange> memory;  ///< on top of it
    bool operator==(const RankGraph&) const = default;
};

struct Group {
    std::string name;
    std::vector<std::uint32_t> ranks;  ///< ascending global ranks
    bool operator==(const Group&) const = default;
};

/// What was measured where the workload was captured; empty for generated workloads.
struct Provenance {
    std::string source;  ///< file names or generator
    std::string gpu_name;
    bool synthetic = false;  ///< no real run behind it: the report says so
    std::uint32_t traced_ranks = 0;
    std::uint32_t world_size = 0;
    Time measured_iteration;  ///< mean over the steps; zero if unknown
    bool operator==(const Provenance&) const = default;
};

/// What a generated step trains; all zero for traces.
struct TrainingFacts {
    double samples = 0;  ///< a round
    double flops = 0;    ///< a round: the model's, on all ranks, recomputed ones not
    /// Steps, or mini-batches of a pipeline that is never drained, and how many of them at either
    /// end are not yet or no longer at the steady pace.
    std::uint32_t rounds = 1;
    std::uint32_t warm_up = 0;
    bool operator==(const TrainingFacts&) const = default;
};

/// What every workload lowers to.
struct ExecutionGraph {
    std::vector<std::string> names;
    std::vector<Group> groups;
    std::vector<ExpertExchange> experts;
    std::vector<std::shared_ptr<const RankGraph>>
        ranks;  ///< one trace may stand for several: they share it
    std::uint32_t steps = 1;
    Provenance provenance;
    TrainingFacts training;
};

/// Ranks that do anything: a rank may stand for others, which then do nothing.
[[nodiscard]] std::size_t ranks_at_work(const ExecutionGraph& graph);

/// Gives each distinct name one index.
class NameTable {
public:
    std::uint32_t intern(std::string_view name);
    [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> index_;
};

/// Throws InternalError naming the operation if a dependency points forward, a stream, name or
/// group does not exist or a collective has no ranks.
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
