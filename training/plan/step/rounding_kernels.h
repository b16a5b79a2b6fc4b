// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/plan/step/product_recipe.h"
#include "workloads/kernels/memory_kernel.h"

#include <string_view>
#include <vector>

namespace switchfold {

struct RoundingKernel {
    std::string_view before;  ///< of its name, before and behind the tensor's
    std::string_view behind;
    MemoryKernel kernel;
};

/// The kernels that round a tensor of `elements` to 8 or 4 bits, in order: one that reads it for its
/// largest value, where its scale is its own, and one that writes its copies. `element`: bytes of
/// one before.
[[nodiscard]] std::vector<RoundingKernel>
rounding_kernels(ProductRecipe recipe, double elements, double element, MatrixKernels kernels);

}  // namespace switchfold
