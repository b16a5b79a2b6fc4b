// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/many_core/many_core.h"

#include "core/gibibytes.h"
#include "sim/many_core/many_core_files.h"
#include "sim/many_core/region_statistics.h"
#include "sim/results/scenario_result.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace switchfold {

namespace {

constexpr double kTera = 1e12;

WorkloadResult describe(const ManyCoreParams& params, const DeviceParams& device) {
    WorkloadResult w;
    w.type = ManyCoreParams::kType;
    w.source = fmt::format(
        "autoencoder {} and back, {} samples, on {}", fmt::join(params.widths, "-"), params.batch,
        device.processor->name);
    w.synthetic = true;
    w.ranks = 1;
    w.steps = params.steps;
    return w;
}

class ManyCoreRun final : public ExperimentRun {
public:
    using ExperimentRun::ExperimentRun;

    void simulate() override {
        std::vector<Problem> problems;
        for (std::size_t i = 0; i < scenarios().size(); ++i)
            if (const std::string why = run_one(i); !why.empty())
                problems.push_back(problem_of(i, "/workload/batch", why));
        if (!problems.empty())
            throw ConfigError(std::move(problems));
    }

    void tell(ExperimentResult& result) const override {
        result.workload = described(0);
        const auto baseline =
            std::ranges::find_if(scenarios(), [](const ScenarioParams& s) { return !s.overlap; });
        for (std::size_t i = 0; i < scenarios().size(); ++i) {
            ScenarioResult s = scenario_result(i);
            if (baseline != scenarios().end()) {
                const auto first = static_cast<std::size_t>(baseline - scenarios().begin());
                s.speedup = *s.samples_per_s / samples_per_s(first);
            }
            const WorkloadResult own = described(i);
            if (own != result.workload)
                s.workload = own;
            result.scenarios.push_back(std::move(s));
        }
        if (options().intervals.residuals)
            result.workload.notes.emplace_back("no intervals: no many-core processor was measured");
        else if (!options().intervals.why_none.empty())
            result.workload.notes.push_back(options().intervals.why_none);
    }

    void write(ResultFolder& folder, const ExperimentResult& /*result*/) const override {
        write_regions(folder, ran_);
        if (options().timeline)
            write_offload_timeline(folder, ran_);
    }

private:
    [[nodiscard]] const ManyCoreParams& params_of(std::size_t scenario) const {
        return *workload_of<ManyCoreParams>(loaded_.of(scenario));
    }
    [[nodiscard]] const DeviceParams& device_of(std::size_t scenario) const {
        return *find_device(loaded_.of(scenario).system->devices, params_of(scenario).on);
    }
    [[nodiscard]] WorkloadResult described(std::size_t scenario) const {
        return describe(params_of(scenario), device_of(scenario));
    }

    /// Why the device cannot run the scenario; empty if it did.
    [[nodiscard]] std::string run_one(std::size_t scenario) {
        const DeviceParams& device = device_of(scenario);
        const ScenarioParams& params = scenarios()[scenario];
        try {
            ran_.push_back(
                {params.name, &device, run_offloaded(params_of(scenario), device, params.overlap)});
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return why_too_large(device, ran_.back().run);
    }

    [[nodiscard]] double samples_per_s(std::size_t i) const {
        const OffloadedRun& run = ran_[i].run;
        return static_cast<double>(run.program.samples) * params_of(i).steps /
               to_seconds(run.end());
    }

    [[nodiscard]] ScenarioResult scenario_result(std::size_t i) const {
        const OffloadedRun& run = ran_[i].run;
        const double steps = params_of(i).steps;
        ScenarioResult s;
        tell_scenario(scenarios()[i], s);
        s.iteration_us = to_microseconds(run.end()) / steps;
        s.forward_us = to_microseconds(time_of(run, offload::Phase::kForward));
        s.backward_us = to_microseconds(time_of(run, offload::Phase::kBackward));
        s.optimizer_us = to_microseconds(time_of(run, offload::Phase::kUpdate));
        s.exposed_copies_us = std::max(0.0, s.iteration_us - to_microseconds(run.step));
        s.samples_per_s = samples_per_s(i);
        s.tflops_per_gpu = run.program.flops * steps / to_seconds(run.end()) / kTera;
        s.peak_memory_gib = in_gibibytes(run.memory_bytes);
        s.statistics = {region_statistics(run)};
        s.events = run.chunks.size() + run.regions.size() * params_of(i).steps;
        if (run.layout.cores_of_team > 1)
            s.notes.push_back(fmt::format(
                "{} teams of {} cores{}", run.layout.teams(), run.layout.cores_of_team,
                run.program.team_bytes > 0 ? ", each with one copy of the gradients" : ""));
        if (run.layout.oversubscribed > 1)
            s.notes.push_back(fmt::format(
                "{} software threads share a hardware thread: regions nest",
                run.layout.oversubscribed));
        return s;
    }

    std::vector<RanOffload> ran_;
};

}  // namespace

std::unique_ptr<ExperimentRun>
many_core_run(const LoadedExperiment& loaded, const RunOptions& options) {
    return std::make_unique<ManyCoreRun>(loaded, options);
}

}  // namespace switchfold
