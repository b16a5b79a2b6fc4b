// SPDX-License-Identifier: Apache-2.0
#include "sim/uncertainty/measured_parts.h"

#include "models/collectives/engine.h"
#include "sim/results/collective_records.h"
#include "sim/results/training.h"
#include "sim/uncertainty/exposed_chains.h"
#include "workloads/profile/intervals.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace switchfold {

namespace {

constexpr std::size_t kPhases = 4;

/// Kernels of a phase: what they take, and what they would alone, summed up one by one.
struct KernelSums {
    double taken = 0;
    double given = 0;
    std::map<std::size_t, double> alone;  ///< by kind

    void add(const KernelSums& other) {
        taken += other.taken;
        given += other.given;
        for (const auto& [kind, ps] : other.alone)
            alone[kind] += ps;
    }
    /// Of kernels that together keep a GPU busy for `us`. Those that run beside each other share
    /// it.
    [[nodiscard]] BusyParts over(double us) const {
        BusyParts parts;
        if (!(taken > 0))
            return parts;
        const double share = us / taken;
        parts.given_us = given * share;
        double all = parts.given_us;
        for (const auto& [kind, ps] : alone) {
            parts.alone_us.emplace_back(kind, ps * share);
            all += ps * share;
        }
        parts.lost_us = us - all;
        return parts;
    }
};

class PartsOfGraph {
public:
    PartsOfGraph(
        const ExecutionGraph& graph, const Outcome& outcome, PartKinds kinds, KernelsOf kernels) :
        graph_(graph),
        outcome_(outcome),
        kinds_(std::move(kinds)),
        as_traced_(kernels == KernelsOf::kTrace),
        in_loops_(kernels == KernelsOf::kLoops),
        records_(outcome),
        weights_(graph),
        each_us_(1e-6 / weights_.total() / graph.steps / graph.training.rounds) {}

    PartsOfStep parts() {
        for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r)
            add(r);
        PartsOfStep parts;
        parts.iteration_us = round_us(graph_, outcome_);
        KernelSums all;
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            all.add(sums_[phase]);
            parts.phases[phase] = sums_[phase].over(busy_us_[phase]);
            parts.phases[phase].beside_us = beside_us_[phase];
        }
        parts.busy = all.over(all_busy_us_);
        parts.busy.beside_us = all_beside_us_;
        parts.exposed = chains_.take();
        parts.rest_us = parts.iteration_us - all_busy_us_;
        for (const ExposedChain& chain : parts.exposed)
            parts.rest_us -= chain.exposed_us;
        const auto ranks = static_cast<std::uint32_t>(represented_ranks(graph_));
        parts.overlap = kinds_.of_overlap(in_loops_ ? "" : "step", ranks);
        parts.kinds = kinds_.all();
        return parts;
    }

private:
    void add(std::uint32_t r) {
        const RankGraph& rank = *graph_.ranks[r];
        weight_ = weights_.of(r);
        us_ = each_us_ * weight_;
        std::vector<Interval> phases[kPhases];
        std::vector<Interval> kernels;
        std::vector<Interval> busy;
        std::vector<Communication> communication;
        for (std::size_t i = 0; i < rank.operations.size(); ++i) {
            const Operation& operation = rank.operations[i];
            const Interval stretch{
                outcome_.times[r][i].start.count(), outcome_.times[r][i].end.count()};
            if (const auto* kernel = std::get_if<KernelOperation>(&operation.body)) {
                const auto phase = static_cast<std::size_t>(operation.phase);
                add(*kernel, stretch, sums_[phase]);
                phases[phase].push_back(stretch);
                kernels.push_back(stretch);
                busy.push_back(stretch);
            } else if (std::holds_alternative<CopyOperation>(operation.body)) {
                busy.push_back(stretch);
            } else if (!std::holds_alternative<HostDelayOperation>(operation.body)) {
                const CollectiveRecord* record = records_.of(r, operation.body);
                Communication& one = communication.emplace_back();
                one.resident = stretch;
                one.since = stretch.start - std::min(stretch.start, operation.gap.count());
                one.kind = kind_of(operation.body, record);
                if (record != nullptr)
                    one.waiting = waiting_of(*record, stretch);
            }
        }
        std::vector<Interval> resident;
        for (const Communication& one : communication)
            resident.push_back(one.resident);
        merge_intervals(resident);
        const auto beside = [&](const std::vector<Interval>& merged) {
            std::uint64_t ps = 0;
            for (const Interval& stretch : merged)
                ps += covered(resident, stretch.start, stretch.end);
            return static_cast<double>(ps) * us_;
        };
        for (std::size_t phase = 0; phase < kPhases; ++phase) {
            busy_us_[phase] += static_cast<double>(merge_intervals(phases[phase])) * us_;
            beside_us_[phase] += beside(phases[phase]);
        }
        all_busy_us_ += static_cast<double>(merge_intervals(kernels)) * us_;
        all_beside_us_ += beside(kernels);
        merge_intervals(busy);
        chains_.add(std::move(communication), busy, us_);
    }

    void add(const KernelOperation& kernel, const Interval& stretch, KernelSums& sums) {
        sums.taken += weight_ * static_cast<double>(stretch.end - stretch.start);
        const double alone = weight_ * static_cast<double>(kernel.isolated.count());
        if (as_traced_ && is_measured(kernel.duration_source))
            sums.given += alone;
        else
            sums.alone[kinds_.of(kernel)] += alone;
    }

    std::size_t kind_of(const OperationBody& body, const CollectiveRecord* record) {
        const auto* collective = std::get_if<CollectiveOperation>(&body);
        if (collective != nullptr && collective->measured_as != 0)
            return kinds_.of(*collective, graph_.measured_as[collective->measured_as - 1]);
        return record == nullptr ? ExposedChains::kGiven : kind_of(*record);
    }

    std::size_t kind_of(const CollectiveRecord& record) {
        const auto [at, fresh] = kind_of_.try_emplace(&record, 0);
        if (fresh)
            at->second = record.as_traced ? ExposedChains::kGiven
                                          : kinds_.of(record, group_of(graph_, record));
        return at->second;
    }

public:
    static const Group* group_of(const ExecutionGraph& graph, const CollectiveRecord& record) {
        return record.sender == record.receiver && record.group < graph.groups.size()
                   ? &graph.groups[record.group]
                   : nullptr;
    }

private:
    const ExecutionGraph& graph_;
    const Outcome& outcome_;
    PartKinds kinds_;
    bool as_traced_;
    bool in_loops_;
    CollectiveRecords records_;
    RankWeights weights_;
    double each_us_;     ///< per picosecond of a rank that stands for most
    double weight_ = 1;  ///< of the rank that is looked at
    double us_ = 0;      ///< per picosecond of it
    KernelSums sums_[kPhases];
    double busy_us_[kPhases] = {};
    double all_busy_us_ = 0;
    double beside_us_[kPhases] = {};  ///< of that, beside communication
    double all_beside_us_ = 0;
    ExposedChains chains_;
    std::map<const CollectiveRecord*, std::size_t> kind_of_;
};

}  // namespace

PartsOfStep step_parts(
    const ExecutionGraph& graph, const Outcome& outcome, PartKinds kinds, KernelsOf kernels) {
    return PartsOfGraph(graph, outcome, std::move(kinds), kernels).parts();
}

std::vector<PartKind>
collective_kinds(const ExecutionGraph& graph, const Outcome& outcome, const PartKinds& kinds) {
    std::vector<PartKind> out;
    for (const CollectiveRecord& record : outcome.collectives)
        out.push_back(kinds.kind_of(record, PartsOfGraph::group_of(graph, record)));
    return out;
}

}  // namespace switchfold
