// SPDX-License-Identifier: Apache-2.0
// Runs an experiment whose file may name what switchfold does not have: "type": "hypercube" for the
// topology, "when_full": "fewest_operands_leave" and "place": "every_second" for its switches'
// units, and "mode": "one_home" for its all-reduces. They are put into the experiment here; the
// rest is what `switchfold run` does. usage: run_experiment EXPERIMENT.json
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
#include "one_home.h"

namespace {

using namespace switchfold;

/// A hypercube is written out as the graph that it is.
void expand_topology(Json& topology, const std::string& file) {
    if (topology.value("type", "") != consumer::HypercubeTopology::kType)
        return;
    topology.erase("type");
    const auto cube = read_params<consumer::HypercubeTopology>(topology, file);
    topology = Json::parse(write_value(graph_of(cube.build())).dump());
    topology["type"] = GraphTopology::kType;
}

/// \returns whether that is our word, which becomes one that the reader knows.
bool takes(Json& json, const char* pointer, const char* ours, const char* known) {
    const Json::json_pointer at(pointer);
    if (!json.contains(at) || json[at] != ours)
        return false;
    json[at] = known;
    return true;
}

void run(const std::filesystem::path& file) {
    Json json = load_json(file);
    Json& topology = json.at("system").at("topology");
    expand_topology(topology, file.string());
    const bool policy =
        takes(topology, "/switch/reduction/when_full", "fewest_operands_leave", "evict");
    const bool place = takes(topology, "/switch/reduction/place", "every_second", "machine");
    std::vector<bool> modes;
    for (Json& scenario : json.at("scenarios"))
        modes.push_back(takes(scenario, "/all_reduce/mode", "one_home", "push"));
    LoadedExperiment loaded = load_experiment(json, file, {});
    Experiment& experiment = loaded.experiment;
    if (auto* machine = std::get_if<SwitchedTopology>(&*experiment.system->topology)) {
        if (policy)
            machine->node.reduction->policy = std::make_shared<consumer::FewestOperandsLeave>();
        if (place)
            machine->node.reduction->own_place = std::make_shared<consumer::EverySecond>();
    }
    for (std::size_t i = 0; i < modes.size(); ++i)
        if (modes[i])
            experiment.scenarios[i].all_reduce.own_mode = std::make_shared<consumer::OneHome>();
    const ExperimentResult result = run_experiment(loaded, {});
    std::printf("%s", to_table(result).c_str());
    for (const ScenarioResult& scenario : result.scenarios)
        for (const StatisticTable& table : scenario.statistics) {
            if (table.kind != "reduction_units")
                continue;
            double evictions = 0;
            std::size_t added = 0;
            for (std::size_t i = 0; i < table.columns.size(); ++i)
                for (const StatisticTable::Row& row : table.rows) {
                    evictions += table.columns[i].name == "evictions" ? row.values[i] : 0;
                    added += table.columns[i].name == "bytes_in" && row.values[i] > 0 ? 1 : 0;
                }
            std::printf(
                "%s: %.0f lines left early, %zu units added\n", scenario.name.c_str(), evictions,
                added);
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
