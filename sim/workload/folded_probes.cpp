// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/folded_probes.h"

#include "core/error.h"
#include "models/collectives/engine.h"
#include "models/collectives/library.h"
#include "models/collectives/shortcuts/foldable.h"
#include "sim/machine/chosen_collectives.h"
#include "sim/machine/system_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>

namespace switchfold {

namespace {

/// A short ring spans so many machines and has so many ranks.
constexpr std::uint32_t kShortMachines = 8;
constexpr std::uint32_t kShortRing = 32;

/// The policies with such a ring for the kind.
CollectivePolicies
with_ring(CollectivePolicies policies, CollectiveKind kind, const CollectiveConfig& choice) {
    CollectivePolicy own = ring_policy();
    own.protocol = choice.protocol;
    own.channels = choice.channels;
    if (kind == CollectiveKind::kAllReduce)
        policies.all_reduce = own;
    else if (kind == CollectiveKind::kReduceScatter)
        policies.reduce_scatter = own;
    else
        policies.all_gather = own;
    return policies;
}

/// Of a run's outcome, which has the rank that is looked at alone.
double memory_of_rank(const Outcome& outcome, std::string_view column) {
    const StatisticTable* memory = find_table(outcome.statistics, "memory");
    return memory == nullptr || memory->rows.empty()
               ? 0
               : memory->rows.front().values[memory->column(column)];
}

/// A value at `all` on the line through those at `few` and `more`.
std::uint64_t
on_line(std::uint64_t at_few, std::uint64_t at_more, double few, double more, double all) {
    const double step = (static_cast<double>(at_more) - static_cast<double>(at_few)) / (more - few);
    return static_cast<std::uint64_t>(
        std::max(0.0, std::round(static_cast<double>(at_few) + step * (all - few))));
}

}  // namespace

FoldedProbes::FoldedProbes(
    const FoldedGraph& folded, const SystemParams& system, const CollectivePolicies& policies,
    bool whole) :
    folded_(folded),
    passes_(whole ? folded.whole() : folded.shorter()),
    system_(system),
    policies_(policies) {
    if (!folded.collectives().empty()) {
        topology_ = build_topology(system.topology);
        note_rates();
    }
    if (!passes_.pieces.empty())
        runs_.push_back({"pieces of the step", passes_.graph, policies, 0});
    for (std::size_t family = 0; family < folded.collectives().size(); ++family)
        measure(family);
}

void FoldedProbes::note_rates() {
    for (std::uint32_t hop = 0; hop < 2 * topology_->edges.size(); ++hop) {
        const TopologyEdge& edge = topology_->edges[edge_of(hop)];
        const Bandwidth rate = topology_->links[edge.link_class].usable_bandwidth(edge.lanes);
        rates_[topology_->link_name(hop)] = static_cast<double>(rate.count());
    }
}

double FoldedProbes::busy(const StatisticTable::Row& link, std::size_t wire_bytes) const {
    const auto rate = rates_.find(link.name);
    return rate == rates_.end() ? 0 : link.values[wire_bytes] / rate->second;
}

std::uint32_t FoldedProbes::members(std::uint32_t orbit, std::uint32_t ranks) const {
    const std::vector<std::uint32_t>& group = folded_.orbits().first_group(orbit);
    return static_cast<std::uint32_t>(
        std::lower_bound(group.begin(), group.end(), ranks) - group.begin());
}

void FoldedProbes::measure(std::size_t index) {
    const CollectiveFamily& family = folded_.collectives()[index];
    std::vector<std::size_t> whole(family.calls.size());
    std::iota(whole.begin(), whole.end(), std::size_t{0});
    const std::vector<std::uint32_t>& group = folded_.orbits().first_group(family.orbit);
    if (!is_all_reduce_or_half(family.operation.kind))
        return measure_whole(index, std::move(whole));
    const Choices choices(system_, *topology_, group, policies_);
    struct Ring {
        CollectiveConfig choice;
        std::vector<std::size_t> which;
    };
    std::map<std::pair<Protocol, std::uint32_t>, Ring> long_rings;
    std::vector<std::size_t> rings;  // others; beside what is none they would not fold
    whole.clear();
    for (std::size_t i = 0; i < family.calls.size(); ++i) {
        CollectiveOperation call = family.operation;
        call.bytes = family.calls[i].bytes;
        const std::optional<CollectiveConfig> choice = choices.able(call);
        if (!choice || !is_ring(*choice)) {
            whole.push_back(i);
        } else if (group.size() < kLongRing) {
            rings.push_back(i);
        } else {
            Ring& ring = long_rings[{choice->protocol, choice->channels}];
            ring.choice = *choice;
            ring.which.push_back(i);
        }
    }
    for (auto& [key, ring] : long_rings)
        measure_ring(
            index, std::move(ring.which), with_ring(policies_, family.operation.kind, ring.choice));
    if (!rings.empty())
        measure_whole(index, std::move(rings));
    if (!whole.empty())
        measure_whole(index, std::move(whole));
}

std::size_t
FoldedProbes::add(const Part& part, std::uint32_t ranks, const CollectivePolicies& policies) {
    const std::uint32_t orbit = folded_.collectives()[part.family].orbit;
    runs_.push_back(
        {"collectives of the step", folded_.family_probe(part.family, part.which, ranks), policies,
         folded_.orbits().first_group(orbit).front()});
    return runs_.size() - 1;
}

void FoldedProbes::measure_whole(std::size_t family, std::vector<std::size_t> which) {
    Part part{family, std::move(which), 0, 0, 0, 0, 0};
    const std::uint32_t orbit = folded_.collectives()[family].orbit;
    part.run = part.longer = add(part, folded_.orbits().at(orbit).ranks, policies_);
    parts_.push_back(std::move(part));
}

void FoldedProbes::measure_ring(
    std::size_t family, std::vector<std::size_t> which, const CollectivePolicies& policies) {
    const std::uint32_t own = folded_.collectives()[family].orbit;
    const GroupOrbits& orbits = folded_.orbits();
    const std::uint32_t all = orbits.at(own).ranks;
    const std::uint32_t machines = kShortMachines * gpus_of_machine(system_);
    std::uint32_t few = orbits.whole_ranks(own, machines - 1);
    while (members(own, few) < kShortRing && 2 * few < all)
        few = orbits.whole_ranks(own, few);
    if (2 * few >= all)
        return measure_whole(family, std::move(which));
    Part part{family,           std::move(which), 0, 0, members(own, few), members(own, 2 * few),
              members(own, all)};
    part.run = add(part, few, policies);
    part.longer = add(part, 2 * few, policies);
    parts_.push_back(std::move(part));
}

Outcome FoldedProbes::told(const Run& run, Outcome outcome) const {
    outcome.times = {std::move(outcome.times.at(run.rank))};
    std::erase_if(outcome.collectives, [](const CollectiveRecord& record) {
        return record.group != 0 || record.sender != record.receiver;
    });
    std::erase_if(outcome.statistics, [](const StatisticTable& table) {
        return table.kind != "memory" && table.kind != "links";
    });
    const std::string gpu = fmt::format("gpu{}", run.rank);
    for (StatisticTable& table : outcome.statistics) {
        if (table.kind == "memory") {
            std::erase_if(
                table.rows, [&](const StatisticTable::Row& row) { return row.name != gpu; });
        } else if (!table.rows.empty()) {
            const std::size_t column = table.column("wire_bytes");
            const auto busiest = std::max_element(
                table.rows.begin(), table.rows.end(),
                [&](const auto& a, const auto& b) { return busy(a, column) < busy(b, column); });
            table.rows = {StatisticTable::Row(*busiest)};
        }
    }
    outcome.counters.clear();
    outcome.loads = {};
    return outcome;
}

std::vector<MeasuredCollective>
FoldedProbes::of_run(const Part& part, const Outcome& outcome) const {
    const CollectiveFamily& family = folded_.collectives()[part.family];
    double bytes = 0;
    for (const std::size_t i : part.which)
        bytes += static_cast<double>(family.calls[i].bytes.count());
    const double traffic = memory_of_rank(outcome, "packet_bytes");
    const StatisticTable* links = find_table(outcome.statistics, "links");
    const double busy_s = links == nullptr || links->rows.empty()
                              ? 0
                              : busy(links->rows.front(), links->column("wire_bytes"));
    const std::vector<OperationTimes>& times = outcome.times.front();
    std::vector<MeasuredCollective> found(part.which.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        MeasuredCollective& one = found[i];
        one.time = times[2 * i + 2].start - times[2 * i].end;
        const double share = static_cast<double>(family.calls[part.which[i]].bytes.count()) / bytes;
        one.traffic = Bytes(static_cast<std::uint64_t>(std::round(traffic * share)));
        constexpr double kPicoseconds = 1e12;  // a second
        one.busy =
            std::min(one.time, Time(static_cast<std::uint64_t>(busy_s * share * kPicoseconds)));
        const auto record = std::find_if(
            outcome.collectives.begin(), outcome.collectives.end(),
            [&](const CollectiveRecord& other) { return other.sequence == i; });
        SWITCHFOLD_CHECK(record != outcome.collectives.end(), "a collective was not measured");
        one.footprint = record->footprint;
        const CollectiveConfig& choice = record->choice;
        const ChoiceWords words = library_of(choice).words(choice);
        one.algorithm = words.algorithm;
        one.study = words.study;
        const ResidentShape kernel = library_of(choice).kernel(*system_.collectives, choice);
        one.blocks = choice.channels;
        one.threads = kernel.threads;
        one.registers_per_thread = kernel.registers_per_thread;
        one.shared_memory = kernel.shared_memory;
    }
    return found;
}

FoldedGraph::Measured FoldedProbes::measured(const std::vector<Outcome>& outcomes) const {
    SWITCHFOLD_CHECK(outcomes.size() == runs_.size(), "outcomes of other runs");
    FoldedGraph::Measured all = folded_.each(Time());
    for (std::size_t i = 0; i < all.pieces.size(); ++i) {
        const ProbePiece& piece = passes_.pieces[i];
        const std::vector<OperationTimes>& times = outcomes.front().times.front();
        const auto time = [&](const ProbeMarks& marks) {
            return times[marks.before].start - times[marks.after].end;
        };
        all.pieces[i] = time(piece.all);
        if (piece.further > 0)
            all.pieces[i] += Time(static_cast<std::uint64_t>(
                std::llround(piece.further * static_cast<double>(time(piece.parts).count()))));
    }
    for (const Part& part : parts_) {
        std::vector<MeasuredCollective> found = of_run(part, outcomes[part.run]);
        if (part.longer != part.run) {
            const std::vector<MeasuredCollective> more = of_run(part, outcomes[part.longer]);
            const auto at_all = [&](std::uint64_t few, std::uint64_t many) {
                return on_line(few, many, part.members, part.more, part.all);
            };
            for (std::size_t i = 0; i < found.size(); ++i) {
                found[i].time = Time(at_all(found[i].time.count(), more[i].time.count()));
                found[i].traffic = Bytes(at_all(found[i].traffic.count(), more[i].traffic.count()));
            }
        }
        for (std::size_t i = 0; i < found.size(); ++i)
            all.collectives[part.family][part.which[i]] = found[i];
    }
    return all;
}

}  // namespace switchfold
