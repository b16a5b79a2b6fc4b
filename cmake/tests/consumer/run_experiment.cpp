// SPDX-License-Identifier: Apache-2.0
// Runs an experiment whose file may name what switchfold does not have: "type": "hypercube" for the
// topology, and "when_full": "fewest_operands_leave" for its switches. Both are put into the
// experiment here; the rest is what `switchfold run` does.
// usage: run_experiment EXPERIMENT.json
#include "core/json.h"
#include "core/params_reader.h"
#include "core/params_writer.h"
#include "interconnect/topology_builder.h"
#include "sim/config/load.h"
#include "sim/output/writers.h"
#include "sim/runner.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>

#include "fewest_operands_leave.h"
#include "hypercube.h"

namespace {

using namespace switchfold;

constexpr const char* kPolicy = "fewest_operands_leave";

/// A hypercube is written out as the graph that it is.
void expand_topology(Json& topology, const std::string& file) {
    if (topology.value("type", "") != consumer::HypercubeTopology::kType)
        return;
    topology.erase("type");
    const auto cube = read_params<consumer::HypercubeTopology>(topology, file);
    topology = Json::parse(write_value(graph_of(cube.build())).dump());
    topology["type"] = GraphTopology::kType;
}

/// \returns whether the switches take our policy. Its name becomes one that the reader knows.
bool take_policy(Json& topology) {
    const Json::json_pointer place("/switch/reduction/when_full");
    if (!topology.contains(place) || topology[place] != kPolicy)
        return false;
    topology[place] = "evict";
    return true;
}

void set_policy(SystemParams& system) {
    auto& machine = std::get<SwitchedTopology>(*system.topology);
    machine.node.reduction->policy = std::make_shared<consumer::FewestOperandsLeave>();
}

void run(const std::filesystem::path& file) {
    Json json = load_json(file);
    Json& topology = json.at("system").at("topology");
    expand_topology(topology, file.string());
    const bool ours = take_policy(topology);
    LoadedExperiment loaded = load_experiment(json, file, {});
    if (ours)
        set_policy(*loaded.experiment.system);
    const ExperimentResult result = run_experiment(loaded, {});
    std::printf("%s", to_table(result).c_str());
    for (const ScenarioResult& scenario : result.scenarios)
        for (const StatisticTable& table : scenario.statistics) {
            double evictions = 0;
            for (std::size_t i = 0; i < table.columns.size(); ++i)
                for (const StatisticTable::Row& row : table.rows)
                    evictions += table.columns[i].name == "evictions" ? row.values[i] : 0;
            if (table.kind == "reduction_units")
                std::printf("%s: %.0f lines left early\n", scenario.name.c_str(), evictions);
        }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc == 2 ? argv[1] : "experiment.json");
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}

// Debian's libsystemc has its own main, which needs this symbol.
extern "C" int sc_main(int /*argc*/, char** /*argv*/) {
    return 1;
}
