// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/plan/average/average_plan.h"

#include <array>
#include <string_view>
#include <utility>

namespace switchfold {

template <>
struct EnumNames<AverageMethod> {
    static constexpr std::array<std::pair<AverageMethod, std::string_view>, 6> kNames{
        {{AverageMethod::kPeriodic, "periodic"},
         {AverageMethod::kOneShot, "one_shot"},
         {AverageMethod::kElastic, "elastic"},
         {AverageMethod::kElasticAsync, "elastic_async"},
         {AverageMethod::kModelAveraging, "model_averaging"},
         {AverageMethod::kBlockMomentum, "block_momentum"}}};
};

/// Replicas that exchange weights only occasionally; docs/learning.md#averaging-replicas.
struct AverageParams : AveragePlan {
    static constexpr auto fields() {
        return list_of(
            field(
                "method", &AverageParams::method,
                "periodic and one_shot: all replicas take the mean; elastic: all move towards a "
                "centre, of which each has a copy; elastic_async: each moves, independently, "
                "towards a centre on the host; model_averaging (SMA); block_momentum (BMUF)."),
            field(
                "every", &AverageParams::every,
                "Local steps of each replica between exchanges; one_shot: all steps of the run.",
                1U, 4096U),
            field(
                "overlap", &AverageParams::overlap,
                "An exchange overlaps the steps that follow, and its result is applied when they "
                "end."),
            field(
                "host_add", &AverageParams::host_add,
                "elastic_async: bytes a second that the host's thread reads and writes while it "
                "moves the centre.",
                Bandwidth(1'000'000), gigabytes_per_second(10'000)));
    }
};

}  // namespace switchfold
