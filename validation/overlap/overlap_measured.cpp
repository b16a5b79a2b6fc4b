// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_measured.h"

#include "sim/config/load.h"
#include "sim/machine/beside.h"
#include "sim/machine/likeness.h"
#include "validation/harness/suite_jobs.h"
#include "validation/overlap/contention_data.h"
#include "workloads/profile/classify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace switchfold::validation {

namespace {

constexpr const char* kSystem = "configs/systems/hgx_h200.json";

Dim3 dim3(const std::vector<std::uint32_t>& sizes) {
    return {sizes[0], sizes[1], sizes[2]};
}

/// Bytes that were not counted follow from the kernel's class, as for traces without counters.
KernelOperation operation_of(const KernelAlone& measured, double peak) {
    KernelOperation kernel;
    kernel.grid = dim3(measured.grid);
    kernel.block = dim3(measured.block);
    kernel.registers_per_thread = measured.registers;
    kernel.shared_memory = Bytes(measured.shared_bytes);
    kernel.isolated = Time(static_cast<std::uint64_t>(measured.alone_us * 1e6));
    kernel.kernel_class = classify_kernel(measured.name);
    if (measured.bytes_read && measured.bytes_written) {
        kernel.bytes_read = Bytes(*measured.bytes_read);
        kernel.bytes_written = Bytes(*measured.bytes_written);
        kernel.byte_source = ByteSource::kCounters;
        return kernel;
    }
    const double bytes =
        peak * to_seconds(kernel.isolated) * default_bandwidth_share(kernel.kernel_class);
    constexpr double kReadShare = 2.0 / 3.0;
    kernel.bytes_read = Bytes(static_cast<std::uint64_t>(bytes * kReadShare));
    kernel.bytes_written = Bytes(static_cast<std::uint64_t>(bytes * (1 - kReadShare)));
    return kernel;
}

/// The mover starts before the kernel and ends after it.
CommunicationPhase phase_of(const MoverRun& run) {
    constexpr double kAlways = 1e9;
    CommunicationPhase phase;
    phase.from_us = -kAlways;
    phase.to_us = kAlways;
    phase.blocks = run.blocks;
    phase.threads = run.threads;
    phase.registers_per_thread = run.registers_per_thread;
    phase.shared_memory = Bytes(run.shared_bytes + run.static_shared_bytes);
    phase.footprint = Bytes(run.footprint_bytes);
    phase.bytes_per_second = run.bytes_per_second;
    return phase;
}

/// One network beside one setting of the mover.
struct Setting {
    const NetworkContention* network;
    const MoverRun* run;
    [[nodiscard]] std::string id() const {
        return fmt::format(
            "h200/{}/beside {} blocks, {}", network->network, run->blocks,
            run->requested_bytes_per_second == 0
                ? "unlimited"
                : fmt::format("{:g} GB/s", run->requested_bytes_per_second / 1e9));
    }
};

/// Times of all kernels beside the mover over their times alone, weighted by their number of runs,
/// and each kernel's error.
struct SimulatedSetting {
    double measured = 0;
    double low = 0;
    double high = 0;
    double simulated = 0;
    std::vector<double> errors;

    static constexpr auto fields() {
        using S = SimulatedSetting;
        return list_of(
            member("measured", &S::measured), member("low", &S::low), member("high", &S::high),
            member("simulated", &S::simulated), member("errors", &S::errors));
    }
};

SimulatedSetting simulate_setting(const Setting& setting, const SystemParams& system) {
    const auto peak = static_cast<double>(system.gpu->memory.hbm.peak.count());
    const std::vector<CommunicationPhase> phases{phase_of(*setting.run)};
    double alone = 0;
    SimulatedSetting sum;
    for (const KernelBeside& beside : setting.run->kernels) {
        const KernelAlone& kernel = setting.network->kernels[beside.kernel];
        const double us =
            to_microseconds(simulate_beside(*system.gpu, operation_of(kernel, peak), phases));
        alone += kernel.alone_us * kernel.places;
        sum.measured += beside.us * kernel.places;
        sum.low += beside.low_us * kernel.places;
        sum.high += beside.high_us * kernel.places;
        sum.simulated += us * kernel.places;
        sum.errors.push_back(std::abs(us / beside.us - 1));
    }
    for (double* us : {&sum.measured, &sum.low, &sum.high, &sum.simulated})
        *us /= alone;
    return sum;
}

Case overlap_case(
    const Setting& setting, const SystemParams& system, const SimulatedSetting& result) {
    Case c;
    c.id = setting.id();
    c.group = "h200 time-weighted";
    c.quantity = "slowdown";
    c.nothing = 1;
    c.unit = "1";
    c.measured = result.measured;
    c.low = result.low;
    c.high = result.high;
    c.simulated = result.simulated;
    c.like = likeness_on(system, "overlap", 1);
    c.like.operation = "kernels";
    c.machine = system.name;
    c.how = fmt::format(
        "{} kernels beside {:.0f} GB/s", result.errors.size(), setting.run->bytes_per_second / 1e9);
    return c;
}

std::vector<Setting> settings_of(const ContentionData& data) {
    std::vector<Setting> settings;
    for (const NetworkContention& network : data.networks)
        for (const MoverRun& run : network.runs)
            if (!run.kernels.empty())
                settings.push_back({&network, &run});
    return settings;
}

}  // namespace

void add_measured(
    const std::filesystem::path& file, const SuiteOptions& options, SuiteResult& suite) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
        suite.notes.push_back(fmt::format(
            "no data: {} is not there; validation/h200/measure.py measures it on a machine with an "
            "H200",
            kMeasuredContention));
        return;
    }
    const ContentionData data = read_contention(file);
    const SystemParams system = load_system(options.root / kSystem, {});
    const std::vector<Setting> settings = settings_of(data);
    std::vector<Job> jobs;
    for (const Setting& setting : settings)
        jobs.push_back({setting.id(), [&setting, &system](const JobProgress&) {
                            return value_bytes(simulate_setting(setting, system));
                        }});
    const auto results = values_of_suite<SimulatedSetting>(jobs, options);
    std::vector<double> errors;
    for (std::size_t i = 0; i < settings.size(); ++i) {
        suite.cases.push_back(overlap_case(settings[i], system, results[i]));
        errors.insert(errors.end(), results[i].errors.begin(), results[i].errors.end());
    }
    if (errors.empty())
        return;
    std::sort(errors.begin(), errors.end());
    suite.notes.push_back(fmt::format(
        "h200, measured {}: {} kernels beside the mover, median error {:.1f} %", data.date,
        errors.size(), errors[errors.size() / 2] * 100));
}

}  // namespace switchfold::validation
