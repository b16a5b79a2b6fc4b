// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/memory_classes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

/// A piece of data that steps of an iteration read and write.
struct MemoryItem {
    std::string name;
    MemoryClass kind = MemoryClass::kActivations;
    std::uint64_t bytes = 0;
    /// Its value is needed in the next iteration: weights, moments. Others begin with the step that
    /// makes them and end with the last one that reads them.
    bool persistent = false;
    /// Never copied: it lies in the staging area while a step has it open, and nobody may pin it.
    bool scratch = false;
    bool read_by_convolution = false;  ///< backward of a convolution reads it (vDNN's choice)
    /// Copies to and from the host in an iteration if it is not pinned; count_copies() fills them.
    std::uint32_t fetches = 0;
    std::uint32_t keeps = 0;
    [[nodiscard]] std::uint32_t copies() const { return fetches + keeps; }
    /// Pinning it saves something.
    [[nodiscard]] bool candidate() const { return !scratch && copies() > 0 && bytes > 0; }
};

struct ItemAccess {
    std::uint32_t item = 0;
    bool writes = false;
};

enum class StepKind : std::uint8_t { kForward, kBackward, kUpdate };

/// Work during which a set of items has to be in the GPU's memory.
struct AccessStep {
    std::string name;
    StepKind kind = StepKind::kForward;
    double seconds = 0;
    std::vector<ItemAccess> open = {};
    std::uint32_t layer = 0;  ///< of the network that the schedule was made of
};

/// An iteration as memory sees it: F_1 .. F_L, B_L .. B_1, updates; the next one follows.
struct AccessSchedule {
    std::string name;
    std::vector<MemoryItem> items;
    std::vector<AccessStep> steps;
    /// Of what always stays and is no item: weights that nobody thinks of moving.
    std::uint64_t resident_bytes = 0;
};

/// Steps in a row that have an item open: it stays between them.
struct Stay {
    std::uint32_t item = 0;
    std::uint32_t first = 0;  ///< step
    std::uint32_t last = 0;   ///< before `first`: it stays over the end of the iteration
    bool fetch = false;       ///< copied in before
    bool keep = false;        ///< copied out behind: a later stay needs what was written
};

/// Of all items, by item, in the order of their steps. An item without value before its first step
/// is made there and not fetched; one that nobody reads again is not kept; what the host has
/// already is not kept either.
[[nodiscard]] std::vector<Stay> stays_of(const AccessSchedule& schedule);

/// Fills fetches and keeps from the stays.
void count_copies(AccessSchedule& schedule);

/// Throws InternalError for a step that opens an item twice or none that exists, or without steps.
void check(const AccessSchedule& schedule);

/// Of items that may be pinned.
[[nodiscard]] std::uint64_t candidate_bytes(const AccessSchedule& schedule);

}  // namespace switchfold
