// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/rounding_kernels.h"

namespace switchfold {

std::vector<RoundingKernel>
rounding_kernels(ProductRecipe recipe, double elements, double element, MatrixKernels kernels) {
    std::vector<RoundingKernel> all;
    if (finds_largest_first(recipe)) {
        MemoryKernel largest;
        largest.kernel_class = KernelClass::kReduction;
        largest.read = elements * element;
        largest.flops = elements;
        all.push_back({"largest ", "", largest});
    }
    MemoryKernel cast;
    cast.kernel_class = KernelClass::kElementwise;
    cast.read = elements * element;
    cast.written = elements * rounded_bytes(recipe) * copies_of(recipe, kernels);
    cast.flops = elements;
    all.push_back({"", rounded_bits(recipe) == 4 ? " to 4 bits" : " to 8 bits", cast});
    return all;
}

}  // namespace switchfold
