// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_models.h"

#include "core/json.h"
#include "sim/config/load.h"
#include "sim/machine/simulate.h"
#include "sim/machine/system_queries.h"
#include "sim/pool/pool.h"
#include "sim/workload/training_workload.h"
#include "validation/harness/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace switchfold::validation {

namespace {

constexpr std::string_view kTables = "models";
constexpr double kMeanPublished = 1.189;
constexpr double kMostPublished = 1.40;

struct ModelledNetwork {
    std::string_view name;  ///< of a layer table or a shape
    TrainingStrategy strategy = TrainingStrategy::kDataParallel;
    std::uint32_t ranks = 8;
    std::uint32_t batch = 8;  ///< samples per GPU
    Datatype gradient = Datatype::kFloat16;
    TransformerParams shape{0};  ///< without blocks: the table is used
};
/// Decoders by shape (arXiv 2005.14165, table 2.1), sharded over four GPUs as in the published
/// measurements. Sequences and batches are assumptions: the smaller the batch, the larger the part
/// of the step with communication beside it.
constexpr ModelledNetwork
sharded(std::string_view name, std::uint32_t blocks, std::uint32_t hidden, std::uint32_t batch) {
    return {name,
            TrainingStrategy::kFullySharded,
            4,
            batch,
            Datatype::kBfloat16,
            {blocks, hidden, 1024}};
}
constexpr std::array<ModelledNetwork, 12> kNetworks{
    {{"resnet50", TrainingStrategy::kDataParallel, 8, 64, Datatype::kFloat32},
     {"inception_v3", TrainingStrategy::kDataParallel, 8, 64, Datatype::kFloat32},
     {"vgg16", TrainingStrategy::kDataParallel, 8, 64, Datatype::kFloat32},
     {"bert_large"},
     {"gpt2_small"},
     {"gpt2_medium", TrainingStrategy::kDataParallel, 8, 4},
     sharded("gpt3_xl", 24, 2048, 2),
     sharded("gpt3_xl", 24, 2048, 4),
     sharded("gpt3_xl", 24, 2048, 8),
     sharded("gpt3_2.7b", 32, 2560, 2),
     sharded("gpt3_2.7b", 32, 2560, 4),
     sharded("gpt3_6.7b", 32, 4096, 2)}};
constexpr std::array<std::string_view, 2> kSystems{"dgx_a100", "hgx_h100"};

struct Pair {
    const ModelledNetwork* network;
    std::string_view system;
    [[nodiscard]] bool is_sharded() const {
        return network->strategy == TrainingStrategy::kFullySharded;
    }
    [[nodiscard]] std::string id() const {
        return fmt::format(
            "{}{} on {}{}", network->name,
            is_sharded() ? fmt::format(" sharded, batch {},", network->batch) : "",
            network->ranks == 8 ? "" : fmt::format("{} of ", network->ranks), system);
    }
};

/// Total time of all kernels over their total isolated time.
double slowdown_of(const ExecutionGraph& graph, const Outcome& run) {
    double taken = 0;
    double alone = 0;
    for (std::size_t i = 0; i < graph.ranks[0]->operations.size(); ++i)
        if (const auto* kernel =
                std::get_if<KernelOperation>(&graph.ranks[0]->operations[i].body)) {
            const OperationTimes& span = run.times[0][i];
            taken += to_seconds(span.end - span.start);
            alone += to_seconds(kernel->isolated);
        }
    return taken / alone;
}

double slowdown(
    const SystemParams& system, const ExecutionGraph& graph, Algorithm algorithm,
    const SimulateOptions& options = {}) {
    CollectivePolicy policy;
    policy.algorithm = algorithm;
    policy.registered =
        algorithm == Algorithm::kInSwitch;  // as in an experiment's default scenarios
    return slowdown_of(graph, switchfold::simulate(system, graph, policy, options));
}

/// By rings with all mechanisms, and with each one off.
OrderedJson by_rings(const SystemParams& system, const ExecutionGraph& graph) {
    OrderedJson out;
    out["all"] = slowdown(system, graph, Algorithm::kRing);
    const auto without = [&](const char* name, bool Contention::*mechanism) {
        SimulateOptions off;
        off.contention.*mechanism = false;
        out[name] = slowdown(system, graph, Algorithm::kRing, off);
    };
    without("sm", &Contention::sm);
    without("l2", &Contention::l2);
    without("hbm", &Contention::hbm);
    without("latency", &Contention::latency);
    without("completion", &Contention::completion);
    return out;
}

/// `tables`: the folder of layer tables; ignored for a network with a shape.
OrderedJson
simulate(const Pair& pair, const std::filesystem::path& root, const std::filesystem::path& tables) {
    const ModelledNetwork& network = *pair.network;
    const SystemParams system =
        load_system(root / "configs/systems" / (std::string(pair.system) + ".json"), {});
    TrainingWorkloadParams workload;
    workload.strategy = network.strategy;
    workload.batch = network.batch;
    workload.gradient = network.gradient;
    if (network.shape.blocks > 0)
        workload.transformer = network.shape;
    else
        workload.table = std::string(network.name) + ".csv";
    const ExecutionGraph graph = training_step(workload, *system.gpu, network.ranks, tables);
    OrderedJson out;
    out["ring"] = by_rings(system, graph);
    if (can_reduce_in_switch(system, network.ranks))
        out["in_switch"] = slowdown(system, graph, Algorithm::kInSwitch);
    return out;
}

std::string percent(double slowdown) {
    return fmt::format("{:.1f} %", (slowdown - 1) * 100);
}

/// "10.6 % (sm 6.1, l2 0.0, hbm 0.1, latency 0.2, completion 1.8)": what goes away without each.
std::string by_cause(const OrderedJson& r) {
    const double all = r["all"];
    const auto cause = [&](const char* name) { return (all - r[name].get<double>()) * 100; };
    return fmt::format(
        "{} (sm {:.1f}, l2 {:.1f}, hbm {:.1f}, latency {:.1f}, completion {:.1f})", percent(all),
        cause("sm"), cause("l2"), cause("hbm"), cause("latency"), cause("completion"));
}

std::string note_of(const Pair& pair, const OrderedJson& r) {
    std::string note = fmt::format("{}: kernels slowed by {}", pair.id(), by_cause(r["ring"]));
    if (r.contains("in_switch"))
        note += fmt::format(", in the switch {}", percent(r["in_switch"].get<double>()));
    return note;
}

}  // namespace

void add_models(const SuiteOptions& options, SuiteResult& suite) {
    const auto tables = find_data(options, kTables);
    std::vector<Pair> pairs;
    for (const std::string_view system : kSystems)
        for (const ModelledNetwork& network : kNetworks) {
            const Pair pair{&network, system};
            if (tables || network.shape.blocks > 0)
                pairs.push_back(pair);
            else
                suite.unmatched.push_back(
                    {fmt::format("models/{}", pair.id()), "skipped: " + why_skipped(kTables)});
        }
    // The largest networks come last; the longest jobs begin first.
    std::vector<Job> jobs;
    for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair)
        jobs.push_back({pair->id(), [pair, &options, &tables](const JobProgress&) {
                            return simulate(*pair, options.root, tables.value_or("")).dump();
                        }});
    std::vector<OrderedJson> results(pairs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        results[pairs.size() - 1 - job] = OrderedJson::parse(result.bytes);
    });
    double sum = 0;
    double most = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const double slowdown = results[i]["ring"]["all"];
        sum += slowdown;
        most = std::max(most, slowdown);
        suite.notes.push_back(note_of(pairs[i], results[i]));
    }
    suite.notes.push_back(fmt::format(
        "{} training steps: kernels slowed by {} in the mean, {} at most (published: {} and {})",
        pairs.size(), percent(sum / static_cast<double>(pairs.size())), percent(most),
        percent(kMeanPublished), percent(kMostPublished)));
    for (const char* const which : {"mean", "largest"})
        suite.unmatched.push_back(
            {fmt::format("arXiv 2507.03114/{} slowdown", which),
             "states neither sequences nor batches of its steps"});
}

}  // namespace switchfold::validation
