// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/watchdog.h"

#include "core/error.h"
#include "core/kernel/simulation.h"
#include "sim/config/load.h"
#include "sim/machine/longest_time.h"
#include "sim/machine/simulate.h"
#include "workloads/graph/collective.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace switchfold::watchdog_test {
namespace {

LimitParams idle_after(std::uint64_t events) {
    LimitParams limits;
    limits.idle_events = events;
    return limits;
}

TEST(Watchdog, EventsWithoutProgressEndTheRun) {
    Watchdog dog(idle_after(1000), microseconds(1000));
    std::string why;
    std::uint64_t events = 0;
    for (; why.empty() && events < 10'000; events += 10)
        why = dog.check({Time(events), events, 7, Time()});
    EXPECT_NE(why.find("no operation has ended and no packet has arrived"), std::string::npos);
    EXPECT_NEAR(static_cast<double>(events), 1000, 150);
}

TEST(Watchdog, AnyProgressLetsItGoOn) {
    Watchdog dog(idle_after(1000), microseconds(1000));
    for (std::uint64_t events = 0; events < 100'000; events += 10)
        ASSERT_EQ(dog.check({Time(events), events, events / 900, Time()}), "") << events;
}

TEST(Watchdog, EachLimitSaysWhereItStands) {
    LimitParams limits;
    limits.real_time = microseconds(2'000'000);
    Watchdog dog(limits, microseconds(50));
    EXPECT_EQ(dog.check({microseconds(50), 1, 0, microseconds(2'000'000)}), "");
    EXPECT_EQ(
        dog.check({microseconds(1), 2, 0, microseconds(2'000'001)}),
        "takes longer than the 2 s of real time allowed by /limits/real_time");
    EXPECT_EQ(
        dog.check({microseconds(51), 3, 0, Time()}),
        "takes longer than the 50 us of simulated time that this workload could need "
        "(/limits/simulated_time)");
    limits.simulated_time = microseconds(100);
    Watchdog patient(limits, microseconds(50));
    EXPECT_EQ(patient.check({microseconds(51), 1, 0, Time()}), "");
}

/// A timer whose only action is to schedule its next event.
struct Timer final : EventHandler {
    explicit Timer(Scheduler& s) : scheduler(s) { scheduler.after(nanoseconds(1), *this, 0); }
    void on_event(std::uint64_t) override { scheduler.after(nanoseconds(1), *this, 0); }
    Scheduler& scheduler;
};

TEST(Watchdog, TimersAreNoProgress) {
    Simulation simulation;
    const Timer timer(simulation.scheduler());
    Watchdog dog(idle_after(100'000), kTimeMax);
    std::string why;
    simulation.run([&](Time now, std::uint64_t events) {
        why = dog.check({now, events, 0, Time()});
        return why.empty();
    });
    EXPECT_NE(why.find("makes no progress"), std::string::npos);
    EXPECT_LT(simulation.scheduler().events(), 300'000U);
}

SystemParams system_of(const std::string& name) {
    return load_system(std::string(SWITCHFOLD_SOURCE_DIR) + "/configs/systems/" + name, {});
}

/// A kernel with so many blocks that each wave lasts less than a picosecond: its millions of events
/// make no progress. The error names the waiting operation.
TEST(Watchdog, ALivelockNamesWhoWaits) {
    ExecutionGraph graph;
    graph.names = {"endless"};
    auto rank = std::make_shared<RankGraph>();
    rank->streams = {{StreamKind::kGpu, "7", 0}};
    Operation operation;
    KernelOperation kernel;
    kernel.grid = {2'147'483'647, 65'535, 1};
    kernel.block = {1024, 1, 1};
    kernel.isolated = microseconds(1000);
    operation.body = kernel;
    rank->operations = {operation};
    graph.ranks = {rank};
    graph.provenance.world_size = 1;
    SimulateOptions options;
    options.limits = idle_after(50'000);
    try {
        static_cast<void>(simulate(system_of("dgx_a100.json"), graph, {}, options));
        FAIL() << "ended";
    } catch (const SimulationError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("no operation has ended and no packet has arrived"), std::string::npos)
            << text;
        EXPECT_NE(text.find("1 of 1 ranks did not finish"), std::string::npos) << text;
        EXPECT_NE(text.find("operation 0 (endless)"), std::string::npos) << text;
    }
}

/// The bound is far above the time that runs take and grows with their work.
TEST(Watchdog, SoundRunsStayFarBelowTheLongestTime) {
    for (const char* name : {"dgx_a100.json", "hgx_h100.json", "rtx4090_pcie_no_p2p.json"}) {
        const SystemParams system = system_of(name);
        Time before;
        for (const std::uint64_t bytes : {16ULL, 1ULL << 16U, 1ULL << 24U}) {
            const ExecutionGraph graph =
                single_collective(CollectiveKind::kAllReduce, Bytes(bytes), Datatype::kFloat32, 4);
            const Time longest = longest_time(system, graph);
            EXPECT_GE(longest, before);
            before = longest;
            const Outcome outcome = simulate(system, graph, {}, {});
            EXPECT_LT(outcome.end_ps * 10, longest.count());
        }
    }
}

/// Simulated time without events costs no work.
TEST(Watchdog, IdleTimeCostsNothing) {
    struct Once final : EventHandler {
        void on_event(std::uint64_t) override { ++count; }
        int count = 0;
    };
    Simulation simulation;
    Once once;
    simulation.scheduler().at(microseconds(3'600'000'000), once, 0);
    int slices = 0;
    simulation.run([&](Time, std::uint64_t) { return ++slices < 1000; });
    EXPECT_EQ(once.count, 1);
    EXPECT_LT(slices, 20);
}

}  // namespace
}  // namespace switchfold::watchdog_test
