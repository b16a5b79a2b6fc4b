// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/schedule/pipeline_schedule.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold {

/// Parameters of a schedule.
struct ScheduleShape {
    std::uint32_t devices = 1;
    std::uint32_t micro_batches = 1;
    std::uint32_t chunks = 1;        ///< stages per device, if the schedule leaves it open
    std::uint32_t update_every = 1;  ///< micro-batches per update, in schedules without flush
    /// Devices that share each stage's micro-batches in turn, in schedules without flush; empty:
    /// one each.
    std::vector<std::uint32_t> replicas{};
    /// Times of a stage's passes that searched schedules assume, in any unit.
    double forward = 1;
    double input_gradient = 1;
    double weight_gradient = 1;
    double message = 0;
    /// Share of the activations that is still needed by the weight gradient alone: for a
    /// transformer 32 s b h of s b (34 h + 5 a s).
    double weight_kept = 0.43;
};

/// Generator of one kind of schedule.
struct ScheduleGenerator {
    std::string_view name;
    std::string_view doc;
    /// Stages per device; 0: as in the shape.
    std::uint32_t chunks;
    bool never_flushes;
    bool replicates;  ///< stages on several devices in turn, as the shape's replicas say
    /// Reason why the shape is not supported; empty if it is.
    std::string (*refusal)(const ScheduleShape& shape);
    PipelineSchedule (*make)(const ScheduleShape& shape);
};

/// All generators, in the order of the manual.
[[nodiscard]] std::span<const ScheduleGenerator> schedule_generators();
[[nodiscard]] const ScheduleGenerator* find_schedule(std::string_view name);
/// Number of stages of the schedule that the generator makes, without making it. \pre The generator
/// does not refuse the shape.
[[nodiscard]] std::uint32_t
stages_of(const ScheduleGenerator& generator, const ScheduleShape& shape);

/// The schedules themselves; each source is cited beside its code.
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
