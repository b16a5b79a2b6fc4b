// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Work of a device for one micro-batch on one stage.
enum class PassKind : std::uint8_t {
    kForward,
    kBackward,        ///< gradients of inputs and weights together
    kInputGradient,   ///< gradients of the inputs; the previous stage waits for them
    kWeightGradient,  ///< gradients of the weights; only the update waits for them
    kUpdate,          ///< optimizer step; `micro_batch` is the last one in it
};

/// A stage is a part of the network, counted from the input; a device may hold several.
struct Pass {
    PassKind kind = PassKind::kForward;
    std::uint32_t micro_batch = 0;
    std::uint32_t stage = 0;
    bool operator==(const Pass&) const = default;
};

/// A device's next action: one pass, or a forward and a backward concurrently on two streams.
struct Slot {
    Pass pass;
    std::optional<Pass> beside;
    bool operator==(const Slot&) const = default;
};

/// The order in which each device of a pipeline runs its passes, without times. Times follow from
/// it by replay or simulation; so do the weights that a pass sees.
struct PipelineSchedule {
    std::string name;
    std::uint32_t micro_batches = 0;
    /// Device of each stage, one list per route: bidirectional pipelines and replicated stages have
    /// several routes.
    std::vector<std::vector<std::uint32_t>> routes;
    /// Route of each micro-batch; empty: all take the first.
    std::vector<std::uint32_t> route_of;
    std::vector<std::vector<Slot>> order;  ///< by device
    /// Updates without flush: passes see weights of different ages.
    bool asynchronous = false;
    /// Devices update without waiting for the norm of all gradients and check it afterwards (Qi et
    /// al. 2024, section 4).
    bool no_barrier = false;

    [[nodiscard]] std::uint32_t devices() const { return static_cast<std::uint32_t>(order.size()); }
    [[nodiscard]] std::uint32_t stages() const {
        return routes.empty() ? 0 : static_cast<std::uint32_t>(routes.front().size());
    }
    [[nodiscard]] const std::vector<std::uint32_t>& route(std::uint32_t micro_batch) const {
        return routes[route_of.empty() ? 0 : route_of[micro_batch]];
    }
    /// The device of a pass that is not an update.
    [[nodiscard]] std::uint32_t device_of(const Pass& pass) const {
        return route(pass.micro_batch)[pass.stage];
    }
    /// Stages of a device, on any route, ascending.
    [[nodiscard]] std::set<std::uint32_t> stages_on(std::uint32_t device) const;
    /// Devices of a stage, on any route, ascending.
    [[nodiscard]] std::set<std::uint32_t> devices_with(std::uint32_t stage) const;
    bool operator==(const PipelineSchedule&) const = default;
};

/// Whether a device runs two passes at once anywhere.
[[nodiscard]] bool any_beside(const PipelineSchedule& schedule);

/// A pass as schedule files write it: "F3@5" is the forward of micro-batch 3 on stage 5; "BW"
/// backward, "B" input gradient, "W" weight gradient, "U" update.
[[nodiscard]] std::string to_string(const Pass& pass);
[[nodiscard]] std::string_view to_string(PassKind kind);

[[nodiscard]] constexpr bool is_backward(PassKind kind) {
    return kind == PassKind::kBackward || kind == PassKind::kInputGradient;
}

}  // namespace switchfold
