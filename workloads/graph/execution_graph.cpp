// SPDX-License-Identifier: Apache-2.0
#include "workloads/graph/execution_graph.h"

#include "core/error.h"

#include <algorithm>
#include <numeric>

namespace switchfold {

std::size_t ranks_at_work(const ExecutionGraph& graph) {
    return static_cast<std::size_t>(
        std::count_if(graph.ranks.begin(), graph.ranks.end(), [](const auto& rank) {
            return !rank->operations.empty();
        }));
}

std::size_t represented_ranks(const ExecutionGraph& graph) {
    return graph.represents.empty()
               ? ranks_at_work(graph)
               : std::accumulate(graph.represents.begin(), graph.represents.end(), std::size_t{0});
}

RankWeights::RankWeights(const ExecutionGraph& graph) {
    if (graph.represents.empty()) {
        total_ = static_cast<double>(ranks_at_work(graph));
        return;
    }
    const double most = *std::max_element(graph.represents.begin(), graph.represents.end());
    for (const std::uint32_t ranks : graph.represents) {
        weights_.push_back(ranks / most);
        total_ += weights_.back();
    }
}

double RankWeights::of(std::size_t rank) const {
    return weights_.empty() ? 1 : weights_[rank];
}

Bytes size_of(Datatype type) {
    switch (type) {
    case Datatype::kFloat64:
    case Datatype::kInt64:
        return Bytes(8);
    case Datatype::kFloat32:
    case Datatype::kInt32:
        return Bytes(4);
    case Datatype::kFloat16:
    case Datatype::kBfloat16:
        return Bytes(2);
    case Datatype::kInt8:
    case Datatype::kUint8:
    case Datatype::kFloat8:
        break;
    }
    return Bytes(1);
}

std::uint32_t NameTable::intern(std::string_view name) {
    const auto [at, fresh] =
        index_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
    if (fresh)
        names_.emplace_back(name);
    return at->second;
}

namespace {

void check_rank(const ExecutionGraph& graph, const RankGraph& rank) {
    for (std::uint32_t i = 0; i < rank.operations.size(); ++i) {
        rank.operations.forget_at(i);
        const Operation& operation = rank.operations[i];
        SWITCHFOLD_CHECK(operation.name < graph.names.size(), "operation {} has no name", i);
        const std::string& name = graph.names[operation.name];
        SWITCHFOLD_CHECK(
            operation.stream < rank.streams.size(), "operation {} ({}) has no stream", i, name);
        for (const std::uint32_t dependency : operation.dependencies)
            SWITCHFOLD_CHECK(
                dependency < i, "operation {} ({}) depends on {}, which is not before it", i, name,
                dependency);
        if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            SWITCHFOLD_CHECK(
                collective->group < graph.groups.size() &&
                    !graph.groups[collective->group].ranks.empty(),
                "collective {} ({}) has no group", i, name);
        }
    }
    for (const MemoryChange& change : rank.memory)
        SWITCHFOLD_CHECK(
            change.operation < rank.operations.size(),
            "{} change at operation {}, which is not there", to_string(change.what),
            change.operation);
}

}  // namespace

void check(const ExecutionGraph& graph) {
    const RankGraph* last = nullptr;
    for (const auto& rank : graph.ranks) {
        SWITCHFOLD_CHECK(rank != nullptr, "a rank without operations");
        if (rank.get() != last)  // ranks that share a graph are adjacent
            check_rank(graph, *rank);
        last = rank.get();
    }
}

std::string_view to_string(Phase phase) {
    switch (phase) {
    case Phase::kForward:
        return "forward";
    case Phase::kBackward:
        return "backward";
    case Phase::kOptimizer:
        return "optimizer";
    case Phase::kOther:
        break;
    }
    return "other";
}

std::string_view to_string(CollectiveKind kind) {
    switch (kind) {
    case CollectiveKind::kAllReduce:
        return "all_reduce";
    case CollectiveKind::kReduceScatter:
        return "reduce_scatter";
    case CollectiveKind::kAllGather:
        return "all_gather";
    case CollectiveKind::kBroadcast:
        return "broadcast";
    case CollectiveKind::kReduce:
        return "reduce";
    case CollectiveKind::kSendReceive:
        return "send_receive";
    case CollectiveKind::kGather:
        return "gather";
    case CollectiveKind::kScatter:
        return "scatter";
    case CollectiveKind::kMoeDispatch:
        return "moe_dispatch";
    case CollectiveKind::kMoeCombine:
        return "moe_combine";
    case CollectiveKind::kAllToAll:
        break;
    }
    return "all_to_all";
}

std::string_view to_string(Datatype type) {
    switch (type) {
    case Datatype::kFloat32:
        return "float32";
    case Datatype::kFloat16:
        return "float16";
    case Datatype::kBfloat16:
        return "bfloat16";
    case Datatype::kFloat64:
        return "float64";
    case Datatype::kInt8:
        return "int8";
    case Datatype::kUint8:
        return "uint8";
    case Datatype::kInt32:
        return "int32";
    case Datatype::kInt64:
        return "int64";
    case Datatype::kFloat8:
        break;
    }
    return "float8";
}

std::string_view to_string(KernelClass kernel_class) {
    switch (kernel_class) {
    case KernelClass::kGemmConv:
        return "gemm_conv";
    case KernelClass::kAttention:
        return "attention";
    case KernelClass::kNorm:
        return "norm";
    case KernelClass::kReduction:
        return "reduction";
    case KernelClass::kElementwise:
        return "elementwise";
    case KernelClass::kCopyLayout:
        return "copy_layout";
    case KernelClass::kEmbeddingGather:
        return "embedding_gather";
    case KernelClass::kOptimizer:
        return "optimizer";
    case KernelClass::kOther:
        break;
    }
    return "other";
}

std::string_view to_string(ByteSource source) {
    switch (source) {
    case ByteSource::kCounters:
        return "counters";
    case ByteSource::kShapes:
        return "shapes";
    case ByteSource::kClassDefault:
        break;
    }
    return "class_default";
}

std::string_view to_string(DurationSource source) {
    switch (source) {
    case DurationSource::kMeasuredAlone:
        return "measured_alone";
    case DurationSource::kOtherOccurrence:
        return "other_occurrence";
    case DurationSource::kMeasuredOverlapped:
        return "measured_overlapped";
    case DurationSource::kCounts:
        return "counts";
    case DurationSource::kModel:
        break;
    }
    return "model";
}

std::string_view to_string(SizeSource source) {
    switch (source) {
    case SizeSource::kTrace:
        return "trace";
    case SizeSource::kUser:
        return "user";
    case SizeSource::kEstimatedFromDuration:
        break;
    }
    return "estimated_from_duration";
}

std::string_view to_string(CopyKind kind) {
    switch (kind) {
    case CopyKind::kHostToDevice:
        return "host_to_device";
    case CopyKind::kDeviceToHost:
        return "device_to_host";
    case CopyKind::kMemset:
        return "memset";
    case CopyKind::kDeviceToDevice:
        break;
    }
    return "device_to_device";
}

std::string_view to_string(StreamKind kind) {
    return kind == StreamKind::kHost ? "host" : "gpu";
}

}  // namespace switchfold
