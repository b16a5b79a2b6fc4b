// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/placements.h"

#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/workload/kernel_model.h"
#include "training/elastic/change.h"
#include "training/elastic/place_ranks.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_step.h"
#include "validation/harness/number_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::uint32_t kGpusOfMachine = 4;

/// A step to be simulated: built-in network, samples per GPU, GPUs by machine.
using Step = std::tuple<std::string, std::uint32_t, GpusByMachine>;

std::string placed_network(const ElasticRow& row) {
    return row.model == "ResNet-50 (ImageNet)"   ? "resnet50"
           : row.model == "ResNet-18 (CIFAR-10)" ? "resnet18_cifar10"
                                                 : "";
}

std::optional<Step> step_of(const ElasticRow& row) {
    auto gpus = gpus_by_machine(row.placement, row.gpus, row.nodes);
    std::string network = placed_network(row);
    if (!gpus || network.empty() || row.batch == 0 || gpus->front() > kGpusOfMachine)
        return {};
    return Step{std::move(network), row.batch, std::move(*gpus)};
}

double placed_seconds(const Step& step, const SystemParams& system, const JobProgress& progress) {
    const auto& [network, samples, machines] = step;
    elastic::Members members;
    for (std::uint32_t machine = 0; machine < machines.size(); ++machine)
        for (std::uint32_t i = 0; i < machines[machine]; ++i)
            members.push_back(machine * kGpusOfMachine + i);
    ParallelPlan plan;
    plan.data = static_cast<std::uint32_t>(members.size());
    plan.micro_batch = samples;
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    const TrainingStep planned(*find_network(network), KernelTimes(gpu_rates(*system.gpu)), plan);
    const ExecutionGraph graph = elastic::placed(plan_step(planned), members);
    SimulateOptions options;
    options.progress = progress;
    CollectivePolicies ring;
    ring.all_reduce = ring_policy();
    const Outcome outcome = simulate(system, graph, ring, options);
    return to_seconds(Time(outcome.end_ps));
}

/// Machines of one T4 system, by their number.
class Systems {
public:
    explicit Systems(const Machines& machines) : machines_(machines) {}
    [[nodiscard]] const SystemParams* find(const ElasticRow& row, std::size_t machines) {
        const auto count = static_cast<std::uint32_t>(machines);
        auto& system = systems_[count];
        if (!system) {
            const MachineMatch match =
                machines_.find({row.gpu, "PCIe, 50 Gb/s Ethernet", count * kGpusOfMachine, count});
            if (!match.machine)
                return nullptr;
            system = std::make_unique<SystemParams>(match.machine->system);
        }
        return system.get();
    }

private:
    const Machines& machines_;
    std::map<std::uint32_t, std::unique_ptr<SystemParams>> systems_;
};

}  // namespace

std::optional<GpusByMachine>
gpus_by_machine(const std::string& placement, std::uint32_t gpus, std::uint32_t machines) {
    GpusByMachine all;
    if (placement.empty()) {
        if (machines == 0 || gpus < machines)
            return {};
        for (std::uint32_t i = 0; i < machines; ++i)
            all.push_back(gpus / machines + (i < gpus % machines ? 1 : 0));
        return all;
    }
    const char* at = placement.data();
    const char* const end = at + placement.size();
    while (at != end) {
        std::uint32_t here = 0;
        const auto [next, error] = std::from_chars(at, end, here);
        if (error != std::errc() || here == 0 || (next != end && *next != '/'))
            return {};
        all.push_back(here);
        at = next == end ? end : next + 1;
    }
    if (std::accumulate(all.begin(), all.end(), 0U) != gpus || all.size() != machines)
        return {};
    std::sort(all.begin(), all.end(), std::greater<>());
    return all;
}

bool is_of_placement(const ElasticRow& row) {
    return row.quantity == "step_time_over_one_gpu";
}

void compare_placements(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result) {
    Systems systems(machines);
    std::map<Step, std::size_t> jobs_of;
    std::vector<NumberJob> jobs;
    struct Compared {
        const ElasticRow* row;
        Step step;
        const SystemParams* system;
    };
    std::vector<Compared> compared;
    const auto want = [&](const Step& step, const SystemParams& system) {
        if (!jobs_of.emplace(step, jobs.size()).second)
            return;
        jobs.push_back(
            {fmt::format("{} on {}", std::get<0>(step), fmt::join(std::get<2>(step), "/")),
             [step, &system](const JobProgress& progress) {
                 return placed_seconds(step, system, progress);
             },
             std::accumulate(std::get<2>(step).begin(), std::get<2>(step).end(), 0.0)});
    };
    for (const ElasticRow& row : rows) {
        if (!row.why.empty() || !is_of_placement(row))
            continue;
        const auto step = step_of(row);
        const SystemParams* system = step ? systems.find(row, std::get<2>(*step).size()) : nullptr;
        const SystemParams* one = step ? systems.find(row, 1) : nullptr;
        if (system == nullptr || one == nullptr) {
            result.unmatched.push_back(
                {row.id, step ? "names no machine that there is"
                              : "has a placement that does not fit its GPUs and machines"});
            continue;
        }
        want(*step, *system);
        want({std::get<0>(*step), std::get<1>(*step), {1}}, *one);
        compared.push_back({&row, *step, system});
    }
    const std::vector<double> seconds = run_number_jobs(jobs, options);
    std::set<std::string> told;
    for (const auto& [row, step, system] : compared) {
        const auto& [network, samples, gpus] = step;
        const double one = seconds[jobs_of.at({network, samples, {1}})];
        if (told.insert(network).second)
            result.notes.push_back(fmt::format(
                "placements, {}: {} samples on one GPU take {:.4f} s simulated ({}); sets are "
                "compared with it",
                row->model, samples, one, row->note));
        if (row->gpus == 1)
            continue;
        Case c;
        c.id = row->id;
        c.group = fmt::format("placements, AdaptDL, {}", row->model);
        c.quantity = "step over one GPU's";
        c.unit = "1";
        c.measured = row->value;
        c.simulated = seconds[jobs_of.at(step)] / one;
        c.like = likeness_on(*system, "step", row->gpus);
        c.like.operation = "scaling";
        c.like.machines = static_cast<std::uint32_t>(gpus.size());
        c.machine = system->name;
        c.how = fmt::format(
            "{} of {} GPUs each{}", fmt::join(gpus, "/"), kGpusOfMachine,
            row->placement.empty() ? ", placement not stated: even" : "");
        result.cases.push_back(std::move(c));
    }
}

}  // namespace switchfold::validation
