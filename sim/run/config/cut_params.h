// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/core/params_cursor.h"
#include "sim/core/params_schema.h"
#include "sim/core/units.h"
#include "workloads/cut/cut_choice.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<CutMethod> {
    static constexpr auto kNames = kCutMethodNames;
};
template <>
struct EnumNames<LstmWeights> {
    static constexpr auto kNames = kLstmWeightsNames;
};

/// Number of parts, or the layers of each.
struct CutParts {
    std::uint32_t count = 2;
    std::vector<std::vector<std::string>> layers;  ///< empty: chosen by a method
};
void read_value(const Cursor& c, CutParts& out);
[[nodiscard]] OrderedJson write_value(const CutParts& value);
template <>
struct SchemaOf<CutParts> {
    static OrderedJson make();
};

/// A network divided by layers and branches; docs/layer_division.md.
struct CutParams {
    CutParts parts;
    std::uint32_t gpus = 0;
    CutMethod method = CutMethod::kBest;
    std::uint32_t chunk_steps = 0;
    LstmWeights lstm_weights = LstmWeights::kL2;
    Time message_latency = CutChoice().message_latency;

    [[nodiscard]] CutChoice choice() const {
        return {
            parts.count, parts.layers, gpus, method, chunk_steps, lstm_weights, message_latency};
    }
    static constexpr auto fields() {
        using P = CutParams;
        return std::tuple{
            field(
                "parts",
                &P::parts,
                "How many parts, for method to find; or an array with the layers of each, by name "
                "or by how names begin (\"encoder*\")."),
            field(
                "gpus",
                &P::gpus,
                "GPUs of a replica, which share the parts evenly, each part on a stream of its "
                "own; 0: one a part.",
                0U,
                1024U),
            field(
                "method",
                &P::method,
                "exact: the busiest part is least, proven, for at most 64 layers; list: list "
                "scheduling, for any number; best: from both of these, moved layer by layer as "
                "long as the step gets shorter."),
            field(
                "chunk_steps",
                &P::chunk_steps,
                "Time steps after which an LSTM, and what follows it step by step, hands on what "
                "it has; 0: after the last.",
                0U,
                1U << 20U),
            field(
                "lstm_weights",
                &P::lstm_weights,
                "Where an LSTM's time steps but the first of a chunk read its weights: l2, as far "
                "as they fit; memory."),
            field(
                "message_latency",
                &P::message_latency,
                "Where method weighs messages: what one takes beside its bytes over "
                "link_bandwidth.")};
    }
};

}  // namespace switchfold
