// SPDX-License-Identifier: Apache-2.0
#include "training/memory/copies/ring_waits.h"

#include "core/error.h"

namespace switchfold {

std::uint64_t bytes_of(const TensorUses& schedule, const std::vector<std::uint32_t>& items) {
    std::uint64_t bytes = 0;
    for (const std::uint32_t item : items)
        bytes += schedule.items[item].bytes;
    return bytes;
}

std::vector<std::optional<std::uint32_t>> room_waits(
    const TensorUses& schedule, const std::vector<bool>& retained,
    const std::vector<StepMoves>& moves, std::uint64_t ring, bool ahead) {
    std::uint64_t used = 0;
    for (const Stay& stay : stays_of(schedule))
        if (!retained[stay.item] && stay.first > stay.last)
            used += schedule.items[stay.item].bytes;  // still there from the previous iteration
    std::vector<std::optional<std::uint32_t>> waits(moves.size());
    std::uint32_t given_back = 0;  // number of steps
    for (std::uint32_t t = 0; t < moves.size(); ++t) {
        used += bytes_of(schedule, moves[t].prefetch) + bytes_of(schedule, moves[t].make);
        while (given_back < t && (used > ring || !ahead)) {
            used -= bytes_of(schedule, moves[given_back].drop) +
                    bytes_of(schedule, moves[given_back].offload);
            ++given_back;
        }
        SWITCHFOLD_CHECK(used <= ring, "a step needs {} bytes of a ring of {}", used, ring);
        if (given_back > 0)
            waits[t] = given_back - 1;
    }
    return waits;
}

}  // namespace switchfold
