// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap_models.h"

#include "sim/core/json.h"
#include "sim/run/graph_run.h"
#include "sim/run/load.h"
#include "sim/run/pool.h"
#include "workloads/training/data_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace switchfold::validation {

namespace {

constexpr std::string_view kTables = "../shared/models";
constexpr double kMeanPublished = 1.189;
constexpr double kMostPublished = 1.40;

struct Network {
    std::string_view table;
    std::uint32_t batch;  ///< samples a GPU
    Datatype gradient;
};
constexpr std::array<Network, 6> kNetworks{
    {{"resnet50", 64, Datatype::kFloat32},
     {"inception_v3", 64, Datatype::kFloat32},
     {"vgg16", 64, Datatype::kFloat32},
     {"bert_large", 8, Datatype::kFloat16},
     {"gpt2_small", 8, Datatype::kFloat16},
     {"gpt2_medium", 4, Datatype::kFloat16}}};

struct Kind {
    std::string_view system;
    double flops;  ///< measured dense BF16 (hardware.md C1, GEMM)
};
constexpr std::array<Kind, 2> kKinds{{{"dgx_a100", 271e12}, {"hgx_h100", 794e12}}};

struct Pair {
    const Network* network;
    const Kind* kind;
    [[nodiscard]] std::string id() const {
        return fmt::format("{} on {}", network->table, kind->system);
    }
};

/// Time of all kernels over what they take alone.
double slowdown_of(const ExecutionGraph& graph, const GraphRun& run) {
    double taken = 0;
    double alone = 0;
    for (std::size_t i = 0; i < graph.ranks[0]->operations.size(); ++i)
        if (const auto* kernel =
                std::get_if<KernelOperation>(&graph.ranks[0]->operations[i].body)) {
            const OperationSpan& span = run.times[0][i];
            taken += to_seconds(span.end - span.start);
            alone += to_seconds(kernel->isolated);
        }
    return taken / alone;
}

OrderedJson simulate(const Pair& pair, const std::filesystem::path& root) {
    const SystemParams system =
        load_system(root / "configs/systems" / (std::string(pair.kind->system) + ".json"), {});
    DataParallelOptions options;
    options.name = pair.id();
    options.batch = pair.network->batch;
    options.gradient = pair.network->gradient;
    options.sms = system.gpu->sms;
    options.flops = pair.kind->flops;
    constexpr double kStreams = 0.85;  // of the peak: hardware.md C1, achieved
    options.bytes = kStreams * static_cast<double>(system.gpu->memory.hbm.peak.count());
    const ExecutionGraph graph = data_parallel_step(
        read_layer_table(root / kTables / (std::string(pair.network->table) + ".csv")), options);
    AllReducePolicy ring;
    ring.algorithm = Algorithm::kRing;
    OrderedJson out;
    out["all"] = slowdown_of(graph, run_graph(system, graph, ring));
    const auto without = [&](const char* name, bool Contention::*mechanism) {
        GraphRunOptions off;
        off.contention.*mechanism = false;
        out[name] = slowdown_of(graph, run_graph(system, graph, ring, off));
    };
    without("sm", &Contention::sm);
    without("l2", &Contention::l2);
    without("hbm", &Contention::hbm);
    without("latency", &Contention::latency);
    if (can_reduce_in_switch(system, options.ranks)) {
        AllReducePolicy in_switch;
        in_switch.algorithm = Algorithm::kInSwitch;
        out["in_switch"] = slowdown_of(graph, run_graph(system, graph, in_switch));
    }
    return out;
}

std::string note_of(const Pair& pair, const OrderedJson& r) {
    const double all = r["all"];
    const auto cause = [&](const char* name) { return (all - r[name].get<double>()) * 100; };
    std::string note = fmt::format(
        "{}: kernels slowed by {:.1f} % (sm {:.1f}, l2 {:.1f}, hbm {:.1f}, latency {:.1f})",
        pair.id(),
        (all - 1) * 100,
        cause("sm"),
        cause("l2"),
        cause("hbm"),
        cause("latency"));
    if (r.contains("in_switch"))
        note += fmt::format(", in the switch {:.1f} %", (r["in_switch"].get<double>() - 1) * 100);
    return note;
}

}  // namespace

void add_models(const SuiteOptions& options, SuiteResult& suite) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(options.root / kTables, ignored)) {
        suite.notes.push_back(fmt::format("{} is not there: no training steps", kTables));
        return;
    }
    std::vector<Pair> pairs;
    for (const Kind& kind : kKinds)
        for (const Network& network : kNetworks)
            pairs.push_back({&network, &kind});
    std::vector<Job> jobs;
    for (const Pair& pair : pairs)
        jobs.push_back({pair.id(), [&pair, &options](const JobProgress&) {
                            return simulate(pair, options.root).dump();
                        }});
    std::vector<OrderedJson> results(pairs.size());
    run_jobs(jobs, options.jobs, options.progress, [&](std::size_t job, const JobResult& result) {
        if (result.code != ExitCode::kDone)
            rethrow(jobs[job], result);
        results[job] = OrderedJson::parse(result.bytes);
    });
    double sum = 0;
    double most = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const double slowdown = results[i]["all"];
        sum += slowdown;
        most = std::max(most, slowdown);
        suite.notes.push_back(note_of(pairs[i], results[i]));
    }
    const auto add = [&](const char* id, double measured, double simulated) {
        Case c;
        c.id = fmt::format("{} of {} training steps", id, pairs.size());
        c.group = kModelsGroup;
        c.quantity = "slowdown";
        c.unit = "1";
        c.measured = measured;
        c.low = 1.0;
        c.high = measured;
        c.simulated = simulated;
        suite.cases.push_back(std::move(c));
    };
    add("mean", kMeanPublished, sum / static_cast<double>(pairs.size()));
    add("largest", kMostPublished, most);
}

}  // namespace switchfold::validation
