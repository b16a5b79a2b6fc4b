// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/memory_classes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A piece of data that steps of an iteration read and write.
struct MemoryItem {
    std::string name;
    MemoryClass kind = MemoryClass::kActivations;
    std::uint64_t bytes = 0;
    /// Its value is needed in the next iteration: weights, moments. Other items live from the step
    /// that produces them to the last step that reads them.
    bool persistent = false;
    /// Never copied and never retained: lies in the staging area while a step has it open.
    bool scratch = false;
    bool read_by_convolution = false;  ///< read by the backward of a convolution (vDNN's criterion)
    /// Copies from and to the host per iteration if the item is not retained; set by
    /// count_copies().
    std::uint32_t prefetches = 0;
    std::uint32_t offloads = 0;
    [[nodiscard]] std::uint32_t copies() const { return prefetches + offloads; }
    /// Whether retaining it saves copies.
    [[nodiscard]] bool candidate() const { return !scratch && copies() > 0 && bytes > 0; }
};

struct ItemAccess {
    std::uint32_t item = 0;
    bool writes = false;
    bool anew = false;  ///< what the item held before is not needed: a later micro-batch's value
};

enum class UseKind : std::uint8_t {
    kForward,
    kBackward,
    kUpdate,
    kAgain,  ///< a forward repeated for the backward
};

/// Work that needs a set of items in the GPU's memory.
struct LayerUse {
    std::string name;
    UseKind kind = UseKind::kForward;
    double seconds = 0;
    std::vector<ItemAccess> open = {};
    std::uint32_t layer = 0;  ///< index in the network that the schedule was made from
    std::uint32_t micro_batch = 0;
};

/// Memory accesses of an iteration: F_1 .. F_L, B_L .. B_1 of each micro-batch, updates; iterations
/// repeat.
struct TensorUses {
    std::string name;
    std::vector<MemoryItem> items;
    std::vector<LayerUse> steps;
    /// Resident data that are no items: weights that are never moved.
    std::uint64_t resident_bytes = 0;
};

/// Consecutive steps that have an item open: it stays in memory between them.
struct Stay {
    std::uint32_t item = 0;
    std::uint32_t first = 0;  ///< first step
    std::uint32_t last =
        0;  ///< last step; if before `first`, the stay spans the end of the iteration
    bool prefetch = false;  ///< copied in before the stay
    bool offload = false;   ///< copied out after the stay: a later stay needs what was written
};

/// Stays of all items, by item, in step order. An item is not prefetched if its first step produces
/// it, and not offloaded if nobody reads it again or the host already has its value.
[[nodiscard]] std::vector<Stay> stays_of(const TensorUses& schedule);

/// Sets each item's prefetches and offloads from its stays.
void count_copies(TensorUses& schedule);

/// Throws InternalError if there are no steps, or a step opens an item twice or one that does not
/// exist.
void check(const TensorUses& schedule);

/// Total bytes of items that may be retained.
[[nodiscard]] std::uint64_t candidate_bytes(const TensorUses& schedule);

}  // namespace switchfold
