// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A part of a change.
struct ChangePhaseResult {
    std::string name;
    double seconds = 0;
    bool beside = false;     ///< members train on meanwhile
    bool simulated = false;  ///< bytes over a network or storage, or ranks that wait for each
                             ///< other; else a parameter
};

/// The step in which state travels to joiners.
struct JoiningStepResult {
    double step_s = 0;      ///< of the old members, waiting included
    double alone_s = 0;     ///< their step without it
    double window_s = 0;    ///< in which the state is constant
    double transfer_s = 0;  ///< of the state, beside training
    double wait_s = 0;      ///< of the update for it
    bool fits = true;       ///< the state travels within the window
};

/// The step beside which state is copied to hosts for an asynchronous checkpoint.
struct CheckpointStepResult {
    std::uint32_t members = 0;
    double step_s = 0;     ///< waiting included
    double alone_s = 0;    ///< their step without it
    double window_s = 0;   ///< in which the state is constant
    double copied_s = 0;   ///< from the begin of the step until the hosts have it
    double wait_s = 0;     ///< of the update for it
    double written_s = 0;  ///< from the begin of the step until the storage has it
};

/// What a change of the members cost: results apart, never one number.
struct ChangeResult {
    std::string method;
    std::string cause;  ///< "change", "failure", "repair or spare"
    std::vector<std::uint32_t> added;
    std::vector<std::uint32_t> removed;
    std::uint32_t from = 0;  ///< members
    std::uint32_t to = 0;
    double asked_s = 0;
    double stopped_s = 0;
    double resumed_s = 0;
    double pause_s = 0;    ///< of the old members
    double to_size_s = 0;  ///< from the request to the begin of the first step at the new size
    double gpu_seconds_lost = 0;
    double slowdown_s = 0;  ///< of the step beside the join
    double lost_s = 0;      ///< training that has to be done again
    std::uint64_t lost_steps = 0;
    double late_s = 0;    ///< it was asked for while another was under way
    bool reached = true;  ///< false: the run ended before
    std::optional<JoiningStepResult> joining;
    std::vector<ChangePhaseResult> phases;
};

/// A stretch of the run in which nothing changes.
struct RunStretchResult {
    double begin_s = 0;
    double end_s = 0;
    std::uint32_t members = 0;
    std::string kind;  ///< "training", "joining step", "pause", "checkpoint", "checkpoint step",
                       ///< "lost step"
    std::uint64_t steps = 0;
    double step_us = 0;
    double samples_per_s = 0;
};

/// A run over many steps in which members come and go.
struct ChangesResult {
    double state_bytes = 0;  ///< weights and optimizer state of a member
    std::vector<ChangeResult> changes;
    std::vector<CheckpointStepResult> checkpoint_steps;  ///< one of each number of members
    std::vector<RunStretchResult> stretches;
    std::uint64_t steps = 0;  ///< that count
    double end_s = 0;
    double samples_per_s = 0;      ///< that count, over the whole run
    double share_of_training = 0;  ///< of the run's time, in which members trained what counts
    double paused_s = 0;           ///< for changes
    double checkpoints_s = 0;      ///< pauses for them, and what their steps take longer
    double storage_s = 0;          ///< of it: until the one before was written
    double lost_s = 0;
    std::uint32_t checkpoints = 0;
    double gpu_seconds_held = 0;
    double gpu_seconds_lost = 0;
    std::uint32_t simulations = 0;  ///< of steps and transfers
    std::vector<std::string> notes;
};

}  // namespace switchfold
