// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/parallel_plan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace switchfold::test_data {

/// An arbitrary plan of at most 16 ranks without sharding; the caller sets the schedule. Many plans
/// do not suit every network.
inline ParallelPlan random_plan() {
    ParallelPlan plan;
    plan.data = *rc::gen::element(1U, 2U);
    plan.tensor = *rc::gen::element(1U, 2U);
    plan.sequence = plan.tensor > 1 && *rc::gen::arbitrary<bool>();
    plan.pipeline = *rc::gen::element(1U, 2U, 4U);
    plan.accumulate = 2 * plan.pipeline * *rc::gen::element(1U, 2U);
    plan.mini_batches = 6 * plan.pipeline + 4;
    plan.chunks = *rc::gen::element(1U, 2U);
    plan.recompute = *rc::gen::element(Recompute::kNone, Recompute::kSelective, Recompute::kFull);
    plan.messages = *rc::gen::element(Messages::kOverlapped, Messages::kAhead, Messages::kBlocking);
    plan.attention = *rc::gen::element(AttentionKernels::kFused, AttentionKernels::kUnfused);
    plan.update = *rc::gen::element(UpdateKernels::kFused, UpdateKernels::kUnfused);
    plan.overlap_gradients = *rc::gen::arbitrary<bool>();
    return plan;
}

}  // namespace switchfold::test_data
