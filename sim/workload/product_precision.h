// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/gpu/parameters.h"
#include "sim/config/training_params.h"
#include "training/network/network.h"
#include "training/plan/step/parallel_plan.h"

#include <string>

namespace switchfold {

[[nodiscard]] ProductRecipe recipe_of(Precision precision);

/// Why a GPU has no products of a precision, behind "/workload/plan: "; empty if it has.
[[nodiscard]] std::string why_no_products(const GpuParams& gpu, Precision precision);

/// What a plan's products round to 8 bits and what they do not, as a note; empty if nothing is
/// rounded.
[[nodiscard]] std::string
told_products(Precision precision, const ParallelPlan& plan, const Network& network);

}  // namespace switchfold
