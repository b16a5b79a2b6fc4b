// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "core/text_cells.h"
#include "sim/config/launch_params.h"
#include "sim/machine/likeness.h"
#include "sim/machine/simulate.h"
#include "sim/workload/kernel_model.h"
#include "training/elastic/place_ranks.h"
#include "training/network/zoo/zoo.h"
#include "training/plan/step/plan_step.h"
#include "validation/elastic/elastic_row.h"
#include "validation/experiments/row_values.h"
#include "workloads/graph/collective.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr const char* kEager = "configs/launches/pytorch_eager.json";
constexpr std::uint32_t kGpusOfPlaced = 4;     ///< a machine, of placements
constexpr std::uint32_t kGpusOfGroupNode = 8;  ///< of groups
constexpr Bytes kGroupMessage = mebibytes(256);

CollectivePolicies all_reduce_rings() {
    CollectivePolicies ring;
    ring.all_reduce = ring_policy();
    return ring;
}

double seconds_of(
    const ExecutionGraph& graph, const SystemParams& system, const CollectivePolicies& policies,
    const JobProgress& progress) {
    SimulateOptions options;
    options.progress = progress;
    return to_seconds(Time(simulate(system, graph, policies, options).end_ps));
}

/// A data-parallel step over rings on these GPUs.
double step_seconds(
    const std::string& network, ParallelPlan plan, const std::vector<std::uint32_t>& gpus,
    const SystemParams& system, const JobProgress& progress) {
    plan.data = static_cast<std::uint32_t>(gpus.size());
    plan.datatype = Datatype::kFloat32;
    plan.optimizer = OptimizerKind::kMomentum;
    const TrainingStep step(*find_network(network), KernelTimes(gpu_rates(*system.gpu)), plan);
    return seconds_of(elastic::placed(plan_step(step), gpus), system, all_reduce_rings(), progress);
}

/// By how a table names it; empty: it is not described.
std::string built_in_network_of(const ElasticRow& row) {
    static const std::map<std::string, std::string, std::less<>> kNetworks{
        {"ResNet-50", "resnet50"},
        {"Inception-v3", "inception_v3"},
        {"ResNet-50 (ImageNet)", "resnet50"},
        {"ResNet-18 (CIFAR-10)", "resnet18_cifar10"}};
    const auto found = kNetworks.find(row["model"]);
    return found == kNetworks.end() ? "" : found->second;
}

/// The case of a row that is compared by its ratio to another's.
ElasticQuestion
set_question(const ElasticRow& row, std::string group, const char* quantity, std::string how) {
    Case c;
    c.id = row.id;
    c.group = std::move(group);
    c.quantity = quantity;
    c.unit = "1";
    c.measured = row.value;
    c.how = std::move(how);
    return {std::move(c)};
}

void set_scaling(const SystemParams& system, const ElasticRow& row, Case& c) {
    c.like = likeness_on(system, "step", row.count("n_gpus"));
    c.like.operation = "scaling";
    c.machine = system.name;
}

/// GPUs that a step uses on each machine, descending, since the machines are equal: of AdaptDL's
/// "1/3/4"; without a placement, the row's GPUs evenly. Empty if the numbers do not match.
std::vector<std::uint32_t> gpus_by_machine(const ElasticRow& row) {
    const std::uint32_t gpus = row.count("n_gpus");
    const std::uint32_t nodes = row.count("n_nodes");
    std::vector<std::uint32_t> all;
    if (row["placement"].empty())
        for (std::uint32_t i = 0; i < nodes; ++i)
            all.push_back(gpus / nodes + (i < gpus % nodes ? 1 : 0));
    else
        for (const std::string& here : split_text(row["placement"], '/'))
            all.push_back(static_cast<std::uint32_t>(parse_count(here).value_or(0)));
    if (std::accumulate(all.begin(), all.end(), 0U) != gpus || all.size() != nodes ||
        std::ranges::find(all, 0U) != all.end())
        return {};
    std::ranges::sort(all, std::greater<>());
    return all;
}

/// Bus bandwidth (GB/s) of one group when all groups all-reduce at once, up to the end
/// of the last.
double bus_bandwidth(
    std::uint32_t ranks, std::uint32_t size, bool strided, const SystemParams& system,
    const JobProgress& progress) {
    ExecutionGraph graph =
        single_collective(CollectiveKind::kAllReduce, kGroupMessage, Datatype::kFloat32, ranks);
    const std::uint32_t count = ranks / size;
    graph.groups.clear();
    for (std::uint32_t group = 0; group < count; ++group)
        graph.groups.push_back({fmt::format("group {}", group), {}});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t group = strided ? rank % count : rank / size;
        graph.groups[group].ranks.push_back(rank);
        auto of_rank = std::make_shared<RankGraph>(*graph.ranks[rank]);
        std::get<CollectiveOperation>(of_rank->operations[0].body).group = group;
        graph.ranks[rank] = std::move(of_rank);
    }
    return static_cast<double>(kGroupMessage.count()) *
           bus_factor(CollectiveKind::kAllReduce, size) /
           seconds_of(graph, system, all_reduce_rings(), progress) * 1e-9;
}

ElasticQuestion ask_of_all_reduce(const ElasticRow& row, const ElasticInputs& inputs) {
    const std::uint32_t gpus = row.count("n_gpus");
    // "4 MiB fp32, ..."
    const auto mebi = parse_count(row["note"].substr(0, row["note"].find(" MiB")));
    if (!mebi)
        throw RowProblem{"names no machine that there is"};
    const bool a100 = row["gpu"].find("A100") != std::string::npos;
    const SystemParams& system = a100 ? inputs.a100s(gpus, 1)
                                      : inputs.system(
                                            {"Tesla V100-SXM2-16GB", "NVLink hybrid cube mesh",
                                             gpus, std::max(1U, row.count("n_nodes"))});
    ElasticQuestion question =
        set_question(row, "all-reduces, vTrain, " + row["gpu"], "time", system.name);
    question.c.unit = row["unit"];
    question.c.machine = system.name;
    question.job = {
        row.id,
        [&system, bytes = mebibytes(*mebi), gpus](const JobProgress& progress) {
            constexpr double kMicroseconds = 1e6;  // per second
            const ExecutionGraph graph =
                single_collective(CollectiveKind::kAllReduce, bytes, Datatype::kFloat32, gpus);
            return value_bytes(seconds_of(graph, system, {}, progress) * kMicroseconds);
        },
        static_cast<double>(gpus)};
    return question;
}

}  // namespace

std::vector<ElasticQuestion> ask_of_set(const ElasticRow& row, const ElasticInputs& inputs) {
    if (row["quantity"] == "all_reduce_time")
        return {ask_of_all_reduce(row, inputs)};
    const std::uint32_t gpus = row.count("n_gpus");
    const std::uint32_t batch = row.count("batch");
    const std::string network = built_in_network_of(row);
    if (network.empty() || gpus == 0 || batch < gpus)
        throw RowProblem{"names no machine that there is"};
    const SystemParams& system = inputs.a100s(gpus, row.count("n_nodes"));
    ParallelPlan plan;
    plan.micro_batch = (batch + gpus - 1) / gpus;
    plan.tf32 = true;
    plan.launch_times = read_params_file<LaunchParams>(inputs.options.root / kEager);
    ElasticQuestion question = set_question(
        row, "strong scaling, ElasticFlow, " + row["model"], "speed-up over one GPU", system.name);
    set_scaling(system, row, question.c);
    question.job = {
        row.id,
        [&system, network, plan, gpus](const JobProgress& progress) {
            std::vector<std::uint32_t> all(gpus);
            std::iota(all.begin(), all.end(), 0U);
            return value_bytes(1 / step_seconds(network, plan, all, system, progress));
        },
        static_cast<double>(gpus)};
    question.beside = fmt::format("{}, batch {}", row["model"], batch);
    if (gpus == 1)
        question.base = question.beside + " on one GPU, steps/s";
    return {std::move(question)};
}

std::vector<ElasticQuestion> ask_of_placement(const ElasticRow& row, const ElasticInputs& inputs) {
    const std::string network = built_in_network_of(row);
    const std::vector<std::uint32_t> gpus = gpus_by_machine(row);
    if (gpus.empty() || network.empty() || row.count("batch") == 0 || gpus.front() > kGpusOfPlaced)
        throw RowProblem{"has a placement that does not fit its GPUs and machines"};
    const auto machines = static_cast<std::uint32_t>(gpus.size());
    const SystemParams& system =
        inputs.system({row["gpu"], "PCIe, 50 Gb/s Ethernet", machines * kGpusOfPlaced, machines});
    ElasticQuestion question = set_question(
        row, "placements, AdaptDL, " + row["model"], "step over one GPU's",
        fmt::format(
            "{} of {} GPUs each{}", fmt::join(gpus, "/"), kGpusOfPlaced,
            row["placement"].empty() ? ", placement not stated: even" : ""));
    set_scaling(system, row, question.c);
    question.c.like.machines = machines;
    std::vector<std::uint32_t> members;
    for (std::uint32_t machine = 0; machine < machines; ++machine)
        for (std::uint32_t i = 0; i < gpus[machine]; ++i)
            members.push_back(machine * kGpusOfPlaced + i);
    ParallelPlan plan;
    plan.micro_batch = row.count("batch");
    question.job = {
        fmt::format("{}, {} samples on {}", network, row.count("batch"), fmt::join(gpus, "/")),
        [&system, network, plan, members](const JobProgress& progress) {
            return value_bytes(step_seconds(network, plan, members, system, progress));
        },
        static_cast<double>(row.count("n_gpus"))};
    question.beside = fmt::format("{}, {} samples", row["model"], row.count("batch"));
    if (row.count("n_gpus") == 1)
        question.base = fmt::format(
            "{} on one GPU, measured over itself, simulated in s ({})", question.beside,
            row["note"]);
    return {std::move(question)};
}

std::vector<ElasticQuestion> ask_of_groups(const ElasticRow& row, const ElasticInputs& inputs) {
    const std::uint32_t nodes = row.count("n_nodes");
    const std::uint32_t size = row.count("n_gpus");
    const std::uint32_t ranks = nodes * kGpusOfGroupNode;
    if (size < 2 || ranks % size != 0)
        throw RowProblem{"has groups that do not share out its machines"};
    const SystemParams& system = inputs.a100s(ranks, nodes);
    ElasticQuestion question = set_question(
        row, nodes > 1 ? "groups, Galvatron, two machines" : "groups, Galvatron, a machine",
        "bus bandwidth over that of all GPUs",
        fmt::format("{} GPUs a group, {}; all groups at once", size, row["note"]));
    const bool strided =
        row["note"].starts_with("strided") || row["note"].starts_with("one a node");
    question.job = {row.id, [&system, ranks, size, strided](const JobProgress& progress) {
                        return value_bytes(bus_bandwidth(ranks, size, strided, system, progress));
                    }};
    question.beside = question.c.group;
    if (size == ranks)
        question.base = fmt::format(
            "{}, {} GPUs together, GB/s (on a machine and with a size that are not stated; "
            "simulated: A100, {})",
            question.c.group, size, to_string(kGroupMessage));
    return {std::move(question)};
}

}  // namespace switchfold::validation
