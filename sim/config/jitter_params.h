// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/units.h"
#include "workloads/graph/jitter.h"

namespace switchfold {

/// How far GPUs of one kind and their kernels differ; docs/plans.md.
struct JitterParams : Jitter {
    static constexpr auto fields() {
        using P = JitterParams;
        constexpr double kMost = 0.3;
        return list_of(
            field(
                "gpus", &P::gpus,
                "Standard deviation of the GPUs' kernel times, as a share of the mean: each GPU "
                "keeps its own. The described GPU is the mean one.",
                0.0, kMost),
            field(
                "kernels", &P::kernels,
                "Standard deviation of a kernel's time around its GPU's, each time it runs.", 0.0,
                kMost),
            field(
                "starts", &P::starts,
                "Mean of an exponential delay before each collective of each rank.", Time(),
                microseconds(1'000'000)));
    }
};

}  // namespace switchfold
