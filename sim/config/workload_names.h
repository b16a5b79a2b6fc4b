// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// How late untraced ranks arrive at a collective.
enum class Peers : std::uint8_t {
    kAsTraced,  ///< as derived from the traced rank's residence
    kTogether,  ///< never late
};
template <>
struct EnumNames<Peers> {
    static constexpr std::array<std::pair<Peers, std::string_view>, 2> kNames{
        {{Peers::kAsTraced, "as_traced"}, {Peers::kTogether, "together"}}};
};

/// Durations of a trace's kernels alone.
enum class TracedTimes : std::uint8_t {
    kAsTraced,  ///< those of the GPU that was traced, on any GPU
    kRescaled,  ///< those times the model's ratio between the two GPUs
};
template <>
struct EnumNames<TracedTimes> {
    static constexpr std::array<std::pair<TracedTimes, std::string_view>, 2> kNames{
        {{TracedTimes::kAsTraced, "as_traced"}, {TracedTimes::kRescaled, "rescaled"}}};
};

// Names of collectives and datatypes in configurations.

template <>
struct EnumNames<CollectiveKind> {
    static constexpr std::array<std::pair<CollectiveKind, std::string_view>, 9> kNames{
        {{CollectiveKind::kAllReduce, "all_reduce"},
         {CollectiveKind::kReduceScatter, "reduce_scatter"},
         {CollectiveKind::kAllGather, "all_gather"},
         {CollectiveKind::kBroadcast, "broadcast"},
         {CollectiveKind::kReduce, "reduce"},
         {CollectiveKind::kAllToAll, "all_to_all"},
         {CollectiveKind::kSendReceive, "send_receive"},
         {CollectiveKind::kGather, "gather"},
         {CollectiveKind::kScatter, "scatter"}}};
};
template <>
struct EnumNames<Datatype> {
    static constexpr std::array<std::pair<Datatype, std::string_view>, 9> kNames{
        {{Datatype::kFloat32, "float32"},
         {Datatype::kFloat16, "float16"},
         {Datatype::kBfloat16, "bfloat16"},
         {Datatype::kFloat64, "float64"},
         {Datatype::kInt8, "int8"},
         {Datatype::kUint8, "uint8"},
         {Datatype::kInt32, "int32"},
         {Datatype::kInt64, "int64"},
         {Datatype::kFloat8, "float8"}}};
};

}  // namespace switchfold
