// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/shared_machine/shared_machine.h"

#include "core/error.h"
#include "core/version.h"
#include "sim/config/rank_gpus.h"
#include "sim/kinds/kinds.h"
#include "sim/kinds/shared_machine/share_of.h"
#include "sim/output/writers.h"
#include "sim/results/causes.h"
#include "sim/results/compare_ranks.h"
#include "sim/results/explorer_files.h"
#include "sim/results/host_clock.h"
#include "sim/results/run_files.h"
#include "sim/results/scenario_result.h"
#include "sim/results/slowdowns.h"
#include "sim/results/summary.h"
#include "sim/simulations.h"
#include "sim/uncertainty/own_residuals.h"
#include "sim/uncertainty/run_intervals.h"
#include "sim/workload/prepared_variant.h"
#include "workloads/graph/join.h"
#include "workloads/graph/without_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace switchfold {

namespace {

/// Limit on repetitions of a short workload beside a long one; more add no information.
constexpr std::uint32_t kMostRepetitions = 256;

/// One of the workloads, in one variant.
struct Tenant {
    const PlacedWorkloadParams* params = nullptr;
    PreparedWorkload workload;
    ExecutionGraph serial;        ///< without overlap; empty unless has_serial()
    std::string no_serial;        ///< why it cannot run without overlap; empty if it can
    std::size_t serial_once = 0;  ///< its run alone on the machine
    [[nodiscard]] bool computes() const { return switchfold::computes(params->workload); }
    [[nodiscard]] bool has_serial() const { return computes() && no_serial.empty(); }
    void separate() {
        try {
            serial = without_overlap(workload.graph);
        } catch (const NoCommonOrder& error) {
            no_serial = error.note();
        }
    }
};

/// The workloads of one variant.
struct Sharing {
    const Experiment* experiment = nullptr;
    SystemParams system;
    std::vector<Tenant> tenants;
};

/// A scenario: its workloads alone, then together.
struct Shared {
    Sharing* sharing = nullptr;
    std::vector<std::size_t> once;      ///< jobs of the first round, by tenant: alone, once
    ExecutionGraph whole;               ///< all workloads, with their repetitions
    std::vector<ExecutionGraph> parts;  ///< each tenant's part of it
    std::vector<std::size_t> alone;  ///< jobs of the second round: alone, with the same repetitions
    std::size_t together = 0;
    /// By the mechanisms that are on; empty if causes are not requested.
    std::map<MechanismSet, std::size_t> with;
};

class SharedMachine {
public:
    SharedMachine(const LoadedExperiment& loaded, const RunOptions& options) :
        loaded_(loaded),
        options_(options),
        intervals_(with_own_residuals(options.intervals, loaded.experiment.system.path)) {}

    ExperimentResult run() {
        const HostClock clock;
        std::optional<ResultFolder> folder;
        if (options_.out)
            folder.emplace(*options_.out);
        prepare();
        log(fmt::format("simulating each workload alone, {} runs", plan_alone()));
        once_ = run_simulations(jobs_, options_);
        for (Shared& shared : scenarios_)
            put_together(shared);
        log(fmt::format("simulating all together, {} runs", plan_together()));
        outcomes_ = run_simulations(jobs_, options_);
        ExperimentResult result = summarise();
        clock.tell(result.host);
        if (folder)
            write(*folder, result);
        return result;
    }

private:
    void log(const std::string& text) const {
        if (options_.log)
            options_.log(text);
    }
    [[nodiscard]] const std::vector<ScenarioParams>& scenarios() const {
        return loaded_.experiment.scenarios;
    }

    void prepare() {
        std::set<std::string> left_out;
        const std::vector<Variant> variants = variants_of(loaded_);
        scenarios_.resize(scenarios().size());
        for (const Variant& variant : variants) {
            Sharing& sharing = sharings_.emplace_back();
            sharing.experiment = variant.experiment;
            sharing.system = with_faults(*variant.experiment);
            for (std::size_t w = 0; w < variant.experiment->workloads.size(); ++w) {
                Tenant& tenant = sharing.tenants.emplace_back();
                tenant.params = &variant.experiment->workloads[w];
                tenant.workload =
                    prepare_placed(loaded_, variant, w, jobs_of(options_, WorkPhase::kPreparing));
                left_out.merge(std::set(tenant.workload.left_out));
                if (tenant.computes())
                    tenant.separate();
                if (!tenant.no_serial.empty())
                    leave_out_serial(variant, tenant, left_out);
            }
            for (const std::size_t scenario : variant.scenarios)
                scenarios_[scenario].sharing = &sharing;
        }
        if (left_out.empty())
            return;
        if (left_out.size() == scenarios().size() && !left_out_notes_.empty())
            throw SimulationError("every scenario", Time(), left_out_notes_.front());
        for (std::size_t i = scenarios().size(); i-- > 0;)
            if (left_out.contains(scenarios()[i].name))
                scenarios_.erase(scenarios_.begin() + static_cast<std::ptrdiff_t>(i));
        leave_out(loaded_, left_out);
    }

    /// The variant's scenarios without overlap, in which the tenant deadlocks.
    void leave_out_serial(
        const Variant& variant, const Tenant& tenant, std::set<std::string>& left_out) {
        for (const std::size_t i : variant.scenarios)
            if (!scenarios()[i].overlap && left_out.insert(scenarios()[i].name).second)
                left_out_notes_.push_back(fmt::format(
                    "{} was left out: {}: {}", scenarios()[i].name, tenant.params->name,
                    tenant.no_serial));
    }

    std::size_t
    add(const Sharing& sharing, const ScenarioParams& scenario, std::string label,
        const ExecutionGraph& graph, MechanismSet on = kAllMechanisms, bool together = false) {
        SimulateOptions options = simulate_options(*sharing.experiment, scenario);
        options.contention = contention_with(on);
        options.counters = together && options_.timeline;
        options.loads = together && explored_;
        if (on == kAllMechanisms)
            options.probes = options_.probes;
        jobs_.push_back(
            simulation(std::move(label), sharing.system, graph, scenario.policies(), options));
        return jobs_.size() - 1;
    }

    [[nodiscard]] std::string label_of(std::size_t scenario, std::size_t tenant) const {
        return fmt::format(
            "{}: {}", scenarios()[scenario].name,
            scenarios_[scenario].sharing->tenants[tenant].params->name);
    }

    [[nodiscard]] const ExecutionGraph& graph_of(const Tenant& tenant, std::size_t scenario) const {
        return scenarios()[scenario].overlap || !tenant.computes() ? tenant.workload.graph
                                                                   : tenant.serial;
    }

    std::size_t plan_alone() {
        for (Sharing& sharing : sharings_)
            for (Tenant& tenant : sharing.tenants)
                if (tenant.has_serial())
                    tenant.serial_once =
                        add(sharing, {"no overlap", false, ring_policy()},
                            tenant.params->name + " alone, no overlap", tenant.serial);
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            for (const Tenant& tenant : scenarios_[i].sharing->tenants)
                scenarios_[i].once.push_back(
                    add(*scenarios_[i].sharing, scenarios()[i], tenant.params->name + " alone",
                        graph_of(tenant, i)));
        return jobs_.size();
    }

    /// Repetitions of each workload: as configured, otherwise enough to last until the longest has
    /// run once, even if sharing slows that one down in proportion.
    [[nodiscard]] std::vector<std::uint32_t> repetitions(const Shared& shared) const {
        const std::vector<Tenant>& tenants = shared.sharing->tenants;
        std::vector<double> once;
        double longest = 0;
        for (std::size_t w = 0; w < tenants.size(); ++w) {
            once.push_back(static_cast<double>(once_[shared.once[w]].end_ps));
            longest = std::max(
                longest, once.back() * std::max(tenants[w].params->steps, 1U) +
                             static_cast<double>(tenants[w].params->start.count()));
        }
        std::vector<std::uint32_t> times;
        for (std::size_t w = 0; w < tenants.size(); ++w) {
            const double free = longest - static_cast<double>(tenants[w].params->start.count());
            const auto needed = static_cast<std::uint32_t>(std::clamp(
                once[w] < longest
                    ? std::ceil(free * static_cast<double>(tenants.size()) / std::max(once[w], 1.0))
                    : 1.0,
                1.0, double{kMostRepetitions}));
            const bool overlapping = tenants[w].workload.graph.training.rounds > 1;
            const std::uint32_t asked = tenants[w].params->steps;
            times.push_back(overlapping ? 1 : asked > 0 ? asked : needed);
        }
        return times;
    }

    void put_together(Shared& shared) {
        const auto i = static_cast<std::size_t>(&shared - scenarios_.data());
        const std::vector<std::uint32_t> times = repetitions(shared);
        std::vector<ExecutionGraph> graphs;
        for (std::size_t w = 0; w < times.size(); ++w) {
            const Tenant& tenant = shared.sharing->tenants[w];
            graphs.push_back(
                times[w] == 1 ? graph_of(tenant, i) : repeat(graph_of(tenant, i), times[w]));
            delay(graphs.back(), tenant.params->start);
        }
        shared.whole = join(graphs);
        for (const ExecutionGraph& graph : graphs)
            shared.parts.push_back(part_of(shared.whole, graph));
        check(shared.whole);
    }

    std::size_t plan_together() {
        jobs_.clear();
        std::size_t operations = 0;
        for (const Shared& shared : scenarios_)
            operations += operations_of(shared.whole);
        explored_ = options_.out && explored(options_.timeline, operations);
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            scenarios_[i].together =
                add(*scenarios_[i].sharing, scenarios()[i], scenarios()[i].name,
                    scenarios_[i].whole, kAllMechanisms, true);
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            for (std::size_t w = 0; w < scenarios_[i].parts.size(); ++w)
                scenarios_[i].alone.push_back(
                    add(*scenarios_[i].sharing, scenarios()[i], label_of(i, w) + " alone",
                        scenarios_[i].parts[w]));
        for (std::size_t i = 0; i < scenarios_.size(); ++i) {
            Shared& shared = scenarios_[i];
            const Sharing& sharing = *shared.sharing;
            const bool computing = std::ranges::any_of(sharing.tenants, &Tenant::computes);
            if (!scenarios()[i].overlap || !computing || !sharing.experiment->causes)
                continue;
            for (const MechanismSet on : cause_runs(mechanisms_of(sharing.system)))
                shared.with[on] = on == kAllMechanisms ? shared.together
                                                       : add(sharing, scenarios()[i],
                                                             scenarios()[i].name, shared.whole, on);
        }
        return jobs_.size();
    }

    /// The earliest end among the other workloads.
    [[nodiscard]] static Time
    others_end(const Shared& shared, const Outcome& outcome, std::size_t tenant) {
        Time first = Time(UINT64_MAX);
        for (std::size_t w = 0; w < shared.parts.size(); ++w)
            if (w != tenant)
                first = std::min(first, ends_of_steps(shared.parts[w], outcome).back());
        return first;
    }

    /// Number of a tenant's steps that ended while all others ran.
    [[nodiscard]] static std::uint32_t
    crowded_steps(const Shared& shared, const Outcome& outcome, std::size_t tenant) {
        const Time others = others_end(shared, outcome, tenant);
        return static_cast<std::uint32_t>(std::ranges::count_if(
            ends_of_steps(shared.parts[tenant], outcome),
            [&](const Time& end) { return end <= others; }));
    }

    /// With what its step is made of, if intervals are wanted.
    [[nodiscard]] ScenarioResult row(std::size_t i, std::size_t w, PartsOfStep& parts) const {
        const Shared& shared = scenarios_[i];
        const Tenant& tenant = shared.sharing->tenants[w];
        const Outcome& outcome = outcomes_[shared.together];
        const std::uint32_t crowded = crowded_steps(shared, outcome, w);
        const std::uint32_t steps = std::max(crowded, 1U);
        const auto share = [&](const Outcome& of) {
            return share_of(shared.parts[w], of, tenant.params->start, steps);
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
            tell_uncrowded(shared, w, outcome, own, s);
        if (tenant.has_serial())
            tell_slowdowns_of(i, w, share, own, now, s);
        if (intervals_.residuals)
            parts = parts_of_run(own.graph, own.outcome, shared.sharing->system, tenant.workload);
        return s;
    }

    /// Notes that its only step continued after others had ended.
    static void tell_uncrowded(
        const Shared& shared, std::size_t w, const Outcome& outcome, const ShareOfRun& own,
        ScenarioResult& s) {
        constexpr double kNearlyAll = 0.95;
        constexpr double kPercent = 100;
        const Time begin = shared.sharing->tenants[w].params->start;
        const Time others = others_end(shared, outcome, w);
        const double beside = others > begin ? static_cast<double>((others - begin).count()) /
                                                   static_cast<double>(own.outcome.end_ps)
                                             : 0.0;
        if (beside < kNearlyAll)
            s.notes.push_back(fmt::format(
                "other workloads ended before its first step did, of which {:.0f} % ran beside "
                "them",
                kPercent * beside));
    }

    /// Slowdowns of the phases relative to themselves alone and without overlap, with their causes.
    template <class Share>
    void tell_slowdowns_of(
        std::size_t i, std::size_t w, const Share& share, const ShareOfRun& own,
        const PhaseTimes& now, ScenarioResult& s) const {
        const Shared& shared = scenarios_[i];
        const Tenant& tenant = shared.sharing->tenants[w];
        constexpr std::size_t kWorst = 10;
        s.worst_kernels = worst_kernels(own.graph, own.outcome, kWorst);
        const PhaseTimes serial =
            phase_times(tenant.serial, once_[tenant.serial_once], tenant.serial.steps);
        s.speedup = serial.iteration / s.iteration_us;
        RunTimes times{serial, now, scenarios()[i].overlap, serial, {}};
        times.there = mechanisms_of(shared.sharing->system);
        times.unmeasured = unmeasured_of(shared.sharing->system);
        for (const auto& [on, job] : shared.with) {
            const ShareOfRun other = share(outcomes_[job]);
            times.with[on] = on == kAllMechanisms
                                 ? now
                                 : phase_times(other.graph, other.outcome, other.graph.steps);
        }
        tell_slowdowns(times, s);
    }

    [[nodiscard]] ExperimentResult summarise() const {
        ExperimentResult result;
        result.experiment = loaded_.experiment.name;
        result.version = version();
        result.config_digest = loaded_.digest;
        result.effective_config = loaded_.effective_config;
        result.workload = whole_report();
        std::vector<IntervalCase> cases;
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            for (std::size_t w = 0; w < scenarios_[i].parts.size(); ++w)
                result.scenarios.push_back(row(i, w, cases.emplace_back().parts));
        tell_intervals(cases, result);
        for (const auto* outcomes : {&once_, &outcomes_})
            for (const Outcome& outcome : *outcomes)
                result.host.events += outcome.events;
        return result;
    }

    /// `cases` are those of the result's rows. Speed-ups are relative to each workload alone
    /// without overlap.
    void tell_intervals(std::vector<IntervalCase>& cases, ExperimentResult& result) const {
        std::map<const Tenant*, std::size_t> baselines;
        std::size_t at = 0;
        for (const Shared& shared : scenarios_)
            for (const Tenant& tenant : shared.sharing->tenants) {
                const std::size_t own = at++;
                cases[own].figures = &result.scenarios[own];
                if (!intervals_.residuals || !tenant.has_serial())
                    continue;
                const auto [known, fresh] = baselines.try_emplace(&tenant, cases.size());
                cases[own].baseline = known->second;
                if (fresh)
                    cases.emplace_back().parts = parts_of_run(
                        tenant.serial, once_[tenant.serial_once], shared.sharing->system,
                        tenant.workload);
            }
        add_intervals(cases, intervals_, result);
    }

    /// Report on all workloads that share the machine.
    [[nodiscard]] WorkloadResult whole_report() const {
        WorkloadResult all;
        all.type = shared_machine_kind().name();
        for (const Tenant& tenant : sharings_.front().tenants) {
            const WorkloadResult& one = tenant.workload.report;
            all.source += fmt::format(
                "{}{} on {} GPUs", all.source.empty() ? "" : ", ", tenant.params->name, one.ranks);
            all.ranks += one.ranks;
            all.synthetic = all.synthetic || one.synthetic;
            for (const std::string& note : one.notes)
                all.notes.push_back(fmt::format("{}: {}", tenant.params->name, note));
        }
        all.notes.insert(all.notes.end(), left_out_notes_.begin(), left_out_notes_.end());
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            for (const std::string& note : outcomes_[scenarios_[i].together].notes)
                all.notes.push_back(fmt::format("{}: {}", scenarios()[i].name, note));
        std::set<std::string> ranges;
        for (const Shared& shared : scenarios_)
            if (!shared.with.empty())
                ranges.merge(unmeasured_completions(shared.sharing->system));
        if (std::string note = range_note(ranges); !note.empty())
            all.notes.push_back(std::move(note));
        return all;
    }

    void write(ResultFolder& folder, const ExperimentResult& result) const {
        folder.write("effective-config.json", loaded_.effective_config);
        std::vector<std::string> labels;  // referred to by rows
        for (std::size_t i = 0; i < scenarios_.size(); ++i)
            for (std::size_t w = 0; w < scenarios_[i].parts.size(); ++w)
                labels.push_back(label_of(i, w));
        std::vector<RanScenario> rows;
        std::vector<RanScenario> wholes;
        std::vector<RanMachine> machines;
        for (std::size_t i = 0; i < scenarios_.size(); ++i) {
            const Shared& shared = scenarios_[i];
            const Outcome& outcome = outcomes_[shared.together];
            for (const ExecutionGraph& part : shared.parts)
                rows.push_back({labels[rows.size()], part, outcome});
            wholes.push_back({scenarios()[i].name, shared.whole, outcome});
            machines.push_back({wholes.back(), shared.sharing->system});
        }
        write_tables(folder, rows);
        write_counters(folder, wholes);
        if (explored_)
            write_communication(folder, rows);
        write_links(folder, machines);
        if (options_.timeline)
            write_timeline(folder, wholes, RankGpus(sharings_.front().system).of(0));
        folder.write("result.json", to_result_json(result));
        folder.commit();
        log(fmt::format("wrote {}", options_.out->string()));
    }

    LoadedExperiment loaded_;
    const RunOptions& options_;
    IntervalSource intervals_;  ///< read first, so that a bad table is noticed at once
    std::deque<Sharing> sharings_;
    std::vector<Shared> scenarios_;
    std::vector<std::string> left_out_notes_;
    bool explored_ = false;  ///< the report's map and timelines have their files
    std::vector<Job> jobs_;  ///< of the current round
    std::vector<Outcome> once_;
    std::vector<Outcome> outcomes_;
};

}  // namespace

ExperimentResult run_shared_machine(const LoadedExperiment& loaded, const RunOptions& options) {
    return SharedMachine(loaded, options).run();
}

}  // namespace switchfold
