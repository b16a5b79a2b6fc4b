// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/record.h"

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

    static constexpr auto fields() {
        using R = ChangePhaseResult;
        return list_of(
            member("name", &R::name), member("seconds", &R::seconds, Form::kSixDigits),
            member("beside_training", &R::beside), member("simulated", &R::simulated));
    }
};

/// The step during which state travels to joiners.
struct JoiningStepResult {
    double step_s = 0;      ///< of the old members, including waits
    double alone_s = 0;     ///< their step without the transfer
    double window_s = 0;    ///< for which the state is constant
    double transfer_s = 0;  ///< of the state, beside training
    double wait_s = 0;      ///< of the update for the transfer
    bool fits = true;       ///< the transfer fits the window

    static constexpr auto fields() {
        using R = JoiningStepResult;
        return list_of(
            member("step_s", &R::step_s, Form::kSixDigits),
            member("step_alone_s", &R::alone_s, Form::kSixDigits),
            member("window_s", &R::window_s, Form::kSixDigits),
            member("transfer_s", &R::transfer_s, Form::kSixDigits),
            member("wait_s", &R::wait_s, Form::kSixDigits), member("fits", &R::fits));
    }
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

    static constexpr auto fields() {
        using R = CheckpointStepResult;
        return list_of(
            member("members", &R::members), member("step_s", &R::step_s, Form::kSixDigits),
            member("step_alone_s", &R::alone_s, Form::kSixDigits),
            member("window_s", &R::window_s, Form::kSixDigits),
            member("copied_s", &R::copied_s, Form::kSixDigits),
            member("wait_s", &R::wait_s, Form::kSixDigits),
            member("written_s", &R::written_s, Form::kSixDigits));
    }
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

    static constexpr auto fields() {
        using R = ChangeResult;
        return list_of(
            member("method", &R::method), member("cause", &R::cause), member("added", &R::added),
            member("removed", &R::removed), member("members_before", &R::from),
            member("members_after", &R::to), member("asked_s", &R::asked_s, Form::kSixDigits),
            member("stopped_s", &R::stopped_s, Form::kSixDigits),
            member("resumed_s", &R::resumed_s, Form::kSixDigits),
            member("pause_s", &R::pause_s, Form::kSixDigits),
            member("time_to_size_s", &R::to_size_s, Form::kSixDigits),
            member("gpu_seconds_lost", &R::gpu_seconds_lost, Form::kSixDigits),
            member("slowdown_of_joining_step_s", &R::slowdown_s, Form::kSixDigits),
            member("lost_training_s", &R::lost_s, Form::kSixDigits),
            member("lost_steps", &R::lost_steps),
            member("waited_for_earlier_change_s", &R::late_s, Form::kSixDigits),
            member("over_before_the_end", &R::reached), member("joining_step", &R::joining),
            member("phases", &R::phases));
    }
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

    static constexpr auto fields() {
        using R = RunStretchResult;
        return list_of(
            member("begin_s", &R::begin_s, Form::kSixDigits),
            member("end_s", &R::end_s, Form::kSixDigits), member("members", &R::members),
            member("kind", &R::kind), member("steps", &R::steps),
            member("step_us", &R::step_us, Form::kSixDigits),
            member("samples_per_s", &R::samples_per_s, Form::kSixDigits));
    }
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

    static constexpr auto fields() {
        using R = ChangesResult;
        return list_of(
            member("steps", &R::steps), member("time_s", &R::end_s, Form::kSixDigits),
            member("samples_per_s", &R::samples_per_s, Form::kSixDigits),
            member("share_of_time_training", &R::share_of_training, Form::kSixDigits),
            member("paused_s", &R::paused_s, Form::kSixDigits),
            member("checkpoints_s", &R::checkpoints_s, Form::kSixDigits),
            member("checkpoints", &R::checkpoints),
            member("checkpoints_waited_for_storage_s", &R::storage_s, Form::kSixDigits),
            member("lost_training_s", &R::lost_s, Form::kSixDigits),
            member("gpu_seconds_held", &R::gpu_seconds_held, Form::kSixDigits),
            member("gpu_seconds_lost_to_changes", &R::gpu_seconds_lost, Form::kSixDigits),
            member("state_bytes", &R::state_bytes), member("simulations", &R::simulations),
            member("checkpoint_steps", &R::checkpoint_steps), member("changes", &R::changes),
            member("stretches", &R::stretches));
    }
};

}  // namespace switchfold
