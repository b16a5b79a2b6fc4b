// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/plan/schedule/pipeline_schedule.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// What a schedule is made for.
struct ScheduleShape {
    std::uint32_t devices = 1;
    std::uint32_t micro_batches = 1;
    std::uint32_t chunks = 1;  ///< stages that a device holds, where the schedule leaves it open
    std::uint32_t update_every = 1;  ///< micro-batches of an update, where nothing flushes
    /// Devices that share each stage's micro-batches in turn, where nothing flushes; empty: one
    /// each.
    std::vector<std::uint32_t> replicas{};
    /// What searched schedules reckon with, of a stage, in any unit.
    double forward = 1;
    double input_gradient = 1;
    double weight_gradient = 1;
    double message = 0;
    /// Activations that only the weight gradient still needs, over all of them: a transformer's
    /// 32 s b h of s b (34 h + 5 a s).
    double weight_kept = 0.43;
};

/// One way to order a pipeline's passes.
struct ScheduleGenerator {
    std::string_view name;
    std::string_view doc;
    /// Stages a device; 0: as the shape says.
    std::uint32_t chunks;
    bool never_flushes;
    /// Why it cannot be made for a shape; empty if it can.
    std::string (*refusal)(const ScheduleShape& shape);
    PipelineSchedule (*make)(const ScheduleShape& shape);
};

/// All that there are, by name in the order of the manual.
[[nodiscard]] std::span<const ScheduleGenerator> schedule_generators();
[[nodiscard]] const ScheduleGenerator* find_schedule(std::string_view name);

/// The orders themselves; each page of the literature is named beside its code.
[[nodiscard]] PipelineSchedule gpipe(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule one_forward_one_backward(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule interleaved_1f1b(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule zero_bubble_h1(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule zero_bubble_h2(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule zero_bubble_1p(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule zero_bubble_2p(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule zero_bubble_v(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule v_half(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule v_min(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule chimera(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule dual_pipe(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule dual_pipe_v(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule asynchronous_1f1b(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule double_buffered_1f1b(const ScheduleShape& shape);
[[nodiscard]] PipelineSchedule two_batches_at_once(const ScheduleShape& shape);

}  // namespace switchfold
