// SPDX-License-Identifier: Apache-2.0
#include "validation/elastic/device_sets.h"

#include "core/params_reader.h"
#include "sim/config/launch_params.h"
#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/results/training.h"
#include "sim/workload/kernel_model.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_step.h"
#include "validation/harness/number_jobs.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kEager = "configs/launches/pytorch_eager.json";
constexpr std::string_view kStepsASecond = "steps_per_second";
constexpr std::string_view kAllReduceTime = "all_reduce_time";

/// A simulation to run for its time.
struct Wanted {
    const ElasticRow* row;
    std::shared_ptr<const SystemParams> system;
    std::string network;        ///< network of a step; empty: an all-reduce
    std::uint32_t samples = 0;  ///< of the GPU with the most samples
    Bytes bytes;
    LaunchTimes launches;
};

double step_seconds(const Wanted& wanted, const JobProgress& progress) {
    SimulateOptions options;
    options.progress = progress;
    CollectivePolicies ring;
    ring.all_reduce = ring_policy();
    if (wanted.network.empty()) {
        const ExecutionGraph graph = single_collective(
            CollectiveKind::kAllReduce, wanted.bytes, Datatype::kFloat32, wanted.row->gpus);
        return to_seconds(Time(simulate(*wanted.system, graph, {}, options).end_ps));
    }
    ParallelPlan plan;
    plan.data = wanted.row->gpus;
    plan.micro_batch = wanted.samples;
    plan.datatype = Datatype::kFloat32;
    plan.tf32 = true;
    plan.optimizer = OptimizerKind::kMomentum;
    plan.launch_times = wanted.launches;
    const TrainingStep step(
        *find_network(wanted.network), KernelTimes(gpu_rates(*wanted.system->gpu)), plan);
    const ExecutionGraph graph = plan_step(step);
    return round_us(graph, simulate(*wanted.system, graph, ring, options)) * 1e-6;
}

std::string network_of(const ElasticRow& row) {
    return row.model == "ResNet-50"      ? "resnet50"
           : row.model == "Inception-v3" ? "inception_v3"
                                         : "";
}

/// "4 MiB fp32, ..."
Bytes stated_size(const std::string& note) {
    std::uint64_t mebi = 0;
    const auto [end, error] = std::from_chars(note.data(), note.data() + note.size(), mebi);
    return error == std::errc() &&
                   note.substr(static_cast<std::size_t>(end - note.data())).starts_with(" MiB")
               ? mebibytes(mebi)
               : Bytes();
}

std::optional<Wanted> wanted_of(const ElasticRow& row, const Machines& machines) {
    Wanted wanted{&row, nullptr, {}, 0, {}, {}};
    WantedMachine machine{row.gpu, row.interconnect, row.gpus, std::max(1U, row.nodes)};
    if (row.quantity == kStepsASecond) {
        wanted.network = network_of(row);
        if (wanted.network.empty() || row.batch < row.gpus)
            return {};
        wanted.samples = (row.batch + row.gpus - 1) / row.gpus;
        machine.gpu = "A100-SXM4-40GB";
        machine.interconnect = row.nodes > 1 ? "NVSwitch, InfiniBand HDR" : "NVSwitch";
    } else if (row.quantity == kAllReduceTime) {
        wanted.bytes = stated_size(row.note);
        if (wanted.bytes.count() == 0)
            return {};
        const bool a100 = row.gpu.find("A100") != std::string::npos;
        machine.gpu = a100 ? "A100-SXM4-40GB" : "Tesla V100-SXM2-16GB";
        machine.interconnect = a100 ? "NVSwitch" : "NVLink hybrid cube mesh";
    } else {
        return {};
    }
    const MachineMatch match = machines.find(machine);
    if (!match.machine)
        return {};
    wanted.system = std::make_shared<const SystemParams>(match.machine->system);
    return wanted;
}

/// Key of rows with equal model and batch, to be divided by the one-GPU row.
std::string series_of(const ElasticRow& row) {
    return fmt::format("{}, batch {}", row.model, row.batch);
}

}  // namespace

bool is_of_device_set(const ElasticRow& row) {
    return row.quantity == kStepsASecond || row.quantity == kAllReduceTime;
}

void compare_device_sets(
    const std::vector<ElasticRow>& rows, const Machines& machines, const SuiteOptions& options,
    SuiteResult& result) {
    const LaunchTimes eager = read_params_file<LaunchParams>(options.root / kEager);
    std::vector<Wanted> all;
    for (const ElasticRow& row : rows) {
        if (!row.why.empty() || !is_of_device_set(row))
            continue;
        if (auto wanted = wanted_of(row, machines)) {
            wanted->launches = eager;
            all.push_back(std::move(*wanted));
        } else {
            result.unmatched.push_back({row.id, "names no machine that there is"});
        }
    }
    std::vector<NumberJob> jobs;
    for (const Wanted& wanted : all)
        jobs.push_back(
            {wanted.row->id,
             [&wanted](const JobProgress& progress) { return step_seconds(wanted, progress); },
             static_cast<double>(wanted.row->gpus)});
    const std::vector<double> seconds = run_number_jobs(jobs, options);
    std::map<std::string, std::pair<double, double>>
        one_gpu;  // measured, simulated: steps per second
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].network.empty() && all[i].row->gpus == 1)
            one_gpu[series_of(*all[i].row)] = {all[i].row->value, 1 / seconds[i]};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const ElasticRow& row = *all[i].row;
        Case c;
        c.id = row.id;
        if (all[i].network.empty()) {
            constexpr double kMicroseconds = 1e6;  // per second
            c.group = "all-reduces, vTrain, " + row.gpu;
            c.quantity = "time";
            c.unit = row.unit;
            c.measured = row.value;
            c.simulated = seconds[i] * kMicroseconds;
        } else {
            const auto found = one_gpu.find(series_of(row));
            if (row.gpus == 1 || found == one_gpu.end()) {
                if (row.gpus == 1)
                    result.notes.push_back(fmt::format(
                        "{} on one GPU: {:.2f} steps/s measured, {:.2f} simulated; sets are "
                        "compared with it by their speed-up",
                        series_of(row), row.value, 1 / seconds[i]));
                else
                    result.unmatched.push_back({row.id, "has no row of one GPU beside it"});
                continue;
            }
            c.group = fmt::format("strong scaling, ElasticFlow, {}", row.model);
            c.quantity = "speed-up over one GPU";
            c.unit = "1";
            c.measured = row.value / found->second.first;
            c.simulated = 1 / seconds[i] / found->second.second;
            c.like = likeness_on(*all[i].system, "step", row.gpus);
            c.like.operation = "scaling";
        }
        c.how = all[i].system->name;
        c.machine = all[i].system->name;
        result.cases.push_back(std::move(c));
    }
}

}  // namespace switchfold::validation
