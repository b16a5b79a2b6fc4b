// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

/// A phase of a change.
struct ChangePhaseResult {
    std::string name;
    double seconds = 0;
    bool beside = false;  ///< members keep training meanwhile
    bool simulated =
        false;  ///< simulated (transfers, or ranks that wait for each other); otherwise a parameter
};

/// The step during which state travels to joiners.
struct JoiningStepResult {
    double step_s = 0;      ///< of the old members, including waits
    double alone_s = 0;     ///< their step without the transfer
    double window_s = 0;    ///< for which the state is constant
    double transfer_s = 0;  ///< of the state, beside training
    double wait_s = 0;      ///< of the update for the transfer
    bool fits = true;       ///< the transfer fits the window
};

/// The step during which state is copied to hosts for an asynchronous checkpoint.
struct CheckpointStepResult {
    std::uint32_t members = 0;
    double step_s = 0;     ///< including waits
    double alone_s = 0;    ///< the members' step without the copy
    double window_s = 0;   ///< for which the state is constant
    double copied_s = 0;   ///< from the begin of the step until the copies are complete
    double wait_s = 0;     ///< of the update for the copy
    double written_s = 0;  ///< from the begin of the step until the copies are in the storage
};

/// Cost of a change of members. Its parts are reported separately.
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
    double to_size_s = 0;  ///< from the request to the begin of the first step with the new members
    double gpu_seconds_lost = 0;
    double slowdown_s = 0;  ///< of the step beside the join
    double lost_s = 0;      ///< training time to be repeated
    std::uint64_t lost_steps = 0;
    double late_s = 0;    ///< wait for a change that was still in progress
    bool reached = true;  ///< false: the run ended first
    std::optional<JoiningStepResult> joining;
    std::vector<ChangePhaseResult> phases;
};

/// A stretch of the run with constant members and activity.
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

/// A run over many steps in which members join and leave.
struct ChangesResult {
    double state_bytes = 0;  ///< weights and optimizer state per member
    std::vector<ChangeResult> changes;
    std::vector<CheckpointStepResult> checkpoint_steps;  ///< one per number of members
    std::vector<RunStretchResult> stretches;
    std::uint64_t steps = 0;  ///< that count towards the result
    double end_s = 0;
    double samples_per_s = 0;      ///< over the whole run, without lost ones
    double share_of_training = 0;  ///< share of the run's time spent on training that counts
    double paused_s = 0;           ///< for changes
    double checkpoints_s = 0;      ///< pauses for them, and additional time of steps with copies
    double storage_s = 0;          ///< part of it spent waiting for the previous checkpoint
    double lost_s = 0;
    std::uint32_t checkpoints = 0;
    double gpu_seconds_held = 0;
    double gpu_seconds_lost = 0;
    std::uint32_t simulations = 0;  ///< of steps and transfers
    std::vector<std::string> notes;
};

}  // namespace switchfold
