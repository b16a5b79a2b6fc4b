// SPDX-License-Identifier: Apache-2.0
#include "workloads/changes/phases.h"

#include "workloads/changes/batch.h"

#include <gtest/gtest.h>

#include <string>

namespace switchfold::changes {
namespace {

constexpr Time ms(std::uint64_t value) {
    return Time(1'000'000'000) * value;
}

HostCosts costs() {
    HostCosts c;
    c.detection = ms(100);
    c.kill = ms(200);
    c.start = ms(1000);
    c.import = ms(3000);
    c.context = ms(150);
    c.context_per_gpu = ms(60);
    c.rendezvous = ms(50);
    c.bootstrap_per_rank = Time(100'000'000);
    c.kernels = ms(200);
    c.allocation = ms(300);
    c.topology = ms(80);
    c.connections = ms(200);
    c.connections_network = ms(1000);
    c.build = ms(400);
    c.data = ms(10);
    c.switching = ms(5);
    c.timeout = ms(600'000);
    c.abort = ms(20);
    c.storage_write = c.storage_read = gigabytes_per_second(1);
    c.client = gigabytes_per_second(4);
    c.to_host = gigabytes_per_second(10);
    return c;
}

ChangeFacts facts(Method method) {
    ChangeFacts f;
    f.method = method;
    f.members = 8;
    f.added = 2;
    f.gpus_of_machine = 8;
    f.state = Bytes(1'000'000'000);
    if (method == Method::kReconnect)
        f.broadcast = ms(40);
    return f;
}

double pause(const ChangeFacts& f, const HostCosts& c) {
    return to_seconds(time_of(phases_of(f, c), false));
}
double beside(const ChangeFacts& f, const HostCosts& c) {
    return to_seconds(time_of(phases_of(f, c), true));
}

TEST(Phases, RestartIsTheSumOfTheTable) {
    // save 1 + kill .2 + start 1 + import 3 + context .15 + 7 x .06 + rendezvous .05
    // + init (.2 + .3 + .0007 + .08) + load 8 GB at 1 GB/s + build .4 + data .01 + connections .2
    EXPECT_NEAR(pause(facts(Method::kRestart), costs()), 15.0107, 1e-9);
    EXPECT_NEAR(beside(facts(Method::kRestart), costs()), 0.1, 1e-9);
}

TEST(Phases, AJoinMovesEverythingButTheSwitchBesideTraining) {
    EXPECT_NEAR(pause(facts(Method::kJoin), costs()), 0.005, 1e-9);
    EXPECT_NEAR(
        beside(facts(Method::kJoin), costs()), 0.1 + 4 + 0.57 + 0.41 + 0.05 + 0.5807 + 0.2, 1e-9);
    HostCosts cold = costs();
    cold.warm_connections = false;
    EXPECT_NEAR(pause(facts(Method::kJoin), cold), 0.205, 1e-9);
}

TEST(Phases, ReconnectKeepsProcessesAndWaitsForJoinersOnlyUnlessAnnounced) {
    ChangeFacts f = facts(Method::kReconnect);
    const double unannounced = pause(f, costs());
    f.announced = true;
    EXPECT_NEAR(pause(f, costs()), 0.05 + 0.5807 + 0.2 + 0.04, 1e-9);
    EXPECT_NEAR(unannounced - pause(f, costs()), 4 + 0.57 + 0.4, 1e-9);
    // Beside training comes first.
    const auto phases = phases_of(f, costs());
    bool stopped = false;
    for (const Phase& phase : phases) {
        EXPECT_FALSE(phase.beside && stopped) << phase.name;
        stopped = stopped || !phase.beside;
    }
}

TEST(Phases, NoticeHidesTheChildCommunicator) {
    ChangeFacts f = facts(Method::kLeave);
    f.added = 0;
    EXPECT_NEAR(pause(f, costs()), 0.085, 1e-9);
    f.notice = ms(30);
    EXPECT_NEAR(pause(f, costs()), 0.055, 1e-9);
    f.notice = ms(2000);
    EXPECT_NEAR(pause(f, costs()), 0.005, 1e-9);
}

TEST(Phases, AFailureWaitsForTheTimeOutAndSharesNothing) {
    ChangeFacts f = facts(Method::kFailure);
    f.added = 0;
    f.died = true;
    EXPECT_NEAR(pause(f, costs()), 600 + 0.02 + 0.3007 + 0.08 + 0.2 + 0.005, 1e-9);
}

TEST(Phases, ProcessesThatAreKeptStartNothing) {
    HostCosts kept = costs();
    kept.keep_processes = true;
    for (const Method method : {Method::kRestart, Method::kReconnect, Method::kJoin})
        for (const Phase& phase : phases_of(facts(method), kept))
            EXPECT_TRUE(phase.name != "start" && phase.name != "import" && phase.name != "kill")
                << phase.name;
}

TEST(HostCosts, ReadersShareTheStorage) {
    HostCosts c = costs();
    const Bytes state(1'000'000'000);
    EXPECT_EQ(read_time(c, state, 16, 2), ms(16'000));
    c.readers = Readers::kEveryMachine;
    EXPECT_EQ(read_time(c, state, 16, 2), ms(2'000));
    c.readers = Readers::kOne;
    EXPECT_EQ(read_time(c, state, 16, 2), ms(1'000));
    c.client = gigabytes_per_second(1) / 2;
    EXPECT_EQ(read_time(c, state, 16, 2), ms(2'000));
    EXPECT_EQ(write_time(c, state), ms(2'000));
}

TEST(HostCosts, ShrinkSkipsWhatTheParentHas) {
    const HostCosts c = costs();
    EXPECT_EQ(init_time(c, Communicator::kShrink, 8), c.topology);
    EXPECT_EQ(connection_time(c, Communicator::kShrink, 2), Time());
    EXPECT_GT(init_time(c, Communicator::kFirst, 8), init_time(c, Communicator::kFresh, 8));
    EXPECT_GT(init_time(c, Communicator::kFresh, 8), init_time(c, Communicator::kShrink, 8));
    EXPECT_EQ(init_time(c, Communicator::kFirst, 1), Time());
}

TEST(Batch, SharesDifferByOneAndAddUp) {
    for (std::uint32_t members = 1; members < 70; ++members) {
        const BatchShare share = share_of(100, members);
        EXPECT_EQ(share.least * members + share.more, 100U);
        EXPECT_LE(share.most() - share.least, 1U);
    }
    EXPECT_EQ(micro_batches_of(64, 32).count, 2U);
    EXPECT_EQ(micro_batches_of(33, 32).size, 17U);
    EXPECT_EQ(micro_batches_of(16, 32).size, 16U);
}

}  // namespace
}  // namespace switchfold::changes
