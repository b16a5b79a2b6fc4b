// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "models/gpu/parameters.h"
#include "sim/config/rank_list.h"

#include <cstdint>
#include <vector>

namespace switchfold {

/// Ranks whose GPU differs from the system's `gpu`.
struct GpuKindParams {
    RankList ranks;
    PathOr<GpuParams> gpu;
    static constexpr auto fields() {
        return list_of(
            field(
                "ranks", &GpuKindParams::ranks,
                "The ranks: a number, \"0-3,8\", or an array of numbers.")
                .required(),
            field("gpu", &GpuKindParams::gpu, "Their GPU, or the file that describes it.")
                .required());
    }
};

/// A rank that is slower than its GPU, or starts its steps later.
struct SlowRankParams {
    std::uint32_t rank = 0;
    double compute = 1;
    Time delay;
    static constexpr auto fields() {
        return list_of(
            field("rank", &SlowRankParams::rank, "The rank.", 0U, 65'535U).required(),
            field(
                "compute", &SlowRankParams::compute,
                "Factor on the isolated duration of its kernels.", 0.01, 1000.0),
            field(
                "delay", &SlowRankParams::delay, "Delay of its start of every step.", Time(),
                microseconds(1'000'000'000)));
    }
};

/// Reports ranks that occur twice or exceed the machine's `gpus`, with their position in the list
/// of kinds.
void check_kinds(
    const std::vector<GpuKindParams>& kinds, std::uint32_t gpus, ParamChecker& checker);
/// The same for slow ranks.
void check_slow_ranks(
    const std::vector<SlowRankParams>& slow, std::uint32_t gpus, ParamChecker& checker);

}  // namespace switchfold
