// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a device does for one micro-batch on one stage.
enum class PassKind : std::uint8_t {
    kForward,
    kBackward,        ///< gradients of the inputs and of the weights in one go
    kInputGradient,   ///< gradients of the inputs alone; the stage before waits for these
    kWeightGradient,  ///< gradients of the weights; only the update waits for these
    kUpdate,          ///< the optimizer's step; `micro_batch` is the last that went into it
};

/// A stage is a piece of the network, counted from the input; a device may hold several.
struct Pass {
    PassKind kind = PassKind::kForward;
    std::uint32_t micro_batch = 0;
    std::uint32_t stage = 0;
    bool operator==(const Pass&) const = default;
};

/// What a device does next: one pass, or a forward and a backward at the same time on two streams.
struct Slot {
    Pass pass;
    std::optional<Pass> beside;
    bool operator==(const Slot&) const = default;
};

/// The order in which every device of a pipeline runs its passes. It says nothing of times: the
/// clock (a replay with given times, or the machine) and the weights that a pass sees both follow
/// from it.
struct PipelineSchedule {
    std::string name;
    std::uint32_t micro_batches = 0;
    /// Where each stage runs, one list for each way through the devices: pipelines that run both
    /// ways and replicated stages have several.
    std::vector<std::vector<std::uint32_t>> routes;
    /// The route of a micro-batch; empty: all take the first.
    std::vector<std::uint32_t> route_of;
    std::vector<std::vector<Slot>> order;  ///< by device
    /// Updates that follow each other without a flush: passes see weights of different ages.
    bool asynchronous = false;
    /// Devices update without waiting for the norm of all gradients; they check it afterwards (Qi
    /// et al. 2024, section 4).
    bool no_barrier = false;

    [[nodiscard]] std::uint32_t devices() const { return static_cast<std::uint32_t>(order.size()); }
    [[nodiscard]] std::uint32_t stages() const {
        return routes.empty() ? 0 : static_cast<std::uint32_t>(routes.front().size());
    }
    [[nodiscard]] const std::vector<std::uint32_t>& route(std::uint32_t micro_batch) const {
        return routes[route_of.empty() ? 0 : route_of[micro_batch]];
    }
    /// Where a pass other than an update runs.
    [[nodiscard]] std::uint32_t device_of(const Pass& pass) const {
        return route(pass.micro_batch)[pass.stage];
    }
    /// Stages that a device holds, on any route, ascending.
    [[nodiscard]] std::set<std::uint32_t> stages_on(std::uint32_t device) const;
    /// Devices that hold a stage, on any route, ascending.
    [[nodiscard]] std::set<std::uint32_t> devices_with(std::uint32_t stage) const;
    bool operator==(const PipelineSchedule&) const = default;
};

/// A pass as schedule files write it: "F3@5" is the forward of micro-batch 3 on stage 5; "BW"
/// backward, "B" input gradient, "W" weight gradient, "U" update.
[[nodiscard]] std::string to_string(const Pass& pass);
[[nodiscard]] std::string_view to_string(PassKind kind);

[[nodiscard]] constexpr bool is_backward(PassKind kind) {
    return kind == PassKind::kBackward || kind == PassKind::kInputGradient;
}

}  // namespace switchfold
