// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/simulate.h"

#include "core/error.h"
#include "core/first_ranks.h"
#include "core/kernel/modules.h"
#include "models/probe.h"
#include "models/replay/rank_replay.h"
#include "sim/machine/alike_sets.h"
#include "sim/machine/component_statistics.h"
#include "sim/machine/folded_groups.h"
#include "sim/machine/folded_ranks.h"
#include "sim/machine/load_recorder.h"
#include "sim/machine/longest_time.h"
#include "sim/machine/machine.h"
#include "sim/machine/recalls.h"
#include "sim/machine/reduction_units.h"
#include "sim/machine/system_queries.h"
#include "sim/machine/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <variant>

namespace switchfold {

namespace {

using Replays = Modules<RankReplay>;

/// Samples the timeline's counters, for the first rank. `copies`: ranks that a simulated one stands
/// for.
class Sampler final : public Probe {
public:
    Sampler(Machine& machine, Outcome& outcome, const Scheduler& scheduler, std::size_t copies) :
        machine_(machine), outcome_(outcome), scheduler_(scheduler), copies_(copies) {}
    void on_slice(Time now) override {
        if (now <= last_)
            return;
        const double us = to_microseconds(now);
        // Skipped time continues at the rates before it.
        const Time left_out = scheduler_.skipped() - skipped_;
        const double seconds = to_seconds(now - last_ - left_out);
        skipped_ += left_out;
        if (seconds == 0)
            return;
        Gpu& gpu = machine_.gpu(0);
        put("SMs in use", us, gpu.busy_sms());
        const std::uint64_t packets = gpu.memory().statistics().packet_bytes;
        put("communication memory GB/s", us,
            static_cast<double>(packets - packets_) / seconds * 1e-9);
        packets_ = packets;
        std::uint64_t wire = 0;
        for (const auto& link : machine_.fabric().links())
            if (std::string_view(link->name()).find("gpu0_to_") != std::string_view::npos)
                wire += link->statistics().wire_bytes;
        put("links out GB/s", us, static_cast<double>(wire - wire_) / seconds * 1e-9);
        wire_ = wire;
        std::uint64_t open = 0;
        for_each_unit(machine_.fabric(), [&](const Link& /*link*/, const ReductionUnit& unit) {
            open += unit.entries_used();
        });
        put("reduction entries", us, static_cast<double>(open * copies_));
        last_ = now;
    }

private:
    void put(const char* track, double us, double value) {
        // Records changes only: a track holds its value until the next sample.
        auto [at, fresh] = values_.try_emplace(track, -1.0);
        static_cast<void>(fresh);
        if (at->second == value)
            return;
        at->second = value;
        outcome_.counters.push_back({track, us, value});
    }
    Machine& machine_;
    Outcome& outcome_;
    const Scheduler& scheduler_;
    std::size_t copies_;
    Time last_;
    Time skipped_;
    std::uint64_t packets_ = 0;
    std::uint64_t wire_ = 0;
    std::map<std::string, double> values_;
};

void attach(
    const std::vector<Probe*>& probes, PacketProbes& of_packets, Machine& machine,
    const Replays& replays) {
    for (Probe* probe : probes) {
        machine.collectives().attach(*probe);
        for (const auto& replay : replays)
            replay->attach(*probe);
    }
    if (!of_packets.empty())
        for (const auto& link : machine.fabric().links())
            link->watch(of_packets);
}

void note_placed_kernels(Machine& machine, Outcome& outcome) {
    const GpuStatistics& statistics = machine.gpu(0).statistics();
    if (statistics.clipped_kernels > 0)
        outcome.notes.push_back(fmt::format(
            "{} of {} kernels of rank 0 would move more bytes, by the trace's counters or the "
            "model of their times, than this GPU's memory can in their time; their bytes were "
            "reduced to that",
            statistics.clipped_kernels, statistics.kernels));
    if (statistics.oversized_kernels > 0)
        outcome.notes.push_back(fmt::format(
            "{} kernels of rank 0 have blocks that no SM of this GPU can hold; taken as one block "
            "an SM",
            statistics.oversized_kernels));
}

/// Calls the watchdog at each slice of a run, and keeps the reason if it ends the run.
class Guard {
public:
    Guard(
        const SystemParams& system, const ExecutionGraph& graph, const LimitParams& limits,
        Machine& machine, const Replays& replays) :
        watchdog_(limits, longest_time(system, graph)), machine_(machine), replays_(replays) {}

    [[nodiscard]] std::size_t ended() const {
        std::size_t count = 0;
        for (const auto& replay : replays_)
            count += replay->ended();
        return count;
    }
    bool goes_on(Time now, std::uint64_t events) {
        RunState state{now, events, 0, Time()};
        if (watchdog_.wants_progress(events)) {
            state.progress = ended() + machine_.fabric().host_traffic().bytes;
            for (std::uint32_t rank = 0; rank < machine_.fabric().gpus(); ++rank)
                state.progress += machine_.fabric().endpoint(rank).arrived();
        }
        const auto real = std::chrono::steady_clock::now() - begin_;
        state.real_time = nanoseconds(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(real).count()));
        why_ = watchdog_.check(state);
        return why_.empty();
    }
    /// Why the run was aborted; empty if it was not.
    [[nodiscard]] const std::string& why() const { return why_; }

private:
    Watchdog watchdog_;
    Machine& machine_;
    const Replays& replays_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::string why_;
};

[[noreturn]] void report_unfinished(
    const ExecutionGraph& graph, Machine& machine, const Replays& replays, Time now,
    const std::string& why) {
    std::string text;
    const auto add = [&](const std::string& line) { text += (text.empty() ? "" : "; ") + line; };
    for (const std::string& line : machine.collectives().blocked())
        add(line);
    for (const std::string& line : machine.fabric().blocked())
        add(line);
    constexpr std::size_t kLines = 2;
    std::size_t unfinished = 0;
    for (const auto& replay : replays) {
        if (replay->finished())
            continue;
        const std::uint32_t rank = replay->rank();
        if (++unfinished <= kLines)
            for (const auto& blocked : replay->blocked(kLines))
                add(fmt::format(
                    "rank {} operation {} ({}) {}", rank, blocked.operation,
                    graph.names[graph.ranks[rank]->operations[blocked.operation].name].substr(
                        0, 60),
                    blocked.why));
    }
    throw SimulationError(
        "replay", now,
        fmt::format(
            "{}{} of {} ranks did not finish: {}", why.empty() ? "" : why + "; ", unfinished,
            replays.size(), text));
}

/// What collectives under way have done is counted once in so many events.
constexpr std::uint64_t kEventsToCount = 20'000;

/// Packets of `fast` where a step has kernels and many transfers. Those of a collective alone
/// decide its time, by up to 17 %; steps moved by -2.9 to +0.2 % (docs/notebook/performance.md).
constexpr Bytes kLargePackets = kibibytes(32);

std::optional<SystemParams> with_larger_packets(
    const SystemParams& system, const ExecutionGraph& graph, const SimulateOptions& options) {
    const auto computes = [](const Operation& operation) {
        return std::holds_alternative<KernelOperation>(operation.body);
    };
    if (options.fidelity != Fidelity::kFast || options.functional_seed != 0 ||
        system.collectives->transfer_unit >= kLargePackets || graph.ranks.empty() ||
        std::ranges::none_of(graph.ranks.front()->operations, computes))
        return std::nullopt;
    std::optional<SystemParams> coarser = system;
    coarser->collectives.value.transfer_unit = kLargePackets;
    return coarser;
}

}  // namespace

SimulateOptions simulate_options(const Experiment& experiment) {
    SimulateOptions options;
    options.limits = experiment.limits;
    options.fidelity = experiment.may_leave_out();
    options.jitter = *experiment.jitter;
    options.jitter_seed = experiment.seed;
    return options;
}

bool repeats_itself(const SystemParams& system) {
    return !minds_congestion(*system.topology) &&
           std::none_of(system.faults.begin(), system.faults.end(), [](const FaultParams& fault) {
               return std::holds_alternative<BitErrorsFault>(fault);
           });
}

Outcome simulate(
    const SystemParams& given, const ExecutionGraph& whole, const CollectivePolicies& policies,
    const SimulateOptions& options) {
    const std::optional<SystemParams> coarser = with_larger_packets(given, whole, options);
    const SystemParams& system = coarser ? *coarser : given;
    std::optional<RankSymmetry> fold;
    std::optional<AlikeSets> sets;
    ExecutionGraph folded;
    if (options.functional_seed == 0) {
        fold = fold_of(system, whole, policies, options.fidelity);
        if (fold) {
            folded = folded_graph(whole, *fold);
        } else if ((sets = alike_sets_of(system, whole, options.fidelity))) {
            folded = sets->kept(whole);
            fold = sets->symmetry;
        } else if ((fold = fold_of_groups(system, whole, policies, options.fidelity))) {
            folded = folded_graph(whole, *fold);
        }
    }
    const ExecutionGraph& graph = fold ? folded : whole;
    Simulation simulation;
    Outcome outcome;
    const auto ranks = static_cast<std::uint32_t>(graph.ranks.size());
    std::vector<std::uint32_t> simulated = first_ranks(ranks);
    if (fold)
        simulated = fold->kept();
    Machine machine(
        simulation, system,
        {ranks, graph.groups, policies, options.contention, options.functional_seed,
         options.fault_seed, options.communication_sms});
    machine.collectives().set_experts(graph.experts, fewest_sms(system, ranks));
    machine.collectives().set_exchanges(graph.exchanges);
    if (options.peers_together)
        machine.collectives().ignore_late_peers();
    MachineCounts counts(machine);
    if (options.fidelity != Fidelity::kExact && repeats_itself(system)) {
        // A recalled collective's traffic would come to the timeline's counters at its end.
        const Recall recall =
            !system.faults.empty() || options.counters ? Recall::kNever : may_recall(graph);
        machine.collectives().allow_shortcuts(counts, recall, options.fidelity == Fidelity::kFast);
        if (recall != Recall::kNever && may_remember_messages(graph))
            machine.collectives().remember_messages(counts);
    }
    Replays replays;
    std::size_t operations = 0;
    for (const std::uint32_t rank : simulated) {
        if (graph.ranks[rank]->operations.empty())
            continue;
        replays.add(
            fmt::format("replay{}", rank).c_str(), rank, graph.ranks[rank], machine.gpu(rank),
            machine.copies(rank), machine.collectives(), simulation.scheduler());
        operations += graph.ranks[rank]->operations.size();
    }
    HostThread host_thread;
    for (const auto& replay : replays)
        replay->share(host_thread);
    Sampler sampler(
        machine, outcome, simulation.scheduler(), whole.ranks.size() / simulated.size());
    std::vector<Probe*> probes = options.probes;
    if (options.counters)
        probes.push_back(&sampler);
    std::optional<LoadRecorder> recorder;
    if (options.loads) {
        recorder.emplace(
            machine, counts, simulation.scheduler(), whole.ranks.size() / simulated.size(), fold);
        probes.push_back(&*recorder);
    }
    PacketProbes of_packets(probes);
    attach(probes, of_packets, machine, replays);
    for (Probe* probe : probes)
        probe->on_simulation_begin(options.label);
    for (const auto& replay : replays)
        replay->start();
    Guard guard(system, whole, options.limits, machine, replays);
    std::uint64_t counted_at = 0;
    double half_done = 0;
    const Time end = simulation.run([&](Time now, std::uint64_t events) {
        for (Probe* probe : probes)
            probe->on_slice(now);
        if (!guard.goes_on(now, events))
            return false;
        if (options.progress) {
            if (events >= counted_at + kEventsToCount) {
                counted_at = events;
                half_done = machine.collectives().half_done();
            }
            const double done = static_cast<double>(guard.ended()) + half_done;
            const auto all = static_cast<double>(std::max<std::size_t>(1, operations));
            options.progress(std::min(1.0, done / all), events);
        }
        return true;
    });
    for (const auto& replay : replays)
        if (!replay->finished())
            report_unfinished(graph, machine, replays, end, guard.why());
    if (!machine.collectives().wrong_results().empty())
        throw SimulationError("collectives", end, machine.collectives().wrong_results().front());
    SWITCHFOLD_CHECK(
        machine.fabric().values().live() == 0, "numbers are left in the fabric after the run");
    std::uint64_t last = 0;
    outcome.times.resize(whole.ranks.size());
    for (const auto& replay : replays) {
        outcome.times[replay->rank()] = replay->times();
        for (const OperationTimes& t : replay->times())
            last = std::max(last, t.end.count());
    }
    for (std::size_t rank = 0; fold && rank < whole.ranks.size(); ++rank)
        if (fold->image_of_rank[rank] != rank)
            outcome.times[rank] = outcome.times[fold->image_of_rank[rank]];
    outcome.folded_ranks = static_cast<double>(whole.ranks.size() - simulated.size());
    outcome.end_ps = last;
    outcome.collectives = machine.collectives().records();
    if (sets)
        outcome.collectives = sets->all(outcome.collectives);
    outcome.notes = machine.collectives().notes();
    outcome.events = simulation.scheduler().events();
    outcome.statistics = collect_statistics(machine, counts, Time(last), fold);
    if (recorder) {
        outcome.loads = recorder->loads(Time(last), fold);
        if (!options.counters)
            outcome.counters = recorder->counters(Time(last));
    }
    outcome.jumped_us = to_microseconds(machine.collectives().jumped());
    if (options.fidelity == Fidelity::kFast && outcome.jumped_us > 0)
        outcome.notes.emplace_back("repeated work was skipped at a pace that may not have settled: "
                                   "times may be up to 4 % off (fidelity fast)");
    else if (const double us = to_microseconds(machine.collectives().at_mean_pace()); us > 0)
        outcome.notes.push_back(fmt::format(
            "{:.0f} us of collectives along trees or chains were skipped at their mean pace, known "
            "to 0.6 %: "
            "times may be up to 1.5 % off (fidelity exact simulates all)",
            us));
    outcome.coarse_bytes = static_cast<double>(machine.collectives().coarse().count());
    note_placed_kernels(machine, outcome);
    if (fold && fold->error > kSmallFoldError)
        outcome.notes.push_back(fmt::format(
            "{} ranks stand for all {}: times may be up to {:.2g} % off (fidelity exact "
            "simulates all)",
            simulated.size(), whole.ranks.size(), 100 * fold->error));
    if (coarser)
        outcome.notes.push_back(fmt::format(
            "packets are {} instead of {}: times may be up to 3 % off (fidelity fast)",
            to_string(kLargePackets), to_string(given.collectives->transfer_unit)));
    return outcome;
}

}  // namespace switchfold
