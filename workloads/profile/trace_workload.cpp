// SPDX-License-Identifier: Apache-2.0
#include "workloads/profile/trace_workload.h"

#include "core/error.h"
#include "workloads/graph/contrary_waits.h"
#include "workloads/graph/group_table.h"
#include "workloads/graph/uneven_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace switchfold {

namespace {

/// One rank to be added to the common graph.
struct JoinedRank {
    TraceFileReport report;
    std::shared_ptr<const RankGraph> graph;
    BigVector<TraceWorkload::Measured> measured;
};

/// Maps names and groups of several graphs to common indices.
class Joiner {
public:
    std::vector<JoinedRank> add(TraceWorkload&& workload) {
        std::vector<std::uint32_t> names;
        for (const std::string& name : workload.graph.names)
            names.push_back(names_.intern(name));
        std::vector<std::uint32_t> groups;
        for (const Group& group : workload.graph.groups)
            groups.push_back(group_table_.index(group));
        const auto exchanges = static_cast<std::uint32_t>(exchanges_.size());
        for (UnevenExchange& exchange : workload.graph.exchanges)
            exchanges_.push_back(std::move(exchange));
        std::vector<JoinedRank> parts;
        for (std::size_t i = 0; i < workload.graph.ranks.size(); ++i) {
            const std::shared_ptr<RankGraph> graph = taken(std::move(workload.graph.ranks[i]));
            for (Operation& operation : graph->operations.pass()) {
                operation.name = names[operation.name];
                if (auto* c = std::get_if<CollectiveOperation>(&operation.body)) {
                    c->group = groups[c->group];
                    if (c->exchange != 0)
                        c->exchange += exchanges;
                }
            }
            parts.push_back(
                {std::move(workload.files[i]), graph,
                 i < workload.measured.size() ? std::move(workload.measured[i])
                                              : BigVector<TraceWorkload::Measured>{}});
        }
        return parts;
    }
    void finish(ExecutionGraph& graph) {
        graph.names = names_.take();
        graph.groups = std::move(groups_);
        graph.exchanges = std::move(exchanges_);
    }

private:
    /// The graph to change: the original if it is not shared, because the ranks of a run may fill
    /// the memory; otherwise a copy.
    static std::shared_ptr<RankGraph> taken(std::shared_ptr<const RankGraph> graph) {
        if (graph.use_count() == 1)
            return std::const_pointer_cast<RankGraph>(std::move(graph));
        return std::make_shared<RankGraph>(*graph);
    }

    NameTable names_;
    std::vector<Group> groups_;
    std::vector<UnevenExchange> exchanges_;
    GroupTable group_table_{groups_};
};

void check_ranks(const std::vector<JoinedRank>& parts) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const TraceFileReport& before = parts[i - 1].report;
        const TraceFileReport& here = parts[i].report;
        if (before.rank == here.rank)
            throw ConfigError(
                here.file, "",
                fmt::format(
                    "rank {} is also {}'s; expected each rank once", here.rank, before.file));
        if (before.steps != here.steps)
            throw ConfigError(
                here.file, "/traceEvents",
                fmt::format(
                    "has {} steps where {} has {}; expected traces of the same steps", here.steps,
                    before.file, before.steps));
    }
}

std::string numbers_of(const TraceFileReport& file) {
    const auto& numbers = file.step_numbers;
    return numbers.front() == numbers.back()
               ? fmt::format("step is {}", numbers.front())
               : fmt::format("steps are {} to {}", numbers.front(), numbers.back());
}

/// Ranks that traced other steps do alike work, but did not wait for each other in it.
void tell_step_numbers(TraceWorkload& joined) {
    const TraceFileReport& first = joined.files.front();
    for (TraceFileReport& file : joined.files) {
        if (file.step_numbers.empty() || first.step_numbers.empty() ||
            file.step_numbers == first.step_numbers)
            continue;
        file.warnings.push_back(fmt::format(
            "rank {}'s {}, rank {}'s {}: they are replayed as the same ones, and the clocks are "
            "aligned over different steps",
            file.rank, numbers_of(file), first.rank, numbers_of(first)));
    }
}

/// "ring ll", "nvls"; parts that the trace does not state are left out.
std::string told_algorithm(const CollectiveOperation& collective) {
    const std::string algorithm(collective.algorithm.text());
    const std::string protocol(collective.protocol.text());
    if (algorithm.empty() && protocol.empty())
        return "not told";
    return algorithm + (algorithm.empty() || protocol.empty() ? "" : " ") + protocol;
}

}  // namespace

void count_operations(const RankGraph& rank, TraceFileReport& report) {
    report.streams = static_cast<std::uint32_t>(
        std::count_if(rank.streams.begin(), rank.streams.end(), [](const Stream& stream) {
            return stream.kind == StreamKind::kGpu;
        }));
    for (const Operation& operation : rank.operations.pass()) {
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
            ++report.kernels;
            ++report.durations[std::string(to_string(kernel->duration_source))];
            ++report.bytes[std::string(to_string(kernel->byte_source))];
        } else if (const auto* collective = std::get_if<CollectiveOperation>(&operation.body)) {
            ++report.collectives;
            ++report.sizes[std::string(to_string(collective->size_source))];
            ++report.algorithms[told_algorithm(*collective)];
        } else if (std::holds_alternative<CopyOperation>(operation.body)) {
            ++report.copies;
        }
    }
}

TraceWorkload join_ranks(std::vector<TraceWorkload> workloads) {
    SWITCHFOLD_CHECK(!workloads.empty(), "no ranks to join");
    if (workloads.size() == 1)
        return std::move(workloads.front());
    TraceWorkload joined;
    Provenance& provenance = joined.graph.provenance;
    Joiner joiner;
    std::vector<JoinedRank> parts;
    for (TraceWorkload& workload : workloads) {
        const Provenance& here = workload.graph.provenance;
        if (provenance.source != here.source)  // one file may hold several ranks
            provenance.source += (provenance.source.empty() ? "" : ", ") + here.source;
        provenance.synthetic = provenance.synthetic || here.synthetic;
        provenance.world_size = std::max(provenance.world_size, here.world_size);
        provenance.measured_iteration =
            std::max(provenance.measured_iteration, here.measured_iteration);
        for (JoinedRank& part : joiner.add(std::move(workload)))
            parts.push_back(std::move(part));
    }
    std::stable_sort(parts.begin(), parts.end(), [](const JoinedRank& a, const JoinedRank& b) {
        return a.report.rank < b.report.rank;
    });
    check_ranks(parts);
    joiner.finish(joined.graph);
    joined.graph.steps = parts.front().report.steps;
    provenance.gpu_name = parts.front().report.gpu_name;
    provenance.traced_ranks = static_cast<std::uint32_t>(parts.size());
    std::vector<std::uint32_t> numbers;
    for (JoinedRank& part : parts) {
        numbers.push_back(part.report.rank);
        joined.graph.ranks.push_back(std::move(part.graph));
        joined.files.push_back(std::move(part.report));
        joined.measured.push_back(std::move(part.measured));
    }
    if (const std::size_t contrary = drop_contrary_waits(joined.graph))
        joined.files.front().warnings.push_back(fmt::format(
            "{} waits of one collective for another are contrary to what other ranks show: taken "
            "as "
            "none",
            contrary));
    if (const std::uint64_t equal = unite_exchanges(joined.graph, numbers))
        joined.files.front().warnings.push_back(fmt::format(
            "{} all-to-all{} of different sizes on different ranks without split sizes: each rank "
            "is taken to send equal parts",
            equal, equal == 1 ? " is" : "s are"));
    tell_step_numbers(joined);
    return joined;
}

}  // namespace switchfold
