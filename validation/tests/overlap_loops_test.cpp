// SPDX-License-Identifier: Apache-2.0
#include "validation/overlap/overlap_loops.h"

#include "core/error.h"
#include "sim/config/load.h"
#include "sim/kinds/kernel_beside/kernel_beside_params.h"
#include "sim/runner.h"
#include "validation/harness/data.h"
#include "validation/machines/machines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <variant>

namespace switchfold::validation::overlap_loops_test {
namespace {

const std::filesystem::path kRepository = SWITCHFOLD_SOURCE_DIR;

CsvTable shipped() {
    return read_csv(kRepository / kShippedData / "reference/hopper_contention.csv");
}

ContentionLoop mesh() {
    std::string why;
    return read_loop(shipped().records.at(0), "table", why).value();
}

TEST(ContentionLoops, ARowIsReadWhole) {
    const ContentionLoop loop = mesh();
    EXPECT_EQ(loop.id, "simllm_a100_mesh4");
    EXPECT_EQ(loop.gpus, 4U);
    EXPECT_EQ(loop.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(loop.datatype, Datatype::kFloat32);
    EXPECT_EQ(loop.bytes, mebibytes(256));
    EXPECT_EQ(loop.blocks, 24U);
    EXPECT_EQ(loop.collectives, 20U);
    EXPECT_EQ(loop.products, 8U);
    EXPECT_EQ(loop.product_together, 4313.98);
}

TEST(ContentionLoops, WhatSaysTooLittleSaysWhy) {
    std::map<std::string, std::string> reasons;
    for (const CsvRecord& row : shipped().records) {
        std::string why;
        if (!read_loop(row, "table", why))
            reasons[row["id"]] = why;
    }
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_NE(reasons["fuser5742_h100_2g"].find("does not say how large"), std::string::npos);
}

TEST(ContentionLoops, WhatIsNoNumberIsTold) {
    CsvRecord row = shipped().records.at(0);
    row.fields["n_comm"] = "many";
    row.fields["gemm_alone_us"] = "-1";
    std::string why;
    try {
        static_cast<void>(read_loop(row, "table.csv", why));
        FAIL() << "read";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.problems().size(), 2U);
        EXPECT_EQ(
            error.problems().at(0).text(),
            "table.csv: line 2: n_comm is \"many\"; expected a number from 0 to 4000000000, or "
            "nothing");
    }
}

TEST(ContentionLoops, EachLoopHasAStreamAndTheirPartsAreThoseOfBoth) {
    const ContentionLoop loop = mesh();
    const KernelOperation product = product_kernel(loop, 3715.84);
    const auto counts = [&](LoopParts parts) {
        const ExecutionGraph graph = loop_graph(loop, product, parts);
        check(graph);
        EXPECT_EQ(graph.ranks.size(), 4U);
        std::pair<std::size_t, std::size_t> found;
        for (const Operation& operation : graph.ranks.front()->operations) {
            const bool kernel = std::holds_alternative<KernelOperation>(operation.body);
            EXPECT_EQ(operation.stream, kernel ? 0U : 1U);
            ++(kernel ? found.first : found.second);
        }
        return found;
    };
    EXPECT_EQ(counts(LoopParts::kBoth), std::pair(std::size_t{8}, std::size_t{20}));
    EXPECT_EQ(counts(LoopParts::kProducts), std::pair(std::size_t{8}, std::size_t{0}));
    EXPECT_EQ(counts(LoopParts::kCollectives), std::pair(std::size_t{0}, std::size_t{20}));
}

TEST(ContentionLoops, AProductIsTiledAndMovesItsMatricesOnce) {
    const KernelOperation product = product_kernel(mesh(), 3715.84);
    EXPECT_EQ(product.grid.count(), 2048U);
    EXPECT_EQ(product.shared_memory, kibibytes(144));
    EXPECT_EQ(product.bytes_read, mebibytes(256));
    EXPECT_EQ(product.bytes_written, mebibytes(128));
    EXPECT_EQ(product.isolated, Time(3'715'840'000));
}

/// The loops of a row as an experiment, which anybody can run with sizes of their own.
ScenarioResult ran_as_workload(const ContentionLoop& loop, const SystemParams& system) {
    const KernelOperation product = product_kernel(loop, *loop.product_alone);
    LaunchedKernelParams kernel;
    kernel.grid = {product.grid.x, product.grid.y};
    kernel.block = {product.block.x};
    kernel.registers_per_thread = product.registers_per_thread;
    kernel.shared_memory = product.shared_memory;
    kernel.bytes_read = product.bytes_read;
    kernel.bytes_written = product.bytes_written;
    kernel.time = product.isolated;
    KernelBesideCollectiveParams workload;
    workload.kernel = kernel;
    workload.collective = loop.kind;
    workload.size = loop.bytes;
    workload.datatype = loop.datatype;
    workload.ranks = loop.gpus;
    workload.kernels = loop.products;
    workload.collectives = loop.collectives;
    Experiment experiment;
    experiment.name = loop.id;
    experiment.system.value = system;
    experiment.workload = workload;
    experiment.causes = false;
    ScenarioParams ring{"ring", true, ring_policy()};
    ring.all_reduce.channels = loop.blocks;
    experiment.scenarios = {ring};
    RunOptions options;
    options.jobs = 2;
    return run_experiment(complete_experiment(experiment, "loops.json"), options).scenarios.at(0);
}

TEST(ContentionLoops, TheWorkloadOfAKernelBesideACollectiveSaysTheSame) {
    const ContentionLoop loop = mesh();
    const Machines machines(kRepository);
    const MachineMatch match =
        machines.find({loop.gpu, loop.interconnect, loop.gpus, std::nullopt});
    ASSERT_TRUE(match.machine);
    const ScenarioResult ring = ran_as_workload(loop, match.machine->system);
    SuiteOptions options;
    options.root = kRepository;
    SuiteResult suite;
    add_loops(options, suite);
    std::map<std::string, double> simulated;
    for (const Case& c : suite.cases)
        simulated[c.id] = c.simulated;
    constexpr double kHalfAPoint = 0.005;
    EXPECT_NEAR(*ring.kernel_slowdown + 1, simulated.at(loop.id + "/product"), kHalfAPoint);
    EXPECT_NEAR(*ring.collective_slowdown + 1, simulated.at(loop.id + "/collective"), kHalfAPoint);
    EXPECT_NEAR(
        1 / *ring.speedup, simulated.at(loop.id + "/together over one after the other"),
        kHalfAPoint);
}

/// Two effects of the measurement: products lose SMs only while a collective runs, and a collective
/// waits until the product before it has launched all its thread blocks.
TEST(ContentionLoops, BothSidesAreAsMeasured) {
    SuiteOptions options;
    options.root = kRepository;
    SuiteResult suite;
    add_loops(options, suite);
    std::map<std::string, Case> cases;
    for (const Case& c : suite.cases)
        cases[c.id] = c;
    ASSERT_EQ(cases.size(), 5U);
    const std::string engines =
        "pytorch172714_h100_8g_copy_engine/together over one after the other";
    const std::string kernels = "pytorch172714_h100_8g_sm/together over one after the other";
    for (const auto& [id, c] : cases)
        EXPECT_TRUE(id == engines || std::abs(c.error()) < 0.10) << id << ": " << c.simulated;
    // Copy engines occupy no SMs, so a product next to them slows down less.
    EXPECT_LT(cases.at(engines).simulated, cases.at(kernels).simulated);
    EXPECT_NEAR(cases.at("simllm_a100_mesh4/product").measured, 1.161, 1e-3);
    EXPECT_NEAR(cases.at("simllm_a100_mesh4/collective").measured, 1.481, 1e-3);
    EXPECT_EQ(suite.unmatched.size(), 1U);
}

}  // namespace
}  // namespace switchfold::validation::overlap_loops_test
