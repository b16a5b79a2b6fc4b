// SPDX-License-Identifier: Apache-2.0
#include "sim/elastic/changes.h"

#include "core/error.h"
#include "core/named_path.h"
#include "models/collectives/choice/named_policies.h"
#include "models/collectives/library.h"
#include "sim/elastic/change_jobs.h"
#include "sim/elastic/step_graphs.h"
#include "sim/machine/system_queries.h"
#include "training/elastic/failures.h"
#include "training/elastic/phases.h"
#include "training/elastic/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

using elastic::Change;
using elastic::Members;
using elastic::Method;

Members all_but(const Members& members, const Members& left_out) {
    Members rest;
    std::set_difference(
        members.begin(), members.end(), left_out.begin(), left_out.end(), std::back_inserter(rest));
    return rest;
}

/// The run of one scenario.
class OneRun {
public:
    OneRun(
        const ChangeScenario& scenario, const std::filesystem::path& file, const BlameRun& blame) :
        scenario_(scenario),
        params_(*scenario.experiment->run),
        blame_(blame),
        graphs_(*scenario.experiment, file.parent_path(), gpus_of(*scenario.system)),
        topology_(build_topology(scenario.system->topology)),
        jobs_(
            scenario.name, *scenario.system, graphs_, scenario.policies, scenario.options,
            scenario.overlap, params_) {
        follow(file.parent_path());
        want();
    }

    [[nodiscard]] ChangeJobs& jobs() { return jobs_; }
    [[nodiscard]] ChangesResult result() const {
        try {
            return told(compose());
        } catch (const std::overflow_error&) {
            fail(
                {{"/costs", "leads to a time of more than 213 days, the most that a simulated time "
                            "holds; expected faster storage or shorter phases"}});
        }
    }

private:
    [[noreturn]] void fail(PlanProblems problems) const {
        for (auto& [pointer, what] : problems)
            pointer = "/run" + pointer;
        throw blame_(scenario_.index, problems);
    }
    /// GPUs of the members.
    [[nodiscard]] std::uint32_t ranks_of(const Members& members) const {
        return static_cast<std::uint32_t>(members.size()) * graphs_.gpus().each();
    }
    [[nodiscard]] std::string pointer_of(std::size_t change) const {
        const auto& written = changes_[change].written;
        return written ? fmt::format("/changes/{}", *written) : "/failures";
    }

    void follow(const std::filesystem::path& folder) {
        changes_ = params_.written();
        first_ = graphs_.first_members();
        const std::uint32_t gpus = gpus_of(*scenario_.system);
        if (params_.failures) {
            const FailureParams& f = *params_.failures;
            const std::vector<elastic::Failure> failures =
                f.file.empty() ? elastic::draw_failures(
                                     gpus, f.per_gpu_day, params_.time, scenario_.experiment->seed)
                               : elastic::read_failures(path_from(folder, f.file));
            changes_ = elastic::with_failures(
                first_, changes_, failures,
                {f.method, f.rejoin, f.repair, f.spares / graphs_.gpus().each()}, graphs_.gpus(),
                params_.time);
        }
        elastic::ChangeProblems found;
        steps_ = elastic::follow_changes(first_, changes_, graphs_.gpus(), found);
        PlanProblems problems;
        for (const auto& [pointer, what] : found)
            problems.emplace_back(
                pointer_of(std::stoul(pointer.substr(1))),
                fmt::format("{} (with the run's failures)", what));
        if (!problems.empty())
            fail(std::move(problems));
    }

    [[nodiscard]] const Members& before(std::size_t change) const {
        return change == 0 ? first_ : steps_[change - 1].members;
    }
    /// Members that hold the state: those that were there before the change.
    [[nodiscard]] Members sources(std::size_t change) const {
        return all_but(steps_[change].members, steps_[change].added);
    }
    /// Whether joiners receive the state within a step.
    [[nodiscard]] bool joins(std::size_t change) const {
        return changes_[change].method == Method::kJoin && graphs_.moves_beside();
    }
    /// Whether what members divide moves while nobody trains.
    [[nodiscard]] bool divides_anew(std::size_t change) const {
        const Method method = changes_[change].method;
        return graphs_.divides() &&
               (method == Method::kLeave || (method == Method::kJoin && !joins(change)));
    }
    [[nodiscard]] bool broadcasts(std::size_t change) const {
        const Method method = changes_[change].method;
        return (method == Method::kReconnect ||
                (method == Method::kRestart && params_.costs->readers == elastic::Readers::kOne)) &&
               steps_[change].members.size() > 1;
    }
    /// Members that have the state first; in a restart, those that read it.
    [[nodiscard]] Members first_with_state(std::size_t change) const {
        const Members kept = sources(change);
        return {kept.empty() ? steps_[change].members.front() : kept.front()};
    }

    /// Members that hold what members divide: all from before, or the reader of a checkpoint.
    [[nodiscard]] Members holders(std::size_t change) const {
        if (!graphs_.divides())
            return {};
        return changes_[change].method == Method::kReconnect ? before(change)
                                                             : first_with_state(change);
    }

    /// Whether members wrap the network anew and agree on its weights.
    [[nodiscard]] bool syncs(std::size_t change) const {
        const Method method = changes_[change].method;
        return params_.costs->sync_weights && graphs_.moves_beside() &&
               (method == Method::kJoin || method == Method::kLeave ||
                method == Method::kFailure) &&
               steps_[change].members.size() > 1;
    }

    /// Whether the run has asynchronous checkpoints.
    [[nodiscard]] bool copies() const {
        return params_.checkpoint && params_.checkpoint->asynchronous;
    }

    void want() {
        PlanProblems problems;
        jobs_.want_step(first_, problems);
        if (problems.empty() && copies())
            jobs_.want_checkpoint(first_, problems);
        if (!problems.empty())
            fail(std::move(problems));
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            PlanProblems found;
            jobs_.want_step(steps_[i].members, found);
            if (copies() && found.empty())
                jobs_.want_checkpoint(steps_[i].members, found);
            if (joins(i) && found.empty())
                jobs_.want_joining(before(i), steps_[i].added, found);
            if (changes_[i].method == Method::kReconnect && sources(i).empty())
                found.emplace_back(
                    "", "leaves no member that has the state; expected one, or a restart");
            if (broadcasts(i) && found.empty()) {
                const Members from = first_with_state(i);
                const Members to = all_but(steps_[i].members, from);
                jobs_.want_transfer(from, to, holders(i));
                check_switch(from, to, problems);
            }
            if (syncs(i) && found.empty())
                jobs_.want_weights(steps_[i].members);
            if (divides_anew(i) && found.empty())
                jobs_.want_divided(before(i), steps_[i].members);
            if (joins(i))
                check_switch({before(i).front()}, steps_[i].added, problems);
            for (const auto& [pointer, what] : found)
                problems.emplace_back(
                    pointer_of(i), pointer.empty()
                                       ? what
                                       : fmt::format(
                                             "leads to a step of {} GPUs that cannot run: {} {}",
                                             ranks_of(steps_[i].members), pointer.substr(1), what));
        }
        if (!problems.empty())
            fail(std::move(problems));
    }

    void check_switch(const Members& from, const Members& to, PlanProblems& problems) const {
        if (params_.broadcast != elastic::Transfer::kInSwitch || !problems.empty())
            return;
        const CollectivePolicy policy = multicast_copy_policy();
        const CollectiveCall call{CollectiveKind::kBroadcast, Bytes(0), Datatype::kUint8};
        Members members = to;
        members.push_back(from.front());
        const CollectiveParams& params = *scenario_.system->collectives;
        for (std::uint32_t place = 0; place < graphs_.gpus().each() && problems.empty(); ++place) {
            Members ranks = graphs_.gpus().at(members, place);
            std::sort(ranks.begin(), ranks.end());
            const CallGroup group(topology_, ranks, params.transfer_unit);
            const Refusal refusal =
                library_for(call.kind, policy).refuses(params, policy, call, group);
            if (refusal)
                problems.emplace_back(
                    "/broadcast",
                    fmt::format(
                        "is in_switch, which {} cannot do: {}; expected ring, tree or scatter",
                        scenario_.system->name, refusal.why));
        }
    }

    [[nodiscard]] elastic::ChangeFacts facts(std::size_t i) const {
        const Change& change = changes_[i];
        elastic::ChangeFacts f;
        f.method = change.method;
        f.died = change.died;
        f.announced = change.announced;
        f.notice = change.notice;
        f.placement = placement_of(steps_[i].members);
        f.ranks_before = ranks_of(before(i));
        f.added = ranks_of(steps_[i].added);
        f.state = graphs_.state();
        if (broadcasts(i)) {
            const Members from = first_with_state(i);
            f.broadcast = jobs_.transfer(from, all_but(steps_[i].members, from), holders(i));
        }
        if (syncs(i))
            f.weights = jobs_.weights(steps_[i].members);
        if (divides_anew(i))
            f.divided_anew = jobs_.divided(before(i), steps_[i].members);
        return f;
    }

    [[nodiscard]] elastic::Placement placement_of(const Members& members) const {
        const CollectiveParams& params = *scenario_.system->collectives;
        const std::uint32_t size = gpus_of_machine(*scenario_.system);
        elastic::Placement placement;
        const Members ranks = graphs_.gpus().all(members);
        for (const std::uint32_t rank : ranks)
            placement.machine_of.push_back(rank / size);
        placement.rings = view_group(topology_, params.transfer_unit, ranks).rings;
        placement.channels = params.channels;
        return placement;
    }

    [[nodiscard]] elastic::Pace pace(const Members& members) const {
        elastic::Pace pace;
        pace.step = jobs_.step(members);
        pace.samples = graphs_.samples(members.size());
        pace.members = ranks_of(members);
        if (params_.checkpoint)
            pace.write = elastic::write_time(*params_.costs, graphs_.state(), pace.members);
        if (copies())
            pace.copies = jobs_.checkpoint(members);
        return pace;
    }

    [[nodiscard]] elastic::Checkpoints checkpoints() const {
        if (!params_.checkpoint)
            return {};
        return {params_.checkpoint->every, params_.checkpoint->asynchronous};
    }

    [[nodiscard]] elastic::TimedChange timed(std::size_t i) const {
        const Change& change = changes_[i];
        elastic::TimedChange timed;
        timed.at = change.at;
        timed.died = change.died;
        timed.from_checkpoint = change.died && change.method == Method::kRestart;
        timed.saves = !change.died && change.method == Method::kRestart;
        timed.notice = change.notice;
        timed.phases = elastic::phases_of(facts(i), *params_.costs);
        timed.added = ranks_of(steps_[i].added);
        timed.removed = ranks_of(steps_[i].removed);
        if (joins(i))
            timed.joining = jobs_.joining(before(i), steps_[i].added);
        return timed;
    }

    /// Limits their number, because each forms a stretch of the run.
    void check_checkpoints() const {
        constexpr double kMost = 100'000;
        const double step = to_seconds(jobs_.step(first_));
        const double length = params_.time.count() > 0 ? to_seconds(params_.time)
                                                       : step * static_cast<double>(params_.steps);
        const double every = std::max(to_seconds(params_.checkpoint->every), step);
        if (length / every > kMost)
            fail(
                {{"/checkpoint/every",
                  fmt::format(
                      "leads to about {:.0f} checkpoints; expected at most {:.0f}", length / every,
                      kMost)}});
    }

    [[nodiscard]] elastic::RunTimeline compose() const {
        if (params_.checkpoint)
            check_checkpoints();
        std::vector<elastic::Pace> paces{pace(first_)};
        std::vector<elastic::TimedChange> all;
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            paces.push_back(pace(steps_[i].members));
            all.push_back(timed(i));
        }
        elastic::RunTimeline timeline =
            elastic::compose_run(paces, all, {params_.steps, params_.time}, checkpoints());
        PlanProblems problems;
        for (std::size_t i = 0; i < changes_.size(); ++i)
            if (!timeline.changes[i].reached && changes_[i].written &&
                timeline.changes[i].stopped == timeline.end &&
                changes_[i].at.step.has_value() != (params_.steps > 0))
                problems.emplace_back(
                    pointer_of(i) + "/at",
                    fmt::format(
                        "is past the end of the run, after {} steps and {:.3f} s; expected a "
                        "change before that",
                        timeline.steps, to_seconds(timeline.end)));
        if (timeline.steps < params_.steps)
            problems.emplace_back(
                "/steps",
                fmt::format(
                    "is {}, and after {} of them 213 days are over, the most that a simulated time "
                    "holds; expected fewer",
                    params_.steps, timeline.steps));
        if (!problems.empty())
            fail(std::move(problems));
        return timeline;
    }

    [[nodiscard]] ChangeResult told(std::size_t i, const elastic::ChangeOutcome& outcome) const {
        const Change& change = changes_[i];
        ChangeResult r;
        r.method = enum_name(change.method);
        r.cause = change.written ? "change" : change.died ? "failure" : "repair or spare";
        r.added = graphs_.gpus().all(steps_[i].added);
        r.removed = graphs_.gpus().all(steps_[i].removed);
        r.from = ranks_of(before(i));
        r.to = ranks_of(steps_[i].members);
        r.asked_s = to_seconds(outcome.asked);
        r.stopped_s = to_seconds(outcome.stopped);
        r.resumed_s = to_seconds(outcome.resumed);
        r.pause_s = to_seconds(outcome.pause);
        r.to_size_s = to_seconds(outcome.to_size());
        r.gpu_seconds_lost = outcome.gpu_seconds;
        r.slowdown_s = to_seconds(outcome.slowdown);
        r.lost_s = to_seconds(outcome.lost);
        r.lost_steps = outcome.lost_steps;
        r.late_s = to_seconds(outcome.late);
        r.reached = outcome.reached;
        const elastic::TimedChange made = timed(i);
        for (const elastic::Phase& phase : made.phases)
            r.phases.push_back(
                {std::string(phase.name), to_seconds(phase.time), phase.beside, phase.simulated});
        if (outcome.storage.count() > 0)
            r.phases.push_back({"earlier checkpoint", to_seconds(outcome.storage), false, true});
        if (made.joining)
            r.joining = {to_seconds(made.joining->step),   to_seconds(made.joining->alone),
                         to_seconds(made.joining->window), to_seconds(made.joining->transfer),
                         to_seconds(made.joining->wait),   made.joining->fits()};
        return r;
    }

    static std::string_view word(elastic::StretchKind kind) {
        switch (kind) {
        case elastic::StretchKind::kTraining:
            return "training";
        case elastic::StretchKind::kJoining:
            return "joining step";
        case elastic::StretchKind::kPause:
            return "pause";
        case elastic::StretchKind::kCheckpoint:
            return "checkpoint";
        case elastic::StretchKind::kCheckpointStep:
            return "checkpoint step";
        case elastic::StretchKind::kLostStep:
            break;
        }
        return "lost step";
    }

    [[nodiscard]] ChangesResult told(const elastic::RunTimeline& timeline) const {
        constexpr double kMicroseconds = 1e6;  // per second
        ChangesResult r;
        r.state_bytes = static_cast<double>(graphs_.state().all().count());
        for (std::size_t i = 0; i < timeline.changes.size(); ++i)
            r.changes.push_back(told(i, timeline.changes[i]));
        for (const elastic::Stretch& s : timeline.stretches) {
            const double seconds = to_seconds(s.end - s.begin);
            r.stretches.push_back(
                {to_seconds(s.begin), to_seconds(s.end), s.members, std::string(word(s.kind)),
                 s.steps,
                 s.steps > 0 ? seconds / static_cast<double>(s.steps) * kMicroseconds : 0.0,
                 static_cast<double>(s.samples) / seconds});
        }
        r.steps = timeline.steps;
        r.end_s = to_seconds(timeline.end);
        r.samples_per_s = timeline.samples_per_second();
        r.share_of_training = timeline.share_of_training();
        r.paused_s = to_seconds(timeline.paused);
        r.checkpoints_s = to_seconds(timeline.checkpoints);
        r.lost_s = to_seconds(timeline.lost);
        r.checkpoints = timeline.checkpoints_written;
        r.gpu_seconds_held = timeline.gpu_seconds_held;
        r.gpu_seconds_lost = timeline.gpu_seconds_lost;
        if (copies())
            add_checkpoint_steps(r);
        r.storage_s = to_seconds(timeline.storage);
        r.simulations = static_cast<std::uint32_t>(jobs_.size());
        add_notes(r);
        return r;
    }

    /// One entry per number of members, in order.
    void add_checkpoint_steps(ChangesResult& r) const {
        std::map<std::size_t, const Members*> sets{{first_.size(), &first_}};
        for (const elastic::Step& step : steps_)
            sets.emplace(step.members.size(), &step.members);
        for (const auto& [size, members] : sets) {
            const elastic::Pace p = pace(*members);
            r.checkpoint_steps.push_back(
                {p.members, to_seconds(p.copies->step), to_seconds(p.step),
                 to_seconds(p.copies->window), to_seconds(p.copies->copied),
                 to_seconds(p.copies->wait), to_seconds(p.copies->written)});
        }
    }

    void add_notes(ChangesResult& r) const {
        constexpr double kMilliseconds = 1e3;  // per second
        for (const ChangeResult& change : r.changes)
            if (change.joining && !change.joining->fits)
                r.notes.push_back(fmt::format(
                    "the join at {:.1f} s pauses training: the state takes {:.1f} ms beside "
                    "training, and is constant for {:.1f} ms; members wait {:.1f} ms",
                    change.asked_s, change.joining->transfer_s * kMilliseconds,
                    change.joining->window_s * kMilliseconds,
                    change.joining->wait_s * kMilliseconds));
        if (r.storage_s > 0)
            r.notes.push_back(fmt::format(
                "checkpoints every {} begin before the previous one is written: members wait "
                "{:.1f} s for the storage",
                to_string(params_.checkpoint->every), r.storage_s));
        const auto late = std::count_if(
            r.changes.begin(), r.changes.end(), [](const ChangeResult& c) { return c.late_s > 0; });
        if (late > 0)
            r.notes.push_back(fmt::format(
                "{} changes were asked for while another was under way, and waited", late));
        const auto cut = std::count_if(
            r.changes.begin(), r.changes.end(), [](const ChangeResult& c) { return !c.reached; });
        if (cut > 0)
            r.notes.push_back(fmt::format("the run ended before {} of its changes were over", cut));
        if (params_.keep == elastic::Keep::kPerGpu && !r.changes.empty())
            r.notes.emplace_back(
                "members keep their samples: the batch of a step, and with it what a learning "
                "rate means, changes with their number");
    }

    const ChangeScenario& scenario_;
    const RunParams& params_;
    const BlameRun& blame_;
    StepGraphs graphs_;
    Topology topology_;
    ChangeJobs jobs_;
    std::vector<Change> changes_;
    Members first_;
    std::vector<elastic::Step> steps_;
};

}  // namespace

std::vector<ChangesResult> run_changes(
    const std::vector<ChangeScenario>& scenarios, const std::filesystem::path& file,
    const RunJobs& run, const BlameRun& blame) {
    std::deque<OneRun> runs;
    std::vector<Job> jobs;
    std::vector<std::pair<std::size_t, std::size_t>> of;  // run, index of its job
    for (const ChangeScenario& scenario : scenarios) {
        OneRun& one = runs.emplace_back(scenario, file, blame);
        one.jobs().add_to(jobs);
        for (std::size_t i = 0; i < one.jobs().size(); ++i)
            of.emplace_back(runs.size() - 1, i);
    }
    run(jobs, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        runs[of[job].first].jobs().keep(of[job].second, result.bytes);
    });
    std::vector<ChangesResult> results;
    for (const OneRun& one : runs)
        results.push_back(one.result());
    return results;
}

}  // namespace switchfold
