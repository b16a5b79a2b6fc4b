// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/rank_map.h"
#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace switchfold {

/// A share of a whole, rounded to an integer of at least one.
[[nodiscard]] inline std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(std::max(1.0, std::ceil(value - 1e-9)));
}

/// Rounded up to whole bytes.
[[nodiscard]] inline Bytes bytes_of(double value) {
    return Bytes(static_cast<std::uint64_t>(std::ceil(value)));
}

/// Launches of kernels that take the GPU next to no time; the host takes its time for each.
struct CallsItem {
    std::uint32_t count = 0;
};

/// The host makes no further call until the GPU has ended everything before.
struct HostWaitItem {};

struct KernelItem {
    std::string name;
    KernelOperation kernel;
    std::uint32_t waves = 1;  ///< of tiles
};

/// Later computation waits for it; if `beside`, only from the next join on.
struct CollectiveItem {
    std::string name;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
    Datatype datatype = Datatype::kBfloat16;
    Sharing sharing = Sharing::kTensor;
    bool beside = false;
};
/// Later computation waits for the collectives that run beside.
struct JoinItem {};

/// A layer's part of the pass begins: its forward, also where that is repeated, or its gradients.
struct LayerItem {
    std::uint32_t layer = 0;
};

/// From here on the gradients of a layer's weights are available.
struct GradientsItem {
    std::uint32_t layer = 0;
};

/// Gathers the weights of the following layers from the ranks that share them, while the previous
/// layers compute.
struct GatherItem {
    Bytes bytes;
    Bytes experts;  ///< those that differ between expert-parallel ranks
    /// Backward: they are still there if the pass follows their forward.
    bool left = false;
};

/// Changes memory by `bytes` (negative: frees) when the next item begins or, if `at_end`, when the
/// previous one ends.
struct HoldItem {
    MemoryClass what = MemoryClass::kActivations;
    std::int64_t bytes = 0;
    bool at_end = false;
};

/// One item of a rank's pass; items run in order.
using WorkItem = std::variant<
    KernelItem, CallsItem, HostWaitItem, CollectiveItem, JoinItem, LayerItem, GradientsItem,
    GatherItem, HoldItem>;
using Work = std::vector<WorkItem>;

}  // namespace switchfold
