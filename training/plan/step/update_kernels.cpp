// SPDX-License-Identifier: Apache-2.0
#include "training/plan/step/update_kernels.h"

namespace switchfold {

std::vector<UpdateKernel> update_kernels(const ParallelPlan& plan, double parameters) {
    const double weight = element_bytes(plan.datatype);
    const double state = optimizer_state_bytes(plan);
    if (plan.update == UpdateKernels::kFused)
        return {{"update", optimizer(parameters, weight, kSingleBytes, state)}};
    std::vector<UpdateKernel> kernels;
    const auto add = [&](std::string_view name, double read, double written) {
        MemoryKernel kernel;
        kernel.kernel_class = KernelClass::kOptimizer;
        kernel.read = read * parameters;
        kernel.written = written * parameters;
        kernel.flops = parameters;
        kernels.push_back({name, kernel});
    };
    const double gradient = element_bytes(plan.gradient);
    const bool has_masters = weight < kSingleBytes;
    if (gradient < kSingleBytes)
        add("gradients to 32 bits", gradient, kSingleBytes);
    if (has_masters)
        add("unscale gradients", kSingleBytes, kSingleBytes);
    add("squares of gradients", kSingleBytes, 0);
    // Without masters the update writes the weights themselves.
    kernels.push_back(
        {"update", optimizer(parameters, has_masters ? 0 : weight, kSingleBytes, state)});
    if (has_masters)
        add("weights to 16 bits", kSingleBytes, weight);
    add("zero gradients", 0, gradient);
    return kernels;
}

double update_seconds(const KernelTimes& times, const ParallelPlan& plan, double parameters) {
    double seconds = 0;
    for (const UpdateKernel& update : update_kernels(plan, parameters))
        seconds += to_seconds(times.estimate(update.kernel).kernel.isolated);
    return seconds;
}

}  // namespace switchfold
