// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/shared_machine/shared_machine.h"
#include "sim/kinds/shared_machine/shared_run.h"
#include "sim/kinds/workload_kind.h"
#include "sim/results/compare_ranks.h"
#include "sim/results/scenario_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace switchfold {

namespace {

/// The earliest end among the other workloads.
Time others_end(
    const std::vector<ExecutionGraph>& parts, const Outcome& outcome, std::size_t tenant) {
    Time first = Time(UINT64_MAX);
    for (std::size_t w = 0; w < parts.size(); ++w)
        if (w != tenant)
            first = std::min(first, ends_of_steps(parts[w], outcome).back());
    return first;
}

/// Number of a tenant's steps that ended while all others ran.
std::uint32_t crowded_steps(
    const std::vector<ExecutionGraph>& parts, const Outcome& outcome, std::size_t tenant) {
    const Time others = others_end(parts, outcome, tenant);
    return static_cast<std::uint32_t>(std::ranges::count_if(
        ends_of_steps(parts[tenant], outcome), [&](const Time& end) { return end <= others; }));
}

/// Notes that its only step, which began at `begin`, continued after others had ended.
void tell_uncrowded(Time begin, Time others, const ShareOfRun& own, ScenarioResult& s) {
    constexpr double kNearlyAll = 0.95;
    constexpr double kPercent = 100;
    const double beside = others > begin ? static_cast<double>((others - begin).count()) /
                                               static_cast<double>(own.outcome.end_ps)
                                         : 0.0;
    if (beside < kNearlyAll)
        s.notes.push_back(fmt::format(
            "other workloads ended before its first step did, of which {:.0f} % ran beside them",
            kPercent * beside));
}

}  // namespace

/// With what its step is made of, if intervals are wanted.
ScenarioResult SharedRun::row(std::size_t i, std::size_t w, PartsOfStep& parts) const {
    const Shared& shared = scenarios_[i];
    const Tenant& tenant = shared.sharing->tenants[w];
    const Outcome& outcome = outcomes_[shared.together];
    const Time begin = tenant.placed->start;
    const std::uint32_t crowded = crowded_steps(shared.parts, outcome, w);
    const std::uint32_t steps = std::max(crowded, 1U);
    const Share share = [&](const Outcome& of) {
        return share_of(shared.parts[w], of, begin, steps);
    };
    const ShareOfRun own = share(outcome);
    const ShareOfRun alone = share(outcomes_[shared.alone[w]]);
    const PhaseTimes now = phase_times(own.graph, own.outcome, own.graph.steps);
    ScenarioResult s = measured_scenario(own.graph, own.outcome, now);
    tell_scenario(scenarios()[i], s);
    s.name = label_of(i, w);
    s.workload = tenant.workload.report;
    s.workload->notes.clear();  // listed once, for the whole result
    s.statistics = outcome.statistics;
    if (tenant.workload.unequal)
        compare_ranks(own.graph, own.outcome, s);
    if (w == 0) {
        s.events = outcome.events;
        s.counters = outcome.counters;
    }
    s.alone_us = phase_times(alone.graph, alone.outcome, steps).iteration;
    // A collective of one rank takes no time.
    s.lost_to_others = *s.alone_us > 0 ? s.iteration_us / *s.alone_us - 1.0 : 0.0;
    // Between repetitions a pipeline idles as between steps.
    s.bubble_share.reset();
    if (crowded == 0)
        tell_uncrowded(begin, others_end(shared.parts, outcome, w), own, s);
    if (tenant.has_serial())
        tell_slowdowns_of(i, w, share, own, now, s);
    if (intervals().residuals)
        parts = parts_of_run(own.graph, own.outcome, shared.sharing->system, tenant.workload);
    return s;
}

/// Slowdowns of the phases relative to themselves alone and without overlap, with their causes.
void SharedRun::tell_slowdowns_of(
    std::size_t i, std::size_t w, const Share& share, const ShareOfRun& own, const PhaseTimes& now,
    ScenarioResult& s) const {
    const Shared& shared = scenarios_[i];
    const Tenant& tenant = shared.sharing->tenants[w];
    s.worst_kernels = worst_kernels(own.graph, own.outcome, kWorstKernels);
    const PhaseTimes serial =
        phase_times(tenant.serial, once_[tenant.serial_once], tenant.serial.steps);
    s.speedup = serial.iteration / s.iteration_us;
    RunTimes times{serial, now, scenarios()[i].overlap, serial, {}};
    times.there = mechanisms_of(shared.sharing->system);
    times.unmeasured = unmeasured_of(shared.sharing->system);
    for (const auto& [on, job] : shared.with) {
        const ShareOfRun other = share(outcomes_[job]);
        times.with[on] =
            on == kAllMechanisms ? now : phase_times(other.graph, other.outcome, other.graph.steps);
    }
    tell_slowdowns(times, s);
}

void SharedRun::tell(ExperimentResult& result) const {
    result.workload = whole_report();
    std::vector<IntervalCase> cases;
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        for (std::size_t w = 0; w < scenarios_[i].parts.size(); ++w)
            result.scenarios.push_back(row(i, w, cases.emplace_back().parts));
    tell_intervals(cases, result);
    for (const auto* outcomes : {&once_, &outcomes_})
        for (const Outcome& outcome : *outcomes)
            result.host.events += outcome.events;
}

/// `cases` are those of the result's rows. Speed-ups are relative to each workload alone without
/// overlap.
void SharedRun::tell_intervals(std::vector<IntervalCase>& cases, ExperimentResult& result) const {
    std::map<const Tenant*, std::size_t> baselines;
    std::size_t at = 0;
    for (const Shared& shared : scenarios_)
        for (const Tenant& tenant : shared.sharing->tenants) {
            const std::size_t own = at++;
            cases[own].figures = &result.scenarios[own];
            if (!intervals().residuals || !tenant.has_serial())
                continue;
            const auto [known, fresh] = baselines.try_emplace(&tenant, cases.size());
            cases[own].baseline = known->second;
            if (fresh)
                cases.emplace_back().parts = parts_of_run(
                    tenant.serial, once_[tenant.serial_once], shared.sharing->system,
                    tenant.workload);
        }
    add_intervals(cases, intervals(), result);
}

/// Report on all workloads that share the machine.
WorkloadResult SharedRun::whole_report() const {
    WorkloadResult all;
    all.type = shared_machine_kind().name();
    for (const Tenant& tenant : sharings_.front().tenants) {
        const WorkloadResult& one = tenant.workload.report;
        all.source += fmt::format(
            "{}{} on {} GPUs", all.source.empty() ? "" : ", ", tenant.placed->name, one.ranks);
        all.ranks += one.ranks;
        all.synthetic = all.synthetic || one.synthetic;
        for (const std::string& note : one.notes)
            all.notes.push_back(fmt::format("{}: {}", tenant.placed->name, note));
    }
    all.notes.insert(all.notes.end(), left_out_notes_.begin(), left_out_notes_.end());
    for (std::size_t i = 0; i < scenarios_.size(); ++i)
        for (const std::string& note : outcomes_[scenarios_[i].together].notes)
            all.notes.push_back(fmt::format("{}: {}", scenarios()[i].name, note));
    std::vector<const SystemParams*> explained;
    for (const Shared& shared : scenarios_)
        if (!shared.with.empty())
            explained.push_back(&shared.sharing->system);
    note_ranges(explained, all.notes);
    return all;
}

}  // namespace switchfold
