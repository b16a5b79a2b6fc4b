// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"
#include "workloads/plan/step/rank_map.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace switchfold {

/// A share of a whole that comes out in whole numbers, at least one.
[[nodiscard]] inline std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(value - 1e-9)));
}

struct KernelItem {
    std::string name;
    KernelOperation kernel;
};

/// What computes next waits for it, unless it runs beside: then until the next join.
struct CollectiveItem {
    std::string name;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    Datatype datatype = Datatype::kBfloat16;
    Sharing sharing = Sharing::kTensor;
    bool beside = false;
};
/// What computes next waits for the collectives that run beside.
struct JoinItem {};

/// From here on the gradients of a layer's weights are there.
struct GradientsItem {
    std::uint32_t layer = 0;
};

/// The weights of the layers that follow come together from the ranks that share them; they come
/// while the layers before compute.
struct GatherItem {
    Bytes bytes;
    Bytes experts;  ///< those that expert-parallel ranks hold different ones of
};

/// That many bytes more or, below 0, fewer: once what comes next begins, or what came before ends.
struct HoldItem {
    MemoryClass what = MemoryClass::kActivations;
    std::int64_t bytes = 0;
    bool at_end = false;
};

/// What a rank does in a pass, one after the other.
using WorkItem =
    std::variant<KernelItem, CollectiveItem, JoinItem, GradientsItem, GatherItem, HoldItem>;
using Work = std::vector<WorkItem>;

}  // namespace switchfold
