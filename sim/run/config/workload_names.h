// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "workloads/graph/execution_graph.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace switchfold {

/// How late ranks come to a collective that were not traced.
enum class Peers : std::uint8_t {
    kAsTraced,  ///< as the traced rank's residence shows it
    kTogether,  ///< never
};
template <>
struct EnumNames<Peers> {
    static constexpr std::array<std::pair<Peers, std::string_view>, 2> kNames{
        {{Peers::kAsTraced, "as_traced"}, {Peers::kTogether, "together"}}};
};

// How configurations call what a workload moves.

template <>
struct EnumNames<CollectiveKind> {
    static constexpr std::array<std::pair<CollectiveKind, std::string_view>, 5> kNames{
        {{CollectiveKind::kAllReduce, "all_reduce"},
         {CollectiveKind::kReduceScatter, "reduce_scatter"},
         {CollectiveKind::kAllGather, "all_gather"},
         {CollectiveKind::kBroadcast, "broadcast"},
         {CollectiveKind::kAllToAll, "all_to_all"}}};
};
template <>
struct EnumNames<Datatype> {
    static constexpr std::array<std::pair<Datatype, std::string_view>, 3> kNames{
        {{Datatype::kFloat32, "float32"},
         {Datatype::kFloat16, "float16"},
         {Datatype::kBfloat16, "bfloat16"}}};
};

}  // namespace switchfold
