// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/memory_check.h"

#include "core/gibibytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchfold {

namespace {

/// Samples of a micro-batch that fit beside everything else on the device.
double fitting(double capacity, const ParallelPlan& plan, const MemoryBytes& device) {
    const double of_samples = device[MemoryClass::kActivations] + device[MemoryClass::kWorkspace];
    const double rest = capacity - (device.all() - of_samples);
    return std::floor(plan.micro_batch * rest / of_samples);
}

auto fullest_of(const std::vector<MemoryBytes>& devices) {
    return std::max_element(
        devices.begin(), devices.end(),
        [](const MemoryBytes& a, const MemoryBytes& b) { return a.all() < b.all(); });
}

}  // namespace

std::string told_need(const std::vector<MemoryBytes>& devices) {
    const auto fullest = fullest_of(devices);
    std::string what = fmt::format(
        "{:.1f} GiB on device {}", in_gibibytes(fullest->all()), fullest - devices.begin());
    const char* separator = ": ";
    for (const MemoryClassText& memory : kMemoryClasses)
        if ((*fullest)[memory.value] > 0)
            what += fmt::format(
                "{}{} {:.1f}", std::exchange(separator, ", "), memory.name,
                in_gibibytes((*fullest)[memory.value]));
    return what;
}

std::string check_memory(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices,
    MemoryCheck check, PlanProblems& problems) {
    const auto fullest = fullest_of(devices);
    std::string what = told_need(devices);
    const auto capacity = static_cast<double>(gpu.memory.for_plans().count());
    if (capacity == 0 || fullest->all() <= capacity)
        return what;
    if (check == MemoryCheck::kIgnore) {
        what +=
            fmt::format("; memory is ignored: {} has {:.0f} GiB", gpu.name, in_gibibytes(capacity));
    } else {
        const double largest = fitting(capacity, plan, *fullest);
        problems.emplace_back(
            "/micro_batch",
            fmt::format(
                "is {}, which needs {}, and {} has {:.0f} GiB; expected {}", plan.micro_batch, what,
                gpu.name, in_gibibytes(capacity),
                largest >= 1 ? fmt::format("at most {}", largest)
                             : "a smaller part of the network on it: not even one sample fits"));
    }
    return what;
}

std::uint32_t most_samples(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices) {
    constexpr double kMost = 1U << 20U;  // that of the parameter
    const auto capacity = static_cast<double>(gpu.memory.for_plans().count());
    double most = kMost;
    for (const MemoryBytes& device : devices)
        if (capacity > 0)
            most = std::clamp(fitting(capacity, plan, device), 0.0, most);
    return static_cast<std::uint32_t>(most);
}

std::uint32_t largest_micro_batch(
    const GpuParams& gpu, const ParallelPlan& plan, const std::vector<MemoryBytes>& devices) {
    return std::min(plan.micro_batch, most_samples(gpu, plan, devices));
}

}  // namespace switchfold
