// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "sim/config/memory_choice_params.h"
#include "sim/config/plan_params.h"
#include "training/plan/search/plan_space.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<Tried> {
    static constexpr std::array<std::pair<Tried, std::string_view>, 3> kNames{
        {{Tried::kEither, "either"}, {Tried::kYes, "yes"}, {Tried::kNo, "no"}}};
};

/// The space that `switchfold plan` searches; docs/planner.md.
struct PlannerParams : PlanSpace {
    std::vector<MemoryChoiceParams> memory;
    std::vector<std::string> scenarios;
    std::uint32_t runners_up = 5;
    std::uint32_t fold_above = 16;
    static constexpr auto fields() {
        constexpr std::uint32_t kMost = 65'536;
        constexpr std::uint32_t kMostBatch = 1U << 24U;
        return list_of(
            field(
                "global_batch", &PlannerParams::global_batch,
                "Samples per step, on all GPUs together.", 1U, kMostBatch)
                .required(),
            field(
                "gpus", &PlannerParams::gpus,
                "GPUs of every plan, from rank 0; 0: all of the system.", 0U, kMost),
            field(
                "data", &PlannerParams::data,
                "Numbers of replicas to try; empty: those that the other keys leave possible.", 1U,
                kMost),
            field(
                "context", &PlannerParams::context,
                "Numbers of ranks that divide the tokens of a sample; empty: all divisors of the "
                "GPUs.",
                1U, kMost),
            field(
                "tensor", &PlannerParams::tensor,
                "Numbers of ranks that divide each layer; empty: all divisors of the GPUs.", 1U,
                kMost),
            field(
                "pipeline", &PlannerParams::pipeline,
                "Numbers of devices of a pipeline; empty: all divisors of the GPUs.", 1U, kMost),
            field(
                "micro_batch", &PlannerParams::micro_batch,
                "Samples of a micro-batch; empty: all divisors of a replica's part of the batch.",
                1U, 1U << 20U),
            field(
                "sequence", &PlannerParams::sequence,
                "Sequence parallelism of tensor-parallel ranks: yes, no, either."),
            field(
                "sharding", &PlannerParams::sharding, "State that replicas shard (docs/plans.md)."),
            field(
                "recompute", &PlannerParams::recompute,
                "Recomputed in the backward pass. If attention is fused, selective equals none."),
            field(
                "schedule", &PlannerParams::schedule,
                "Pipeline schedules, by name (docs/plans.md). Schedules without flush change the "
                "training and are rejected."),
            field(
                "chunks", &PlannerParams::chunks, "interleaved_1f1b: stages per device.", 1U,
                1024U),
            field(
                "overlap_gradients", &PlannerParams::overlap_gradients,
                "Whether gradients are exchanged beside the last backward pass: yes, no, either."),
            field(
                "memory", &PlannerParams::memory,
                "Memory plans (docs/memory_plans.md) to try besides none, in data- and "
                "tensor-parallel plans."),
            field(
                "scenarios", &PlannerParams::scenarios,
                "Scenarios of the experiment, by name, whose collective policies are tried; empty: "
                "all that overlap."),
            field(
                "runners_up", &PlannerParams::runners_up,
                "Number of plans reported besides the best.", 0U, 1000U),
            field(
                "fold_above", &PlannerParams::fold_above,
                "On more GPUs than this, plans are folded where possible (docs/plans.md).", 1U,
                kMost));
    }
};

}  // namespace switchfold
