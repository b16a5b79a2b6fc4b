// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "core/units.h"
#include "training/placement/placement_choice.h"

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<PlacementMethod> {
    static constexpr auto kNames = kPlacementMethodNames;
};
template <>
struct EnumNames<LstmWeights> {
    static constexpr auto kNames = kLstmWeightsNames;
};

/// Number of parts, or the layers of each.
struct PlacementParts {
    std::uint32_t count = 2;
    std::vector<std::vector<std::string>> layers;  ///< empty: chosen by a method
};
void read_value(const Cursor& c, PlacementParts& out);
[[nodiscard]] OrderedJson write_value(const PlacementParts& value);
template <>
struct SchemaOf<PlacementParts> {
    static OrderedJson make();
};

/// A network divided by layers and branches; docs/plans.md#layers-and-branches.
struct PlacementParams {
    PlacementParts parts;
    std::uint32_t gpus = 0;
    PlacementMethod method = PlacementMethod::kBest;
    std::uint32_t chunk_steps = 0;
    LstmWeights lstm_weights = LstmWeights::kL2;
    Time message_latency = PlacementChoice().message_latency;

    [[nodiscard]] PlacementChoice choice() const {
        return {parts.count, parts.layers, gpus,           method,
                chunk_steps, lstm_weights, message_latency};
    }
    static constexpr auto fields() {
        using P = PlacementParams;
        return list_of(
            field(
                "parts", &P::parts,
                "Number of parts, found by `method`; or an array with the layers of each part, by "
                "name or by name prefix (\"encoder*\")."),
            field(
                "gpus", &P::gpus,
                "GPUs of a replica, over which the parts are divided evenly, each on its own "
                "stream; 0: one per part.",
                0U, 1024U),
            field(
                "method", &P::method,
                "exact: provably least load of the busiest part, for at most 64 layers; list: list "
                "scheduling, for any number of layers; best: local search from both, moving single "
                "layers while the step gets shorter."),
            field(
                "chunk_steps", &P::chunk_steps,
                "Time steps per chunk in which an LSTM, and layers that follow it step by step, "
                "pass on results; 0: all at once after the last step.",
                0U, 1U << 20U),
            field(
                "lstm_weights", &P::lstm_weights,
                "Source of an LSTM's weights in all time steps but the first of a chunk: l2, as "
                "far as they fit; memory."),
            field(
                "message_latency", &P::message_latency,
                "Fixed cost of a message, in addition to its bytes over link_bandwidth, where "
                "`method` weighs messages."));
    }
};

}  // namespace switchfold
