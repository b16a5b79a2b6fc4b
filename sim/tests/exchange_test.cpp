// SPDX-License-Identifier: Apache-2.0
// Gradient exchange by copies, and replicas that average periodically, run as experiments.
#include "core/error.h"
#include "core/json.h"
#include "core/kernel/simulation.h"
#include "sim/config/load.h"
#include "sim/machine/machine.h"
#include "sim/runner.h"
#include "sim/workload/kernel_model.h"
#include "workloads/kernels/memory_kernel.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace switchfold::exchange_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/test.json";

ExperimentResult
run(const std::string& system, const std::string& workload, const std::string& scenarios) {
    const std::string text = fmt::format(
        R"({{"name": "test", "system": "../systems/{}.json", "causes": false, "workload": {},
             "scenarios": [{}]}})",
        system, workload, scenarios);
    RunOptions options;
    options.in_process = true;
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), options);
}

std::string
problem_of(const std::string& system, const std::string& workload, const std::string& scenarios) {
    try {
        run(system, workload, scenarios);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

constexpr const char* kAllReduce = R"({"type": "collective", "size": "16 MiB"})";

std::string training(const std::string& plan) {
    return fmt::format(
        R"({{"type": "training", "network": "fc_784_2048x4_10", "precision": "single",
             "plan": {{"micro_batch": 64, "optimizer": "momentum", {}}}}})",
        plan);
}

const ScenarioResult& named(const ExperimentResult& result, const std::string& name) {
    return *std::find_if(result.scenarios.begin(), result.scenarios.end(), [&](const auto& s) {
        return s.name == name;
    });
}

TEST(Exchange, OwnersTreesAndHostStandInTheOrderOfTheirBusiestLink) {
    const ExperimentResult result =
        run("pcie3_two_groups", kAllReduce,
            R"({"name": "host", "all_reduce": {"algorithm": "host"}},
           {"name": "owners", "all_reduce": {"algorithm": "owners"}},
           {"name": "tree", "all_reduce": {"algorithm": "topology_tree"}})");
    const auto time = [&](const char* name) {
        return named(result, name).collectives.front().time_us;
    };
    EXPECT_GT(time("host"), time("owners"));
    EXPECT_GT(time("owners"), time("tree"));
    EXPECT_EQ(named(result, "owners").collectives.front().algorithm, "owners");
}

TEST(Exchange, SumsAreKernelsOfTheOwner) {
    const auto kernels = [](const char* scenario) {
        const ExperimentResult result = run("hgx_h100", kAllReduce, scenario);
        for (const StatisticTable& table : result.scenarios.front().statistics)
            if (table.kind == "gpus")
                return table.rows.front().values.front();
        return -1.0;
    };
    // Four arrays of 4 MiB, of which rank 0 owns all.
    EXPECT_EQ(
        kernels(R"({"name": "a", "all_reduce": {"algorithm": "owners", "copies": {"owners": 1}}})"),
        4);
}

TEST(Exchange, SumsWaitForSmsThatKernelsHold) {
    // A kernel holds all SMs for 10 ms; the owner's sum takes microseconds alone.
    SystemParams system = load_system(SWITCHFOLD_SOURCE_DIR "/configs/systems/h100_4gpu.json", {});
    system.gpu->kernel_overhead = Time();  // so that the kernel has its SMs when the sum begins
    struct End final : KernelListener {
        explicit End(const Scheduler& s) : scheduler(s) {}
        void on_kernel_end(std::uint32_t /*id*/) override { at = scheduler.now(); }
        const Scheduler& scheduler;
        Time at;
    };
    const auto sum_ends = [&](bool beside_kernel) {
        Simulation simulation;
        MachineOptions options;
        options.ranks = 1;
        Machine machine(simulation, system, options);
        GpuPort port(0, machine.gpu(0), machine.copies(0));
        End kernel(simulation.scheduler());
        End sum(simulation.scheduler());
        if (beside_kernel) {
            KernelLaunch launch;
            launch.shape = {1024, 32, kibibytes(200)};
            launch.blocks = system.gpu->sms;
            launch.isolated = microseconds(10'000);
            machine.gpu(0).launch(launch, kernel);
        }
        port.add_arrays(1, 8UL << 20U, 4UL << 20U, sum);
        simulation.run();
        return sum.at;
    };
    const Time alone = sum_ends(false);
    // 12 MiB: what the kernel model says of an element-wise kernel.
    constexpr double kElements = 1 << 20;
    const KernelEstimate same = estimate(element_wise(kElements, 2, 4), gpu_rates(*system.gpu));
    EXPECT_NEAR(to_microseconds(alone), to_microseconds(same.kernel.isolated), 0.01);
    // Beside it, a block per SM finds 1,024 threads of room: half of the loads in flight.
    EXPECT_GT(sum_ends(true), alone + (alone / 10));
}

TEST(Exchange, OneThreadHasTheCentreOfAllReplicas) {
    const auto step = [](int replicas) {
        const ExperimentResult result = run(
            "pcie3_two_groups",
            training(fmt::format(
                R"("data": {}, "average": {{"method": "elastic_async", "every": 1}})", replicas)),
            R"({"name": "a"})");
        return result.scenarios.front().iteration_us;
    };
    // 57 MB of weights: four times those at 10 GB/s, for one replica after the other.
    const double each = 4 * 4 * 14.2e6 / 10e9 * 1e6;
    EXPECT_GT(step(4) - step(2), 1.9 * each);
    EXPECT_NE(
        problem_of(
            "dgx_h100_ndr", training(R"("data": 2, "average": {"method": "elastic_async"})"),
            R"({"name": "a"})")
            .find("/workload/plan/average/method: is elastic_async, of which one host thread"),
        std::string::npos);
}

TEST(Exchange, ReplicasOfSeveralGpusAverage) {
    const ExperimentResult result =
        run("hgx_h100", training(R"("data": 4, "tensor": 1, "pipeline": 2, "accumulate": 4,
                        "average": {"method": "periodic", "every": 8})"),
            R"({"name": "ring", "all_reduce": {"algorithm": "ring"}})");
    const ScenarioResult& ring = result.scenarios.front();
    EXPECT_EQ(result.workload.ranks, 8U);
    std::size_t exchanges = 0;
    for (const CollectiveResult& collective : ring.collectives) {
        if (collective.name.find("replicas") == std::string::npos)
            continue;  // messages of the pipeline
        ++exchanges;
        EXPECT_EQ(collective.ranks, 4U);
    }
    EXPECT_GT(exchanges, 0U);
}

TEST(Exchange, SynchronisingEachStepFollowsTheFormula) {
    // averaging.md, section 0: with k copies of all gradients in series at rate B, and 6 P b FLOP
    // of a step at rate F, t_sync / t_compute = 2 k F / (3 B b), whatever the number P of
    // parameters.
    struct Net {
        const char* name;
        double parameters;
    };
    constexpr double kCopies = 4;  // up and down on two GPUs, by one thread
    constexpr double kPageable = 6e9;
    for (const Net& net :
         {Net{"fc_784_2048x4_10", 14.21e6}, Net{"fc_speech_429_2048x7_9304", 45.1e6}})
        for (const int batch : {64, 256}) {
            const std::string text = fmt::format(
                R"({{"name": "test", "system": "../systems/pcie3_two_groups.json", "causes": false,
                     "workload": {{"type": "training", "network": "{}", "precision": "single",
                         "plan": {{"data": 2, "micro_batch": {}, "overlap_gradients": false}}}},
                     "scenarios": [{{"name": "a", "all_reduce":
                         {{"algorithm": "host", "copies": {{"memory": "pageable"}}}}}}]}})",
                net.name, batch);
            RunOptions options;
            options.in_process = true;
            // The formula has no sums.
            const ExperimentResult result = run_experiment(
                load_experiment(
                    Json::parse(text), kFile,
                    std::vector<Override>{
                        {"/system/collectives/peer_copies/host_add", "10 TB/s"},
                        {"/system/collectives/peer_copies/host_memory", "10 TB/s"}}),
                options);
            const ScenarioResult& step = result.scenarios.front();
            const double compute = (step.forward_us + step.backward_us) * 1e-6;
            const double rate = 6 * net.parameters * batch / compute;
            const double formula = 2 * kCopies * rate / (3 * kPageable * batch);
            const double simulated = step.exposed_communication_us * 1e-6 / compute;
            EXPECT_NEAR(simulated / formula, 1, 0.1) << net.name << " " << batch;
        }
}

TEST(Exchange, SaysWhatItCannotDo) {
    EXPECT_NE(
        problem_of(
            "dgx_h100_ndr", kAllReduce, R"({"name": "a", "all_reduce": {"algorithm": "host"}})")
            .find("/scenarios/0/all_reduce/algorithm: is host, which dgx_h100_ndr cannot do: the "
                  "group spans several machines"),
        std::string::npos);
    EXPECT_NE(
        problem_of(
            "hgx_h100", kAllReduce,
            R"({"name": "a", "all_reduce": {"algorithm": "ring", "copies": {"owners": 1}}})")
            .find("only owners, topology_tree and host exchange by copies"),
        std::string::npos);
    EXPECT_NE(
        problem_of(
            "hgx_h100", kAllReduce,
            R"({"name": "a", "all_reduce": {"algorithm": "host", "protocol": "ll"}})")
            .find("is one of thread blocks, and copies have none"),
        std::string::npos);
}

TEST(Average, PeriodsDivideWhatAnExchangeTakes) {
    // x, the time that exchanges add to a step, falls as 1/H: H = 4 adds four times what H = 16
    // adds.
    const ExperimentResult result =
        run("pcie3_two_groups", training(R"("data": 2, "average": {"every": 4})"),
            R"({"name": "alone", "set": {"/workload/plan/average/every": 2048}},
           {"name": "4", "all_reduce": {"algorithm": "owners"}},
           {"name": "16", "all_reduce": {"algorithm": "owners"},
            "set": {"/workload/plan/average/every": 16}},
           {"name": "beside", "all_reduce": {"algorithm": "owners"},
            "set": {"/workload/plan/average/every": 16, "/workload/plan/average/overlap": true}})");
    const double alone = named(result, "alone").iteration_us;
    const double at_4 = named(result, "4").iteration_us - alone;
    const double at_16 = named(result, "16").iteration_us - alone;
    EXPECT_GT(at_16, 0);
    EXPECT_NEAR(at_4 / at_16, 4, 0.2);
    EXPECT_LT(named(result, "beside").iteration_us, named(result, "16").iteration_us);
}

TEST(Average, KReplicasThatNeverMeetAreKTimesAsFast) {
    const auto pace = [](const std::string& plan) {
        return *run("pcie3_two_groups", training(plan), R"({"name": "a"})")
                    .scenarios.front()
                    .samples_per_s;
    };
    const double one = pace(R"("data": 1)");
    const double four = pace(R"("data": 4, "average": {"method": "one_shot", "every": 2048})");
    EXPECT_NEAR(four / one, 4, 0.04);
}

TEST(Average, RefusesPlansWhoseReplicasAreNotWhole) {
    const auto problem = [](const std::string& plan) {
        return problem_of("pcie3_two_groups", training(plan), R"({"name": "a"})");
    };
    EXPECT_NE(
        problem(R"("data": 1, "average": {})").find("/workload/plan/average: averages nothing"),
        std::string::npos);
    EXPECT_NE(
        problem(R"("data": 2, "sharding": "optimizer", "average": {})")
            .find("none holds a part for another"),
        std::string::npos);
    EXPECT_NE(
        problem(R"("data": 2, "global_batch": 64, "division": [64, 0], "average": {})")
            .find("would be averaged untrained"),
        std::string::npos);
    EXPECT_NE(problem(R"("data": 2, "average": {"evry": 2})").find("every"), std::string::npos);
}

}  // namespace
}  // namespace switchfold::exchange_test
