// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/memory/update/gradient_groups.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// When weights are updated within an iteration. All policies give the same weights: a gradient is
/// complete before its update, and an update overwrites only weights that the iteration no longer
/// reads (or a copy of them). An update that is late by one step (ZeRO-Offload) is not covered.
enum class UpdatePolicy : std::uint8_t {
    kBatch,      ///< after the backward pass: all gradients live until then
    kImmediate,  ///< X, D, U of a layer in sequence
    /// D, then U beside X of the same layer and beside D of the next. U overwrites weights that X
    /// reads, so a shadow copy is needed. D writes one gradient while U reads another.
    kOverlapped,
    /// X before D, then U beside X of the next layer, which writes no weight gradient: one buffer
    /// suffices.
    kDelayed,
};
inline constexpr std::array<std::pair<UpdatePolicy, std::string_view>, 4> kUpdatePolicyNames{
    {{UpdatePolicy::kBatch, "batch"},
     {UpdatePolicy::kImmediate, "immediate"},
     {UpdatePolicy::kOverlapped, "overlapped"},
     {UpdatePolicy::kDelayed, "delayed"}}};
[[nodiscard]] std::string_view name_of(UpdatePolicy policy);

/// Other uses of gradients during training.
struct GradientUses {
    std::uint32_t accumulate = 1;  ///< micro-batches per update
    bool clip_by_global_norm = false;
    bool check_loss_scale = false;  ///< an overflow in any gradient skips the whole update
};

/// Reason why a policy other than batch would change the weights; empty if it does not.
[[nodiscard]] std::string refusal_of(UpdatePolicy policy, const GradientUses& uses);

struct UpdateOptions {
    UpdatePolicy policy = UpdatePolicy::kDelayed;
    /// Memory for gradients, for which weight gradients wait. 0: the least that the policy needs
    /// (overlapped: two neighbours). Ignored by batch.
    std::uint64_t ring = 0;
    /// Number of buffers of the largest group's size, instead of a ring of bytes; 0: a ring.
    std::uint32_t fixed_buffers = 0;
    double reduce_latency = 0;         ///< seconds per group's all-reduce
    double reduce_seconds_a_byte = 0;  ///< 0 with zero latency: one GPU
};

struct LiveGradients {
    double seconds = 0;
    std::uint64_t bytes = 0;
};

/// X or D of a layer, or the update of a group's layers.
struct UpdateEvent {
    enum class Kind : std::uint8_t { kInputGradient, kWeightGradient, kUpdate };
    Kind kind = Kind::kUpdate;
    std::uint32_t index = 0;  ///< of the layer or of the group
    double begin = 0;
    double end = 0;
};

struct UpdateReplay {
    std::string refusal;              ///< "what; what was expected"; then the rest is empty
    double seconds = 0;               ///< for backward pass and updates
    double stall = 0;                 ///< time that backward waits for room
    std::uint64_t reserved = 0;       ///< reserved for gradients
    std::uint64_t peak = 0;           ///< most gradient bytes live at a time
    std::uint64_t shadow = 0;         ///< copies of weights, besides the gradients
    std::vector<LiveGradients> live;  ///< valid from that time on, ascending
    std::vector<UpdateEvent> events;  ///< in the order in which they begin on their streams
};

/// Backward pass and updates without contention: gradients on one stream, all-reduces on a second,
/// updates on a third.
[[nodiscard]] UpdateReplay replay_update(
    const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups,
    const UpdateOptions& options);

}  // namespace switchfold
