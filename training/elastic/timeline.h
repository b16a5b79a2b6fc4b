// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/elastic/phases.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace switchfold::elastic {

/// Simulated step during which state is copied to hosts for an asynchronous checkpoint.
struct CheckpointStep {
    Time step;    ///< of the members, including waits
    Time window;  ///< from the step's begin to the update of the copying members, without the copy;
                  ///< the state is constant in it
    Time copied;  ///< from the step's begin until the copies are complete
    Time wait;    ///< of the update for the copy; 0 if the copy fits the window
    Time written;  ///< from the step's begin until all copies are in the storage
};

/// Speed of training with a set of members.
struct Pace {
    Time step;
    std::uint64_t samples = 0;
    std::uint32_t members = 1;
    Time write{};                            ///< of a synchronous checkpoint
    std::optional<CheckpointStep> copies{};  ///< of an asynchronous checkpoint
    /// Additional time of a step with copies.
    [[nodiscard]] Time checkpoint_cost() const {
        return copies && copies->step > step ? copies->step - step : Time();
    }
};

/// Simulated step during which state travels to joiners.
struct JoiningStep {
    Time step;      ///< of the old members, including waits
    Time alone;     ///< the old members' step without the transfer
    Time window;    ///< from the step's begin to the update, without the transfer; the state is
                    ///< constant in it
    Time transfer;  ///< from the step's begin until all joiners have the state
    Time wait;      ///< of the update for the transfer; 0 if the transfer fits the window

    [[nodiscard]] bool fits() const { return wait.count() == 0; }
    /// Slowdown of training beside the transfer.
    [[nodiscard]] Time slowdown() const {
        return step > alone + wait ? step - alone - wait : Time();
    }
};

/// A change in a run.
struct TimedChange {
    Moment at;
    bool died = false;             ///< the step in progress is lost
    bool from_checkpoint = false;  ///< so are all steps since the last checkpoint
    bool saves = false;            ///< the change writes a checkpoint of its own
    Time notice;
    std::vector<Phase> phases;
    std::optional<JoiningStep> joining;
    std::uint32_t added = 0;
    std::uint32_t removed = 0;
};

/// Checkpoints that a run writes besides those of restarts. Writers have memory for one copy: the
/// next checkpoint waits until the previous one is written.
struct Checkpoints {
    Time every;  ///< interval in the run's time; 0: none
    bool asynchronous = false;
};

/// Either of the two.
struct RunLength {
    std::uint64_t steps = 0;
    Time time;
};

enum class StretchKind : std::uint8_t {
    kTraining,
    kJoining,
    kPause,
    kCheckpoint,      ///< members wait for the storage
    kCheckpointStep,  ///< members train while state is copied
    kLostStep
};

/// A stretch of the run with constant members and activity.
struct Stretch {
    Time begin;
    Time end;
    std::uint32_t members = 0;
    StretchKind kind = StretchKind::kTraining;
    std::uint64_t steps = 0;
    std::uint64_t samples = 0;
};

/// Cost of a change. The times overlap and are not meant to be added up.
struct ChangeOutcome {
    Time asked;     ///< time of the request; for a leave or failure, when members go
    Time stopped;   ///< when the members stopped or switched
    Time resumed;   ///< begin of the first step with the new members
    Time pause;     ///< of the old members
    Time slowdown;  ///< of the step beside the join
    Time lost;      ///< training time to be repeated
    std::uint64_t lost_steps = 0;
    double gpu_seconds = 0;  ///< GPU time held without training because of the change
    Time late;               ///< wait for the preceding change
    Time storage;  ///< part of the pause in which its own save waits for a checkpoint being written
    bool reached = false;  ///< false: the run ended first
    [[nodiscard]] Time to_size() const { return resumed - asked; }
};

struct RunTimeline {
    std::vector<Stretch> stretches;
    std::vector<ChangeOutcome> changes;
    std::uint64_t steps = 0;    ///< those that count
    std::uint64_t samples = 0;  ///< those that count
    Time end;
    Time trained;      ///< time of steps that count
    Time paused;       ///< for changes
    Time checkpoints;  ///< pauses for them, and additional time of steps with copies
    Time storage;      ///< part of it in which a checkpoint waited for the previous one
    Time lost;         ///< training that was repeated or is gone
    std::uint32_t checkpoints_written = 0;
    double gpu_seconds_held = 0;
    double gpu_seconds_lost = 0;  ///< to changes
    /// Share of the run's time spent on training that counts.
    [[nodiscard]] double share_of_training() const;
    [[nodiscard]] double samples_per_second() const;
};

/// Composes a run: `paces[i]` applies before change i, the last one after all changes. Steps repeat
/// between changes.
[[nodiscard]] RunTimeline compose_run(
    const std::vector<Pace>& paces, const std::vector<TimedChange>& changes,
    const RunLength& length, const Checkpoints& checkpoints = {});

}  // namespace switchfold::elastic
