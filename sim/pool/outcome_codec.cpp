// SPDX-License-Identifier: Apache-2.0
#include "sim/pool/outcome_codec.h"

#include "core/byte_codec.h"
#include "core/statistics_record.h"
#include "models/collectives/engine.h"

namespace switchfold {

namespace {

/// All figures that a simulation counts, as one member of its record.
struct CountedFigures {
    static void each(const Outcome& outcome, const auto& visit) {
        visit(static_cast<const SimulationFigures&>(outcome));
    }
    static void each(Outcome& outcome, const auto& visit) {
        visit(static_cast<SimulationFigures&>(outcome));
    }
};

}  // namespace

// CollectiveRecord is complete here alone.
template <>
struct RecordFields<Outcome> {
    static constexpr auto list() {
        using O = Outcome;
        return list_of(
            CountedFigures(), member("times", &O::times), member("collectives", &O::collectives),
            member("statistics", &O::statistics), member("counters", &O::counters),
            member("loads", &O::loads), member("notes", &O::notes), member("end_ps", &O::end_ps),
            member("events", &O::events));
    }
};

std::string encode(const Outcome& outcome) {
    return value_bytes(outcome);
}

Outcome decode(std::string_view bytes) {
    return value_of_bytes<Outcome>(bytes);
}

}  // namespace switchfold
