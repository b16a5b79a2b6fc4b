// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/timeline.h"

#include "core/error.h"

#include <algorithm>
#include <limits>

namespace switchfold::elastic {

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

class Composer {
public:
    Composer(
        const std::vector<Pace>& paces, const RunLength& length, const Checkpoints& checkpoints) :
        paces_(paces), length_(length), plan_(checkpoints), next_checkpoint_(checkpoints.every) {
        saved_.push_back({});
    }

    void change(const TimedChange& change) {
        ChangeOutcome& outcome = run_.changes.emplace_back();
        if (change.at.step)
            train(*change.at.step > done_ ? *change.at.step - done_ : 0, kTimeMax);
        const Time asked = change.at.step ? now_ : change.at.time;
        outcome.asked = asked;
        if (change.died)
            train_before(asked);
        else
            train(kMost, asked + waits_beside(change));
        if (over_ || asked >= limit()) {
            end_without(outcome);
            return;
        }
        outcome.late = resumed_ > asked ? resumed_ - asked : Time();
        if (change.died)
            lose(change, asked, outcome);
        join_beside(change, outcome);
        outcome.stopped = now_;
        if (change.saves)
            wait_for_storage(change, outcome);
        const Time paused = now_;
        pass(time_of(change.phases, false), StretchKind::kPause, members() - change.removed);
        outcome.pause += now_ - paused;
        if (change.saves)
            save();
        ++at_;
        outcome.resumed = now_;
        outcome.reached = !over_;
        count_gpus(change, outcome);
        run_.paused += outcome.pause;
        run_.lost += outcome.lost;
    }

    RunTimeline finish() {
        train(kMost, kTimeMax);
        run_.steps = done_;
        run_.samples = samples_;
        run_.end = now_;
        run_.trained = trained_;
        for (const Stretch& stretch : run_.stretches)
            run_.gpu_seconds_held += to_seconds(stretch.end - stretch.begin) * stretch.members;
        return std::move(run_);
    }

private:
    struct Saved {
        Time written;  ///< when it becomes readable
        std::uint64_t steps = 0;
        std::uint64_t samples = 0;
        Time trained;
    };

    [[nodiscard]] const Pace& pace() const { return paces_[at_]; }
    [[nodiscard]] std::uint32_t members() const { return pace().members; }
    [[nodiscard]] Time limit() const { return length_.time.count() > 0 ? length_.time : kTimeMax; }
    /// Detection of a leave happens earlier, beside training; the leave takes effect at its stated
    /// time.
    [[nodiscard]] static Time waits_beside(const TimedChange& change) {
        return change.died || change.notice.count() > 0 ? Time() : time_of(change.phases, true);
    }
    void end_without(ChangeOutcome& outcome) {
        train(kMost, kTimeMax);
        outcome.asked = std::min(outcome.asked, now_);
        outcome.stopped = outcome.resumed = now_;
    }

    void
    add(StretchKind kind, Time time, std::uint32_t members, std::uint64_t steps,
        std::uint64_t samples) {
        if (time.count() == 0)
            return;
        if (!run_.stretches.empty() && steps > 0) {
            Stretch& last = run_.stretches.back();
            if (last.kind == kind && last.members == members &&
                last.samples * steps == samples * last.steps) {
                last.end += time;
                last.steps += steps;
                last.samples += samples;
                now_ += time;
                return;
            }
        }
        run_.stretches.push_back({now_, now_ + time, members, kind, steps, samples});
        now_ += time;
    }

    void count_step(Time trained) {
        ++done_;
        samples_ += pace().samples;
        trained_ += trained;
        over_ = over_ || (length_.steps > 0 && done_ >= length_.steps);
    }

    /// Runs whole steps, up to `steps` or the run's end.
    void run_steps(std::uint64_t steps) {
        const std::uint64_t fit = (limit() - now_).count() / pace().step.count();
        if (steps > fit) {
            steps = fit;
            over_ = true;
        }
        if (length_.steps > 0 && steps >= length_.steps - done_) {
            steps = length_.steps - done_;
            over_ = true;
        }
        const Time time = pace().step * steps;
        add(StretchKind::kTraining, time, members(), steps, pace().samples * steps);
        done_ += steps;
        samples_ += pace().samples * steps;
        trained_ += time;
        // A step cut off by the run's end does not count.
        if (over_ && length_.time.count() > 0)
            add(StretchKind::kLostStep, limit() - now_, members(), 0, 0);
    }

    [[nodiscard]] std::uint64_t steps_until(Time target, bool whole_step_over) const {
        if (target <= now_)
            return 0;
        const std::uint64_t step = pace().step.count();
        const std::uint64_t time = (target - now_).count();
        return time / step + (whole_step_over && time % step != 0 ? 1 : 0);
    }

    /// Trains for `steps` steps, or to the first step boundary at or after `target`.
    void train(std::uint64_t steps, Time target) {
        while (!over_ && steps > 0 && now_ < target) {
            const bool saves = plan_.every.count() > 0 && next_checkpoint_ < target;
            const std::uint64_t want =
                std::min(steps, steps_until(saves ? next_checkpoint_ : target, true));
            const std::uint64_t before = done_;
            run_steps(want);
            steps -= std::min(steps, done_ - before);
            // If a change is due, it precedes the checkpoint.
            if (saves && !over_ && steps > 0 && now_ >= next_checkpoint_) {
                const std::uint64_t trained = done_;
                checkpoint();
                steps -= std::min(steps, done_ - trained);
            }
        }
    }

    /// Trains the whole steps that end before a failure.
    void train_before(Time target) {
        while (!over_ && now_ < target) {
            const bool saves = plan_.every.count() > 0 && next_checkpoint_ < target;
            if (saves) {
                const std::uint64_t steps = steps_until(next_checkpoint_, true);
                const Time boundary = now_ + pace().step * steps;
                // A step with copies that does not end before the failure is lost like any other.
                const Time whole = plan_.asynchronous
                                       ? std::max(boundary, storage_free_) + pace().copies->step
                                       : boundary;
                if (whole <= target) {
                    run_steps(steps);
                    if (!over_)
                        checkpoint();
                    continue;
                }
            }
            run_steps(steps_until(target, false));
            return;
        }
    }

    void checkpoint() {
        const Time asked = now_;
        if (storage_free_ > now_)
            pass(storage_free_ - now_, StretchKind::kCheckpoint, members());
        run_.storage += now_ - asked;
        run_.checkpoints += now_ - asked;
        if (!over_)
            plan_.asynchronous ? copy_beside() : write();
        next_checkpoint_ = now_ + plan_.every;
    }

    void write() {
        const Time began = now_;
        pass(pace().write, StretchKind::kCheckpoint, members());
        run_.checkpoints += now_ - began;
        if (over_)
            return;
        saved_.push_back({now_, done_, samples_, trained_});
        ++run_.checkpoints_written;
    }

    /// Copies the state as of the step's begin.
    void copy_beside() {
        const CheckpointStep& copies = *pace().copies;
        if (copies.step > limit() - now_) {
            over_ = true;
            add(StretchKind::kLostStep, limit() - now_, members(), 0, 0);
            return;
        }
        storage_free_ = now_ + copies.written;
        saved_.push_back({storage_free_, done_, samples_, trained_});
        ++run_.checkpoints_written;
        const Time cost = pace().checkpoint_cost();
        run_.checkpoints += cost;
        add(StretchKind::kCheckpointStep, copies.step, members(), 1, pace().samples);
        count_step(copies.step - cost);
    }

    /// A change's own save waits for the checkpoint being written.
    void wait_for_storage(const TimedChange& change, ChangeOutcome& outcome) {
        if (storage_free_ <= now_ || over_)
            return;
        const Time began = now_;
        pass(storage_free_ - now_, StretchKind::kPause, members() - change.removed);
        outcome.storage = now_ - began;
        outcome.pause += outcome.storage;
    }

    void save() {
        saved_.push_back({now_, done_, samples_, trained_});
        next_checkpoint_ = now_ + plan_.every;
    }

    /// Advances time without training; truncated by the run's end.
    void pass(Time time, StretchKind kind, std::uint32_t held) {
        const Time rest = limit() - now_;
        if (time > rest) {
            time = rest;
            over_ = true;
        }
        add(kind, time, held, 0, 0);
    }

    /// Discards the step in progress when ranks died and, for a restart from a checkpoint, all
    /// progress since.
    void lose(const TimedChange& change, Time died, ChangeOutcome& outcome) {
        if (died > now_) {
            outcome.lost = died - now_;
            pass(died - now_, StretchKind::kLostStep, members());
        }
        if (!change.from_checkpoint)
            return;
        while (saved_.back().written > died && saved_.size() > 1)
            saved_.pop_back();
        storage_free_ = std::min(storage_free_, now_);  // its writers are gone
        const Saved& from = saved_.back();
        outcome.lost += trained_ - from.trained;
        outcome.lost_steps = done_ - from.steps;
        done_ = from.steps;
        samples_ = from.samples;
        trained_ = from.trained;
    }

    void join_beside(const TimedChange& change, ChangeOutcome& outcome) {
        if (!change.joining || over_)
            return;
        const JoiningStep& joining = *change.joining;
        pass(joining.step, StretchKind::kJoining, members());
        if (over_)
            return;
        outcome.slowdown = joining.slowdown();
        outcome.pause = joining.wait;
        run_.stretches.back().steps = 1;
        run_.stretches.back().samples = pace().samples;
        count_step(std::min(joining.alone, joining.step));
    }

    /// Counts remaining old members for the time they pause or train slower, all old members for
    /// lost training, and joiners from the request on.
    void count_gpus(const TimedChange& change, ChangeOutcome& outcome) {
        resumed_ = outcome.resumed;
        const std::uint32_t old_members = paces_[at_ - 1].members;
        outcome.gpu_seconds =
            to_seconds(outcome.pause + outcome.slowdown) * (old_members - change.removed) +
            to_seconds(outcome.lost) * old_members + to_seconds(outcome.to_size()) * change.added;
        run_.gpu_seconds_lost += outcome.gpu_seconds;
        run_.gpu_seconds_held += to_seconds(outcome.to_size()) * change.added;
    }

    const std::vector<Pace>& paces_;
    const RunLength& length_;
    const Checkpoints& plan_;
    RunTimeline run_;
    std::size_t at_ = 0;  ///< index into paces_
    Time now_;
    Time next_checkpoint_;
    Time storage_free_;  ///< end of the checkpoint being written
    Time resumed_;       ///< end of the last change
    Time trained_;       ///< time of steps that count
    std::uint64_t done_ = 0;
    std::uint64_t samples_ = 0;
    std::vector<Saved> saved_;
    bool over_ = false;
};

}  // namespace

double RunTimeline::share_of_training() const {
    return end.count() == 0 ? 0 : to_seconds(trained) / to_seconds(end);
}

double RunTimeline::samples_per_second() const {
    return end.count() == 0 ? 0 : static_cast<double>(samples) / to_seconds(end);
}

RunTimeline compose_run(
    const std::vector<Pace>& paces, const std::vector<TimedChange>& changes,
    const RunLength& length, const Checkpoints& checkpoints) {
    SWITCHFOLD_CHECK(paces.size() == changes.size() + 1, "a pace is missing");
    if (checkpoints.every.count() > 0 && checkpoints.asynchronous)
        for (const Pace& pace : paces)
            SWITCHFOLD_CHECK(pace.copies.has_value(), "a step that copies state is missing");
    Composer composer(paces, length, checkpoints);
    for (const TimedChange& change : changes)
        composer.change(change);
    return composer.finish();
}

}  // namespace switchfold::elastic
