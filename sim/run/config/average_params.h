// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "workloads/plan/average/average_plan.h"

#include <array>
#include <string_view>
#include <tuple>
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

/// Replicas that exchange weights only occasionally; docs/exchange.md.
struct AverageParams : AveragePlan {
    static constexpr auto fields() {
        return std::tuple{
            field(
                "method",
                &AverageParams::method,
                "periodic and one_shot, all take the mean; elastic, all move towards a centre of "
                "which each has a copy; elastic_async, each by itself towards one on the host; "
                "model_averaging (SMA); block_momentum (BMUF)."),
            field(
                "every",
                &AverageParams::every,
                "Steps that each replica takes by itself from one exchange to the next; one_shot: "
                "all steps of the run.",
                1U,
                4096U),
            field(
                "overlap",
                &AverageParams::overlap,
                "An exchange runs beside the steps that follow, and comes in when they end."),
            field(
                "host_add",
                &AverageParams::host_add,
                "elastic_async: bytes a second that the host's thread reads and writes while it "
                "moves the centre.",
                Bandwidth(1'000'000),
                gigabytes_per_second(10'000))};
    }
};

}  // namespace switchfold
