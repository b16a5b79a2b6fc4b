// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "sim/run/config/memory_choice_params.h"
#include "sim/run/config/plan_params.h"
#include "workloads/plan/search/plan_space.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
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
        return std::tuple{
            field(
                "global_batch",
                &PlannerParams::global_batch,
                "Samples of a step, on all GPUs together.",
                1U,
                kMostBatch)
                .required(),
            field(
                "gpus",
                &PlannerParams::gpus,
                "That every plan uses, from rank 0 on; 0: all of the system.",
                0U,
                kMost),
            field(
                "data",
                &PlannerParams::data,
                "Replicas that are tried; empty: whatever the other keys leave.",
                1U,
                kMost),
            field(
                "context",
                &PlannerParams::context,
                "Ranks that share the tokens of a sample; empty: all divisors of the GPUs.",
                1U,
                kMost),
            field(
                "tensor",
                &PlannerParams::tensor,
                "Ranks that share each layer; empty: all divisors of the GPUs.",
                1U,
                kMost),
            field(
                "pipeline",
                &PlannerParams::pipeline,
                "Devices in a row; empty: all divisors of the GPUs.",
                1U,
                kMost),
            field(
                "micro_batch",
                &PlannerParams::micro_batch,
                "Samples of a micro-batch; empty: all divisors of a replica's part of the batch.",
                1U,
                1U << 20U),
            field(
                "sequence",
                &PlannerParams::sequence,
                "Whether tensor-parallel ranks share what lies between their products too: yes, "
                "no, either."),
            field(
                "sharding",
                &PlannerParams::sharding,
                "What replicas keep only in part (docs/plans.md)."),
            field(
                "recompute",
                &PlannerParams::recompute,
                "What backward computes again. Where attention is fused, selective is none."),
            field(
                "schedule",
                &PlannerParams::schedule,
                "Orders of passes of pipelines, by name (docs/plans.md). Those that never flush "
                "train "
                "otherwise and are refused."),
            field(
                "chunks", &PlannerParams::chunks, "interleaved_1f1b: stages a device.", 1U, 1024U),
            field(
                "overlap_gradients",
                &PlannerParams::overlap_gradients,
                "Whether gradients travel beside the last backward: yes, no, either."),
            field(
                "memory",
                &PlannerParams::memory,
                "Memory plans (docs/memory_plans.md) that are tried beside none: each GPU holds "
                "the whole network then, in one micro-batch."),
            field(
                "scenarios",
                &PlannerParams::scenarios,
                "Scenarios of the experiment, by name, whose policies of collectives are tried; "
                "empty: all that overlap."),
            field(
                "runners_up",
                &PlannerParams::runners_up,
                "Plans that are told beside the best.",
                0U,
                1000U),
            field(
                "fold_above",
                &PlannerParams::fold_above,
                "On more GPUs than these, plans that can be are simulated folded (docs/plans.md).",
                1U,
                kMost)};
    }
};

}  // namespace switchfold
