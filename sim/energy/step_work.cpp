// SPDX-License-Identifier: Apache-2.0
#include "sim/energy/step_work.h"

#include "core/error.h"
#include "core/json.h"
#include "sim/config/parameter_units.h"
#include "sim/config/rank_gpus.h"
#include "sim/energy/kernel_rows.h"
#include "sim/machine/describe_units.h"
#include "sim/output/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace switchfold {

namespace {

/// What a scenario sets, as the effective configuration has it: with the contents of files.
Json set_of(const Json& config, const std::string& scenario) {
    for (const Json& one : config.at("scenarios"))
        if (one.at("name") == scenario && one.contains("set"))
            return one.at("set");
    return Json::object();
}

/// The system that a scenario ran on: the experiment's, with what the scenario sets in it.
SystemParams system_of(const Json& config, const std::string& scenario, const std::string& file) {
    constexpr std::string_view kSystem = "/system";
    const Json set = set_of(config, scenario);
    Json system = set.value(std::string(kSystem), config.at("system"));
    for (const auto& [pointer, value] : set.items())
        if (pointer.starts_with("/system/"))
            system[Json::json_pointer(pointer.substr(kSystem.size()))] = value;
    return read_params<SystemParams>(system, file);
}

const StatisticTable& table_of(const ScenarioResult& scenario, std::string_view kind) {
    const StatisticTable* found = find_table(scenario.statistics, kind);
    SWITCHFOLD_CHECK(found != nullptr, "no statistics of {}", kind);
    return *found;
}

void add_links(StepWork& work, const ScenarioResult& scenario, const Topology& topology) {
    std::map<std::string, LinkPlace> places;
    for (std::uint32_t hop = 0; hop < 2 * topology.edges.size(); ++hop) {
        const TopologyEdge& edge = topology.edges[edge_of(hop)];
        places[topology.link_name(hop)] = place_of(topology.nodes[edge.a], topology.nodes[edge.b]);
    }
    const StatisticTable& links = table_of(scenario, "links");
    const std::size_t wire_bytes = links.column("wire_bytes");
    for (const StatisticTable::Row& link : links.rows) {
        const auto place = places.find(link.name);
        SWITCHFOLD_CHECK(place != places.end(), "no link {} in its topology", link.name);
        const double bytes = link.values[wire_bytes];
        if (place->second == LinkPlace::kPcie)
            work.pcie_bytes += bytes;
        else if (place->second == LinkPlace::kNetwork)
            work.network_bytes += bytes;
        else
            work.gpu_link_bytes += bytes;
    }
}

void add_packets(StepWork& work, const ScenarioResult& scenario) {
    const StatisticTable& memory = table_of(scenario, "memory");
    const std::size_t low = memory.column("packet_hbm_bytes");
    const std::size_t high = memory.column("packet_bytes");
    std::map<std::string, const StatisticTable::Row*> rows;
    for (const StatisticTable::Row& row : memory.rows)
        rows[row.name] = &row;
    for (std::size_t rank = 0; rank < work.gpus.size(); ++rank)
        if (const auto row = rows.find(fmt::format("gpu{}", rank)); row != rows.end()) {
            work.gpus[rank].packet_bytes_low = row->second->values[low];
            work.gpus[rank].packet_bytes_high = row->second->values[high];
        }
}

/// Units are of several makes, and statistics do not say which element types they added: the range
/// holds all of them.
void add_units(StepWork& work, const ScenarioResult& scenario, const Topology& topology) {
    constexpr std::uint32_t kNode = 7;
    CostRange byte{std::numeric_limits<double>::max(), 0};
    for (const UnitKind& kind : unit_kinds(topology, kNode)) {
        const CostRange all = kind.lane.mm2().times(
            static_cast<double>(kind.lanes) * static_cast<double>(kind.switches));
        work.units_mm2 += {0, all.low, all.high};
        for (const CostRange& pj : kind.lane.pj_per_byte)
            if (pj.high > 0)
                byte = {std::min(byte.low, pj.low), std::max(byte.high, pj.high)};
    }
    if (byte.high == 0)
        return;
    const StatisticTable& units = table_of(scenario, "reduction_units");
    const std::size_t bytes_in = units.column("bytes_in");
    for (const StatisticTable::Row& unit : units.rows) {
        const double bytes = unit.values[bytes_in] * 1e-12;
        work.units += {0, bytes * byte.low, bytes * byte.high};
    }
}

/// Kernels, copies and collectives were counted over the whole run.
void divide(StepWork& work, double steps) {
    for (GpuStepWork& gpu : work.gpus)
        for (double GpuStepWork::*member :
             {&GpuStepWork::dense_seconds, &GpuStepWork::other_seconds, &GpuStepWork::kernel_bytes,
              &GpuStepWork::packet_bytes_low, &GpuStepWork::packet_bytes_high})
            gpu.*member /= steps;
    for (double StepWork::*member :
         {&StepWork::gpu_link_bytes, &StepWork::pcie_bytes, &StepWork::network_bytes})
        work.*member /= steps;
    work.units.low /= steps;
    work.units.high /= steps;
}

bool is_dense(std::string_view kernel_class) {
    return kernel_class == "gemm_conv" || kernel_class == "attention";
}

void add_kernel(GpuStepWork& gpu, const KernelTableRow& kernel, const GpuParams& params) {
    const double seconds = kernel.isolated_us * 1e-6;
    (is_dense(kernel.kernel_class) ? gpu.dense_seconds : gpu.other_seconds) += seconds;
    // As the models have it: the L2 serves a share of what fits it, and what the memory cannot
    // move in the kernel's time is cut off.
    const double fits = std::min(
        1.0, static_cast<double>(params.memory.l2.capacity.count()) / std::max(1.0, kernel.bytes));
    const double missed = kernel.bytes * (1 - params.memory.kernel_hit_share * fits);
    gpu.kernel_bytes +=
        std::min(missed, static_cast<double>(params.memory.hbm.peak.count()) * seconds);
}

void expect_one_workload_on_gpus(const Json& config, const std::string& file) {
    const Json::json_pointer devices("/system/devices");
    if (!config.contains("system") || config.contains(devices) || !config.contains("scenarios"))
        throw ConfigError(
            file, "",
            "has no system of GPUs; expected a run on GPUs: processors have no power numbers");
    if (const auto many = config.find("workloads"); many != config.end() && !many->empty())
        throw ConfigError(
            file, "/workloads",
            "has several workloads on one machine; expected a run of one workload");
}

}  // namespace

LinkPlace place_of(const TopologyNode& a, const TopologyNode& b) {
    const auto either = [&](auto fits) { return fits(a) || fits(b); };
    const auto is = [](NodeKind kind) {
        return [kind](const TopologyNode& node) { return node.kind == kind; };
    };
    if (either([](const TopologyNode& node) { return is_pcie(node.kind); }))
        return LinkPlace::kPcie;
    if (either(is(NodeKind::kNic)))
        return either(is(NodeKind::kGpu)) ? LinkPlace::kPcie : LinkPlace::kNetwork;
    if (either([](const TopologyNode& node) { return node.machine == kNoMachine; }) ||
        a.machine != b.machine)
        return LinkPlace::kNetwork;
    return LinkPlace::kGpuLink;
}

RunWork read_run_work(const std::filesystem::path& folder) {
    const ExperimentResult result = read_result(folder);
    const std::filesystem::path config_path = folder / "effective-config.json";
    const std::string file = config_path.string();
    const Json config = load_json(config_path);
    expect_one_workload_on_gpus(config, file);
    RunWork run{result.experiment, {}};
    std::vector<SystemParams> systems;
    std::map<std::string, std::size_t> by_name;
    for (const ScenarioResult& scenario : result.scenarios)
        systems.push_back(system_of(config, scenario.name, file));
    std::vector<RankGpus> gpus(systems.begin(), systems.end());
    for (std::size_t i = 0; i < systems.size(); ++i) {
        const ScenarioResult& scenario = result.scenarios[i];
        const WorkloadResult& workload = scenario.workload ? *scenario.workload : result.workload;
        StepWork& work = run.steps.emplace_back();
        work.scenario = scenario.name;
        work.seconds = scenario.iteration_us * 1e-6;
        by_name[scenario.name] = i;
        for (std::uint32_t rank = 0; rank < workload.ranks; ++rank) {
            const GpuParams& params = gpus[i].of(rank);
            GpuStepWork& gpu = work.gpus.emplace_back();
            gpu.gpu = params.name;
            gpu.communication_sms = std::min(1.0, scenario.communication_blocks / params.sms);
        }
        add_packets(work, scenario);
        const Topology topology = build_topology(systems[i].topology);
        add_links(work, scenario, topology);
        add_units(work, scenario, topology);
    }
    for_each_kernel_row(folder / "kernels.csv", [&](const KernelTableRow& kernel) {
        const auto found = by_name.find(std::string(kernel.scenario));
        if (found == by_name.end() || kernel.rank >= run.steps[found->second].gpus.size())
            return false;
        add_kernel(
            run.steps[found->second].gpus[kernel.rank], kernel,
            gpus[found->second].of(kernel.rank));
        return true;
    });
    for (std::size_t i = 0; i < systems.size(); ++i) {
        const ScenarioResult& scenario = result.scenarios[i];
        divide(
            run.steps[i],
            std::max(1U, scenario.workload ? scenario.workload->steps : result.workload.steps));
    }
    return run;
}

}  // namespace switchfold
