// SPDX-License-Identifier: Apache-2.0
#include "sim/config/load.h"
#include "sim/experiment_run.h"
#include "sim/kinds/graph_kind.h"
#include "sim/kinds/kinds.h"
#include "sim/kinds/rows.h"
#include "sim/output/tests/sample.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>

namespace switchfold::workload_kinds_test {
namespace {

SystemParams system_named(const std::string& name) {
    return load_any_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/" + name + ".json", {});
}

/// An experiment of a row's kind as it is before any of its parameters is set, on a machine that
/// has what it runs on.
Experiment of_row(Workload workload) {
    Experiment experiment;
    experiment.name = "row";
    const bool on_gpus = kind_of(workload).facts().on_gpus;
    experiment.system.value = system_named(on_gpus ? "hgx_h100" : "xeon_phi_7120p");
    experiment.workload = std::move(workload);
    return experiment;
}

template <std::size_t... I>
std::vector<Experiment> of_rows(std::index_sequence<I...> /*rows*/) {
    return {of_row(std::variant_alternative_t<I, WorkloadRows>())...};
}

/// One of each kind, in the order of workload_kinds().
std::vector<Experiment> one_of_each() {
    auto all = of_rows(std::make_index_sequence<std::variant_size_v<WorkloadRows>>());
    Experiment shared;
    shared.name = "shared";
    shared.system.value = system_named("hgx_h100");
    shared.workloads.resize(2);
    all.push_back(std::move(shared));
    return all;
}

TEST(WorkloadKinds, HaveNamesOfTheirOwnAndAreFoundByThem) {
    std::set<std::string_view> names;
    for (const WorkloadKind* kind : workload_kinds()) {
        EXPECT_FALSE(kind->name().empty());
        EXPECT_TRUE(names.insert(kind->name()).second) << kind->name();
        EXPECT_EQ(kind_named(kind->name()), kind);
    }
    EXPECT_EQ(kind_named("nothing"), nullptr);
}

TEST(WorkloadKinds, AreFoundByTheirParameters) {
    const auto kinds = workload_kinds();
    const auto experiments = one_of_each();
    ASSERT_EQ(kinds.size(), experiments.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        EXPECT_EQ(&kind_of(experiments[i]), kinds[i]) << kinds[i]->name();
        if (const std::optional<Workload>& workload = experiments[i].workload) {
            EXPECT_EQ(&kind_of(*workload), kinds[i]) << kinds[i]->name();
        }
    }
}

TEST(WorkloadKinds, HaveDefaultScenariosThatStartAndATable) {
    for (Experiment& experiment : one_of_each()) {
        const WorkloadKind& kind = kind_of(experiment);
        std::set<std::string> names;
        experiment.scenarios = kind.default_scenarios(experiment);
        for (const ScenarioParams& scenario : experiment.scenarios)
            EXPECT_TRUE(names.insert(scenario.name).second) << kind.name() << scenario.name;
        EXPECT_FALSE(names.empty()) << kind.name();
        LoadedExperiment loaded;
        loaded.experiment = std::move(experiment);
        const RunOptions options;
        EXPECT_NE(kind.start(loaded, options), nullptr) << kind.name();
        EXPECT_FALSE(kind.tables(sample_result()).empty()) << kind.name();
    }
}

TEST(WorkloadKinds, WithAGraphRunOnGpusAndTheOthersShareNoMachine) {
    for (const WorkloadKind* kind : workload_kinds()) {
        const bool has_graph = kind->as_graph() != nullptr;
        EXPECT_TRUE(!has_graph || kind->facts().on_gpus) << kind->name();
        EXPECT_TRUE(has_graph || !kind->facts().shares_machine) << kind->name();
    }
}

TEST(WorkloadKinds, OfTheRowsAreInTheSchema) {
    const std::string schema = schema_text("experiment");
    const auto kinds = workload_kinds();
    for (std::size_t i = 0; i < std::variant_size_v<WorkloadRows>; ++i)
        EXPECT_NE(
            schema.find("\"const\": \"" + std::string(kinds[i]->name()) + "\""), std::string::npos)
            << kinds[i]->name();
}

}  // namespace
}  // namespace switchfold::workload_kinds_test
