// SPDX-License-Identifier: Apache-2.0
// Shapes of operators, from the execution trace of the same run.
#include "core/error.h"
#include "workloads/profile/event_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace switchfold {

namespace {

/// The execution trace's node for an operator; null unless number and name match.
const ExecutionTrace::Node* node_of(
    const RawTrace& raw, const CpuOperator& op, std::uint64_t offset, const ExecutionTrace& trace) {
    if (op.external_id == CpuOperator::kNoId || op.external_id < offset)
        return nullptr;
    const auto node = trace.by_record.find(op.external_id - offset);
    if (node == trace.by_record.end() ||
        node->second.name != raw.texts[raw.operator_kinds[op.kind].name])
        return nullptr;
    return &node->second;
}

/// Offset from an operator's number in the execution trace to its external id: both count the same
/// calls from different starts. The offset with the most matching names wins.
std::optional<std::uint64_t> record_offset(
    const RawTrace& raw, const BigVector<CpuOperator>& operators, const ExecutionTrace& trace) {
    constexpr std::uint64_t kFurthest = 8;
    std::optional<std::uint64_t> best;
    std::uint64_t most = 0;
    for (std::uint64_t offset = 0; offset <= kFurthest; ++offset) {
        std::uint64_t agree = 0;
        for (const CpuOperator& op : operators.pass()) {
            const ExecutionTrace::Node* const node = node_of(raw, op, offset, trace);
            agree += node != nullptr ? 1 : 0;
        }
        if (agree > most) {
            most = agree;
            best = offset;
        }
    }
    // Half suffices: one of the two may have begun earlier or ended later.
    return 2 * most >= std::min<std::uint64_t>(operators.size(), trace.by_record.size())
               ? best
               : std::nullopt;
}

}  // namespace

void EventCollector::take_shapes(const ExecutionTrace& trace) {
    const std::optional<std::uint64_t> offset = record_offset(raw_, operators_, trace);
    if (!offset)
        throw ConfigError(
            trace.file, "/nodes",
            fmt::format(
                "are other operators than those of {}; expected the execution trace of the same "
                "run and rank, right behind its Kineto trace",
                raw_.report.file));
    std::uint64_t found = 0;
    std::uint64_t filled = 0;
    for (CpuOperator& op : operators_.pass()) {
        const ExecutionTrace::Node* const node = node_of(raw_, op, *offset, trace);
        if (node == nullptr)
            continue;
        ++found;
        OperatorKind kind = raw_.operator_kinds[op.kind];
        if (kind.input_dims != 0)
            continue;
        ++filled;
        kind.input_dims = raw_.texts.add(node->input_dims);
        kind.input_types = raw_.texts.add(node->input_types);
        op.kind = raw_.operator_kinds.add(kind);
    }
    raw_.report.warnings.push_back(fmt::format(
        "execution trace {}: {} of its {} nodes are operators of this trace, {} of them got their "
        "shapes from it",
        trace.file, found, trace.nodes, filled));
}

}  // namespace switchfold
