// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/experts/expert_splits.h"

#include "core/named_path.h"
#include "workloads/profile/whole_run.h"
#include "workloads/readers/read_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

/// The all-to-all of that number among those of the first rank.
const CollectiveOperation* find_call(const ExecutionGraph& graph, std::uint32_t number) {
    for (const Operation& operation : graph.ranks.front()->operations)
        if (const auto* c = std::get_if<CollectiveOperation>(&operation.body);
            c != nullptr && c->kind == CollectiveKind::kAllToAll && !c->holds_blocks &&
            number-- == 0)
            return c;
    return nullptr;
}

UnevenExchange parts_of(const ExecutionGraph& graph, const CollectiveOperation& call) {
    if (call.exchange != 0)
        return graph.exchanges[call.exchange - 1];
    const auto ranks = static_cast<std::uint32_t>(graph.groups[call.group].ranks.size());
    UnevenExchange even = UnevenExchange::of(ranks);
    std::fill(even.bytes.begin(), even.bytes.end(), call.bytes.count() / ranks);
    return even;
}

class SplitsOfTrace {
public:
    SplitsOfTrace(
        const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks) :
        splits_(**w.splits), hidden_(w.hidden), context_(context), ranks_(ranks) {}

    std::vector<std::uint32_t> run(std::vector<std::string>& notes) const {
        ReadOptions options;
        for (const std::string& file : splits_.trace)
            options.files.push_back(path_named_in(context_.file(), file));
        TraceWorkload trace = read_traces(options);
        WholeRun whole = complete_run(trace, trace.graph.provenance.world_size, true);
        if (!whole.problems.empty())
            context_.fail("/workload/splits/trace", whole.problems.front());
        for (std::string& note : whole.notes)
            notes.push_back(std::move(note));
        const CollectiveOperation* call = find_call(trace.graph, splits_.call);
        if (call == nullptr)
            context_.fail(
                "/workload/splits/call",
                fmt::format(
                    "is {}, and the trace's first rank has fewer all-to-alls; expected a number "
                    "below theirs, from 0",
                    splits_.call));
        return rows_of(parts_of(trace.graph, *call), call->datatype);
    }

private:
    [[nodiscard]] std::vector<std::uint32_t>
    rows_of(const UnevenExchange& parts, Datatype datatype) const {
        if (parts.ranks != ranks_)
            context_.fail(
                "/workload/splits/call",
                fmt::format(
                    "is an all-to-all of {} ranks, and {} exchange tokens; expected one of as "
                    "many, or as many ranks",
                    parts.ranks, ranks_));
        const std::uint64_t row = hidden_ * size_of(datatype).count();
        std::vector<std::uint32_t> rows;
        for (std::uint32_t from = 0; from < ranks_; ++from)
            for (std::uint32_t to = 0; to < ranks_; ++to) {
                const std::uint64_t bytes = parts.at(from, to);
                if (bytes % row != 0 || bytes / row > std::numeric_limits<std::uint32_t>::max())
                    context_.fail(
                        "/workload/hidden",
                        fmt::format(
                            "is {}, and rank {} sends {} bytes to rank {} in the trace's "
                            "all-to-all {}; expected tokens of which that is a whole number of {} "
                            "bytes",
                            hidden_, from, bytes, to, splits_.call, row));
                rows.push_back(static_cast<std::uint32_t>(bytes / row));
            }
        return rows;
    }

    const ExpertSplitsParams& splits_;
    std::uint64_t hidden_;
    const WorkloadContext& context_;
    std::uint32_t ranks_;
};

}  // namespace

std::vector<std::uint32_t> read_splits(
    const ExpertsWorkloadParams& w, const WorkloadContext& context, std::uint32_t ranks,
    std::vector<std::string>& notes) {
    const ExpertSplitsParams& splits = **w.splits;
    if (!splits.trace.empty())
        return SplitsOfTrace(w, context, ranks).run(notes);
    if (splits.rows.size() != ranks)
        context.fail(
            "/workload/splits/rows",
            fmt::format(
                "has {} lists, and {} ranks exchange tokens; expected a list for each rank",
                splits.rows.size(), ranks));
    std::vector<std::uint32_t> rows;
    for (const std::vector<std::uint32_t>& from : splits.rows)
        rows.insert(rows.end(), from.begin(), from.end());
    return rows;
}

}  // namespace switchfold
