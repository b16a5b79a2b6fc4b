// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/simulated_points.h"

#include "sim/config/changed_system.h"
#include "sim/machine/host_copy_rates.h"
#include "sim/pool/value_jobs.h"
#include "sim/workload/kernel_model.h"
#include "validation/collectives/benchmark_loop.h"
#include "validation/kernels/timed_kernels.h"

#include <algorithm>

namespace switchfold::validation {

namespace {

constexpr double kMicro = 1e6;

double simulated(
    const CollectivePoint& point, const SystemParams& /*system*/,
    std::span<const Override> turned) {
    PlannedRun run = point.run;
    run.system = changed_system(run.system, turned);
    CollectivePolicy policy;
    policy.algorithm = run.algorithm;
    policy.channels = run.channels;
    MatchedMachine machine = *point.machine;
    machine.system = run.system;
    const double launches = to_microseconds(point.launches->of(point.row, machine));
    return std::max(launches, time_planned(run, policy, {}).us);
}

double
simulated(const KernelPoint& point, const SystemParams& system, std::span<const Override> turned) {
    const GpuRates rates = gpu_rates(*changed_system(system, turned).gpu);
    return std::visit(
        [&](const auto& shape) { return timed_kernel(shape, rates).seconds * kMicro; },
        point.shape);
}

double
simulated(const TracedPoint& point, const SystemParams& system, std::span<const Override> turned) {
    GpuRates rates = gpu_rates(*changed_system(system, turned).gpu);
    rates.loaded = true;
    // A profiler's duration begins at the kernel's first block.
    return (estimate(point.product, rates).seconds() - rates.launch + rates.overhead) * kMicro;
}

double
simulated(const CopyPoint& point, const SystemParams& system, std::span<const Override> turned) {
    HostCopyLoad load;
    (point.to_device ? load.to_device : load.to_host) = point.bytes;
    const HostCopyRates rates = host_copy_rates(changed_system(system, turned), load);
    return static_cast<double>(point.bytes.count()) /
           (point.to_device ? rates.to_device : rates.to_host) * kMicro;
}

}  // namespace

SimulatedPoints::Key
SimulatedPoints::key_of(std::size_t point, const std::vector<double>& setting) const {
    Key key{point, setting};
    for (std::size_t k = 0; k < dials_.size(); ++k)
        if (dials_[k].knob->told_by != points_[point].told())
            key.second[k] = 0;
    return key;
}

double
SimulatedPoints::time_of(const CalibrationPoint& point, std::span<const Override> turned) const {
    return std::visit(
        [&](const auto& what) { return simulated(what, system_, turned); }, point.what);
}

std::vector<std::vector<double>> SimulatedPoints::times(
    std::span<const std::size_t> which, const std::vector<std::vector<double>>& settings) {
    std::map<Key, std::size_t> wanted;
    for (const std::vector<double>& setting : settings)
        for (const std::size_t point : which)
            if (Key key = key_of(point, setting); !kept_.contains(key))
                wanted.try_emplace(std::move(key), 0);
    std::vector<Job> jobs;
    for (auto& [key, job] : wanted) {
        const CalibrationPoint& point = points_[key.first];
        const std::vector<Override> turned = turned_to(dials_, key.second);
        // Kernels alone are formulas: a process each would cost more than they do.
        if (point.told() == Told::kKernels) {
            kept_.emplace(key, time_of(point, turned));
            continue;
        }
        job = jobs.size();
        jobs.push_back(
            {point.group,
             [&point, turned, this](const JobProgress& /*progress*/) {
                 return value_bytes(time_of(point, turned));
             },
             std::max(1.0, point.measured_us)});
    }
    const std::vector<double> done = values_of<double>(jobs, run_);
    for (const auto& [key, job] : wanted)
        if (!kept_.contains(key))
            kept_.emplace(key, done[job]);
    std::vector<std::vector<double>> out;
    for (const std::vector<double>& setting : settings) {
        out.emplace_back();
        for (const std::size_t point : which)
            out.back().push_back(kept_.at(key_of(point, setting)));
    }
    return out;
}

}  // namespace switchfold::validation
