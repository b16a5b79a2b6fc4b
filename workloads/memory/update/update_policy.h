// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/memory/update/gradient_groups.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

/// When weights are updated within an iteration. All end with the same weights: a gradient is
/// complete before its update, and an update writes what nobody of the iteration reads any more (or
/// a copy of it). A parameter update that is late by a step (ZeRO-Offload) is something else.
enum class UpdatePolicy : std::uint8_t {
    kBatch,      ///< after the backward pass: all gradients live until then
    kImmediate,  ///< X, D, U of a layer one after the other
    /// D, then U beside X of the same layer and beside D of the next. U writes the weights that X
    /// reads: it needs a shadow of them. D writes a gradient while U reads another.
    kOverlapped,
    /// X before D, then U beside X of the next layer, which writes no weight gradient: one buffer.
    kDelayed,
};
inline constexpr std::array<std::pair<UpdatePolicy, std::string_view>, 4> kUpdatePolicyNames{
    {{UpdatePolicy::kBatch, "batch"},
     {UpdatePolicy::kImmediate, "immediate"},
     {UpdatePolicy::kOverlapped, "overlapped"},
     {UpdatePolicy::kDelayed, "delayed"}}};
[[nodiscard]] std::string_view name_of(UpdatePolicy policy);

/// What else training does with gradients.
struct GradientUses {
    std::uint32_t accumulate = 1;  ///< micro-batches of an update
    bool clip_by_global_norm = false;
    bool check_loss_scale = false;  ///< an overflow anywhere skips the whole update
};

/// Why a policy other than batch would give other weights; empty if it does not.
[[nodiscard]] std::string refusal_of(UpdatePolicy policy, const GradientUses& uses);

struct UpdateOptions {
    UpdatePolicy policy = UpdatePolicy::kDelayed;
    /// Memory for gradients: a weight gradient waits until there is room. 0: the least with which
    /// the policy works, two neighbours for overlapped. Without meaning for batch.
    std::uint64_t ring = 0;
    /// So many buffers of the largest group instead of a ring of bytes; 0: a ring.
    std::uint32_t fixed_buffers = 0;
    double reduce_latency = 0;         ///< seconds, of a group's all-reduce
    double reduce_seconds_a_byte = 0;  ///< 0 and no latency: one GPU
};

struct LiveGradients {
    double seconds = 0;
    std::uint64_t bytes = 0;
};

/// X or D of a layer, or the update of a group's layers.
struct UpdateEvent {
    enum class Kind : std::uint8_t { kInputGradient, kWeightGradient, kUpdate };
    Kind kind = Kind::kUpdate;
    std::uint32_t index = 0;  ///< of the layer, or of the group
    double begin = 0;
    double end = 0;
};

struct UpdateReplay {
    std::string refusal;              ///< "what; what was expected"; the rest is empty then
    double seconds = 0;               ///< backward pass and updates
    double stall = 0;                 ///< backward waited for room
    std::uint64_t reserved = 0;       ///< memory set aside for gradients
    std::uint64_t peak = 0;           ///< of them live at the same time
    std::uint64_t shadow = 0;         ///< of weights, beside the gradients
    std::vector<LiveGradients> live;  ///< from that time on, ascending
    std::vector<UpdateEvent> events;  ///< in the order in which they were begun on their streams
};

/// The backward pass and updates without contention: gradients on one stream, all-reduces on a
/// second, updates on a third.
[[nodiscard]] UpdateReplay replay_update(
    const std::vector<UpdateLayer>& layers,
    const std::vector<GradientGroup>& groups,
    const UpdateOptions& options);

}  // namespace switchfold
