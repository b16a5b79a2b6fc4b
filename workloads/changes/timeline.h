// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/changes/phases.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::changes {

/// The step beside which state is copied to hosts for an asynchronous checkpoint, as it was
/// simulated.
struct CheckpointStep {
    Time step;    ///< of the members, with what they wait
    Time window;  ///< from its begin to the update of who copies, without the copy: in it the state
                  ///< is constant
    Time copied;  ///< from the begin of the step until the copies are whole
    Time wait;    ///< of the update for the copy: 0 if it fits the window
    Time written;  ///< from the begin of the step until the storage has all of them
};

/// What a step takes with a set of members.
struct Pace {
    Time step;
    std::uint64_t samples = 0;
    std::uint32_t members = 1;
    Time write{};                            ///< of a checkpoint for which members wait
    std::optional<CheckpointStep> copies{};  ///< of one for which they do not
    /// What the step takes longer that copies state.
    [[nodiscard]] Time checkpoint_cost() const {
        return copies && copies->step > step ? copies->step - step : Time();
    }
};

/// The step in which state travels to joiners, as it was simulated.
struct JoiningStep {
    Time step;      ///< of the old members, with what they wait
    Time alone;     ///< the old members' own step
    Time window;    ///< from its begin to the update, without the transfer: in it the state is
                    ///< constant
    Time transfer;  ///< from the begin of the step until all joiners have the state
    Time wait;      ///< of the update for the transfer: 0 if it fits the window

    [[nodiscard]] bool fits() const { return wait.count() == 0; }
    /// Beside which training is slower.
    [[nodiscard]] Time slowdown() const {
        return step > alone + wait ? step - alone - wait : Time();
    }
};

/// A change in a run.
struct TimedChange {
    Moment at;
    bool died = false;             ///< the step under way is lost
    bool from_checkpoint = false;  ///< and all steps since the last checkpoint
    bool saves = false;            ///< it writes a checkpoint of its own
    Time notice;
    std::vector<Phase> phases;
    std::optional<JoiningStep> joining;
    std::uint32_t added = 0;
    std::uint32_t removed = 0;
};

/// Checkpoints that a run writes beside those of restarts. Who writes has memory for one copy: the
/// next one waits until that is written.
struct Checkpoints {
    Time every;  ///< of a run's time; 0: none
    bool asynchronous = false;
};

/// One of both.
struct RunLength {
    std::uint64_t steps = 0;
    Time time;
};

enum class StretchKind : std::uint8_t {
    kTraining,
    kJoining,
    kPause,
    kCheckpoint,      ///< members wait for the storage
    kCheckpointStep,  ///< they train while state is copied
    kLostStep
};

/// A stretch of the run in which nothing changes.
struct Stretch {
    Time begin;
    Time end;
    std::uint32_t members = 0;
    StretchKind kind = StretchKind::kTraining;
    std::uint64_t steps = 0;
    std::uint64_t samples = 0;
};

/// What a change cost. Times are never added up over different things.
struct ChangeOutcome {
    Time asked;     ///< when it was asked for; of a leave and a failure, when they go
    Time stopped;   ///< when the members stopped, or switched
    Time resumed;   ///< begin of the first step at the new size
    Time pause;     ///< of the old members
    Time slowdown;  ///< of the step beside the join
    Time lost;      ///< of training that has to be done again
    std::uint64_t lost_steps = 0;
    double gpu_seconds = 0;  ///< held and not training for it
    Time late;               ///< it had to wait for the change before it
    Time storage;            ///< of the pause: its own save waits for a checkpoint under way
    bool reached = false;    ///< false: the run ended before it was over
    [[nodiscard]] Time to_size() const { return resumed - asked; }
};

struct RunTimeline {
    std::vector<Stretch> stretches;
    std::vector<ChangeOutcome> changes;
    std::uint64_t steps = 0;    ///< that count
    std::uint64_t samples = 0;  ///< likewise
    Time end;
    Time trained;      ///< what counts
    Time paused;       ///< for changes
    Time checkpoints;  ///< pauses for those, and what steps with copies take longer
    Time storage;      ///< of it: a checkpoint waited until the one before was written
    Time lost;         ///< training that was done again, or is gone
    std::uint32_t checkpoints_written = 0;
    double gpu_seconds_held = 0;
    double gpu_seconds_lost = 0;  ///< to changes
    /// Share of the run's time in which members trained what counts.
    [[nodiscard]] double share_of_training() const;
    [[nodiscard]] double samples_per_second() const;
};

/// Lays a run out: `paces[i]` is that before change i, the last that after all. Between changes
/// steps repeat.
[[nodiscard]] RunTimeline compose_run(
    const std::vector<Pace>& paces,
    const std::vector<TimedChange>& changes,
    const RunLength& length,
    const Checkpoints& checkpoints = {});

}  // namespace switchfold::changes
