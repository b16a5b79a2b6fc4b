// SPDX-License-Identifier: Apache-2.0
#include "training/elastic/phases.h"

#include "training/elastic/batch.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace switchfold::elastic::phases_test {
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
    c.bootstrap_step = Time(100'000'000);
    c.kernels = ms(200);
    c.allocation = ms(300);
    c.topology = ms(80);
    c.connection = ms(5);
    c.connection_network = ms(25);
    c.build = ms(400);
    c.data = ms(10);
    c.switching = ms(5);
    c.timeout = ms(600'000);
    c.abort = ms(20);
    c.storage_write = c.storage_read = gigabytes_per_second(1);
    c.client = gigabytes_per_second(4);
    return c;
}

ChangeFacts facts(Method method) {
    ChangeFacts f;
    f.method = method;
    f.placement = even_placement(8, 1, 20);
    f.ranks_before = 6;
    f.added = 2;
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
    // Phases that run beside training come before those that stop it.
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

TEST(Phases, AfterTheSwitchMembersWaitForTheWeights) {
    for (const Method method : {Method::kJoin, Method::kLeave, Method::kFailure}) {
        ChangeFacts f = facts(method);
        f.added = method == Method::kJoin ? 2 : 0;
        const double without = pause(f, costs());
        f.weights = ms(30);
        EXPECT_NEAR(pause(f, costs()), without + 0.03, 1e-9);
        const std::vector<Phase> phases = phases_of(f, costs());
        EXPECT_EQ(phases.back().name, "weights");
        EXPECT_TRUE(phases.back().simulated);
        HostCosts swapped = costs();
        swapped.sync_weights = false;
        EXPECT_NEAR(pause(f, swapped), without, 1e-9);
    }
    // Others send the whole state.
    ChangeFacts f = facts(Method::kReconnect);
    const double without = pause(f, costs());
    f.weights = ms(30);
    EXPECT_NEAR(pause(f, costs()), without, 1e-9);
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

TEST(Phases, KeptProcessesWaitForTheirNextLook) {
    HostCosts kept = costs();
    kept.keep_processes = true;
    const auto longer = [&](ChangeFacts f) {
        HostCosts looking = kept;
        looking.poll = ms(6000);
        return pause(f, looking) - pause(f, kept);
    };
    // A communicator is built meanwhile: rendezvous 0.05, bootstrap 0.0007, allocation 0.3,
    // topology 0.08, connections 0.2.
    constexpr double kBuilt = 0.6307;
    ChangeFacts f = facts(Method::kReconnect);
    EXPECT_NEAR(longer(f), 4 - kBuilt, 1e-9);  // the later of two uniform waits: 2/3 of 6 s
    f.added = 0;
    EXPECT_NEAR(longer(f), 3 - kBuilt, 1e-9);  // all look together
    f.added = f.placement.members();           // none of the old ones stays
    EXPECT_NEAR(longer(f), 3 - kBuilt, 1e-9);
    f = facts(Method::kRestart);
    EXPECT_NEAR(longer(f), 4, 1e-9);
    f = facts(Method::kJoin);
    EXPECT_NEAR(longer(f), 0, 1e-9);  // joiners look beside training
    HostCosts looking = kept;
    looking.poll = ms(6000);
    EXPECT_NEAR(beside(f, looking) - beside(f, kept), 3, 1e-9);
    // Processes that start do not look.
    looking.keep_processes = false;
    EXPECT_EQ(pause(facts(Method::kReconnect), looking), pause(facts(Method::kReconnect), costs()));
}

double read_seconds(const HostCosts& c, Bytes state, const Placement& placement) {
    return to_seconds(
        last_of(read_ends(c, state, placement, std::vector<Time>(placement.members()))));
}

TEST(HostCosts, ReadersThatBeginTogetherTakeBytesOverBandwidth) {
    HostCosts c = costs();
    const Bytes state(1'000'000'000);
    const Placement two = even_placement(16, 2, 1);
    EXPECT_NEAR(read_seconds(c, state, two), 16, 1e-9);
    c.readers = Readers::kEveryMachine;
    EXPECT_NEAR(read_seconds(c, state, two), 2, 1e-9);
    c.readers = Readers::kOne;
    EXPECT_NEAR(read_seconds(c, state, two), 1, 1e-9);
    c.client = gigabytes_per_second(1) / 2;
    EXPECT_NEAR(read_seconds(c, state, two), 2, 1e-9);
}

TEST(HostCosts, TheFirstOfAMachineReadsForIt) {
    HostCosts c = costs();
    c.readers = Readers::kEveryMachine;
    // Rank 1 is the first of machine 0 to arrive and has the storage to itself for half a second.
    const std::vector<Time> ends = read_ends(
        c, Bytes(1'000'000'000), even_placement(4, 2, 1), {ms(700), ms(0), ms(500), ms(1800)});
    EXPECT_EQ(ends[0], ms(1500));
    EXPECT_EQ(ends[1], ms(1500));
    EXPECT_EQ(ends[2], ms(2000));
    EXPECT_EQ(ends[3], ms(2000));
}

TEST(HostCosts, WritersShareTheStateAndTheStorage) {
    HostCosts c = costs();
    const Bytes state(2'000'000'000);
    c.client = gigabytes_per_second(1) / 4;
    EXPECT_NEAR(to_seconds(write_time(c, state, 16)), 8, 1e-9);
    c.writers = Writers::kEveryRank;
    EXPECT_NEAR(to_seconds(write_time(c, state, 2)), 4, 1e-9);
    EXPECT_NEAR(to_seconds(write_time(c, state, 16)), 2, 1e-9);
    Bytes sum;
    for (const Bytes part : parts_written(Writers::kEveryRank, Bytes(1'000'003), 7))
        sum += part;
    EXPECT_EQ(sum, Bytes(1'000'003));
}

TEST(Phases, RanksThatComeApartReadApart) {
    // The eight ranks arrive 100 ms apart and exchange over a ring of seven steps. Each reads 1 GB
    // from a storage of 1 GB/s.
    HostCosts c = costs();
    c.skew = ms(700);
    const auto phases = phases_of(facts(Method::kRestart), c);
    const auto time = [&](std::string_view name) {
        for (const Phase& phase : phases)
            if (phase.name == name)
                return to_seconds(phase.time);
        return 0.0;
    };
    EXPECT_NEAR(time("bootstrap"), 0.7007, 1e-9);
    // Rank 0 gets the last rank's part one ring step after the last rank is done. The reads begin
    // almost together, and the link of the storage limits them.
    EXPECT_NEAR(time("load"), 8, 1e-3);
    for (const Phase& phase : phases)
        EXPECT_EQ(
            phase.simulated, phase.name == "save" || phase.name == "bootstrap" ||
                                 phase.name == "load" || phase.name == "connections")
            << phase.name;
}

TEST(HostCosts, ShrinkSkipsWhatTheParentHas) {
    const HostCosts c = costs();
    EXPECT_EQ(init_time(c, Communicator::kShrink, 8), c.topology);
    const std::vector<Time> together(8);
    EXPECT_EQ(bootstrap_ends(c, Communicator::kShrink, together), together);
    EXPECT_EQ(
        connection_ends(c, Communicator::kShrink, even_placement(8, 2, 4), together), together);
    EXPECT_EQ(last_of(bootstrap_ends(c, Communicator::kFresh, together)), c.bootstrap_step * 7);
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
}  // namespace switchfold::elastic::phases_test
