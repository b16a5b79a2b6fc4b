// SPDX-License-Identifier: Apache-2.0
// In-switch collectives that run concurrently.
#include "models/collectives/in_switch/in_switch_steps.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::in_switch_together_test {
namespace {

/// One collective, on a group of its own.
struct Job {
    std::vector<std::uint32_t> ranks;
    CollectiveKind kind = CollectiveKind::kAllReduce;
    Bytes bytes;
};

struct Moved {
    std::uint64_t payload = 0;  ///< on links
    std::uint64_t read = 0;     ///< from the GPUs' memories
    std::uint64_t written = 0;
    bool operator==(const Moved&) const = default;
    Moved operator+(const Moved& other) const {
        return {payload + other.payload, read + other.read, written + other.written};
    }
};

struct Outcome {
    std::uint32_t ended = 0;  ///< members that have ended
    Moved moved;
    std::vector<std::string> unfinished;
    std::vector<std::string> wrong;
    std::size_t left_over = 0;  ///< values and credits that were not returned
    std::size_t switched = 0;   ///< collectives that ran through the switches
    Time end;
};

struct Count final : CollectiveListener {
    void on_collective_end(std::uint32_t) override { ++ended; }
    std::uint32_t ended = 0;
};

/// Starts all jobs at the same time. Packets carry values if `functional`.
Outcome
run(const Topology& topology, const CollectiveParams& params, const CollectivePolicy& policy,
    const std::vector<Job>& jobs, bool functional = true) {
    TestMachine machine(topology, params, policy);
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    std::vector<Group> groups;
    for (const Job& job : jobs)
        groups.push_back({"job" + std::to_string(groups.size()), job.ranks});
    machine.engine.reset();
    CollectiveEngine engine("jobs", machine.fabric, params, policy, ports, groups, functional);
    Count members;
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        CollectiveOperation operation;
        operation.kind = jobs[i].kind;
        operation.group = i;
        operation.bytes = jobs[i].bytes;
        for (const std::uint32_t rank : jobs[i].ranks)
            engine.start(rank, rank, operation, 0, members);
    }
    machine.simulation.run();
    Outcome outcome;
    outcome.ended = members.ended;
    outcome.unfinished = engine.blocked();
    for (const std::string& line : machine.fabric.blocked())
        outcome.unfinished.push_back(line);
    outcome.wrong = engine.wrong_results();
    outcome.left_over = machine.fabric.values().live();
    for (const auto& link : machine.fabric.links()) {
        outcome.moved.payload += link->statistics().payload_bytes;
        for (const VirtualChannel channel :
             {VirtualChannel::kRequest, VirtualChannel::kDown, VirtualChannel::kResponse})
            outcome.left_over += link->outstanding(channel);
    }
    for (const auto& port : machine.ports) {
        outcome.moved.read += port->bytes_read;
        outcome.moved.written += port->bytes_written;
    }
    for (const CollectiveRecord& record : engine.records()) {
        outcome.switched += reduces_in_switch(record.choice.algorithm) ? 1 : 0;
        outcome.end = std::max(outcome.end, record.end);
    }
    return outcome;
}

CollectivePolicy in_switch(InSwitchMode mode = InSwitchMode::kPull) {
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kInSwitch;
    policy.mode = mode;
    return policy;
}

/// Copies to where the switches read and back are all that registered buffers leave out.
TEST(RegisteredAcross, MoveTheSameOverLinksAndCopyNothing) {
    const Topology cluster = TestMachine::cluster(2, 4);
    const Job job{{0, 1, 2, 3, 4, 5, 6, 7}, CollectiveKind::kAllReduce, mebibytes(16)};
    for (const Algorithm algorithm : {Algorithm::kInSwitchTree, Algorithm::kInSwitchRing}) {
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        const Outcome copied = run(cluster, TestMachine::params(), policy, {job}, false);
        policy.registered = true;
        const Outcome pulled = run(cluster, TestMachine::params(), policy, {job}, false);
        EXPECT_EQ(pulled.switched, 1U);
        EXPECT_EQ(pulled.moved.payload, copied.moved.payload);
        const std::uint64_t there_and_back = 2 * job.bytes.count() * job.ranks.size();
        EXPECT_EQ(copied.moved.read - pulled.moved.read, there_and_back);
        EXPECT_EQ(copied.moved.written - pulled.moved.written, there_and_back);
        EXPECT_LT(pulled.end, copied.end);
    }
}

/// Two collectives of one kind on the same ranks. Both load the links and the memories: stores wait
/// for credits and get them while their warps still load the next round.
class Twins : public ::testing::TestWithParam<CollectiveKind> {};

TEST_P(Twins, OfTheSameRanksMoveWhatTwoDoAlone) {
    for (const std::uint32_t n : {2U, 4U, 8U})
        for (const std::uint64_t buffer : {std::uint64_t{2} << 10U, std::uint64_t{32} << 10U}) {
            SwitchedTopology hgx = TestMachine::hgx(n);
            hgx.link.buffer_per_lane = Bytes(buffer);
            const Topology topology = hgx.build();
            std::vector<std::uint32_t> all(n);
            for (std::uint32_t rank = 0; rank < n; ++rank)
                all[rank] = rank;
            const Job job{all, GetParam(), mebibytes(4)};
            CollectiveParams params = TestMachine::params();
            params.in_switch_copy_round = microseconds(2);
            const Outcome alone = run(topology, params, in_switch(), {job}, false);
            const Outcome both = run(topology, params, in_switch(), {job, job}, false);
            EXPECT_EQ(both.unfinished, std::vector<std::string>{});
            EXPECT_EQ(both.switched, 2U);
            EXPECT_EQ(both.ended, 2 * n);
            EXPECT_EQ(both.left_over, 0U);
            EXPECT_TRUE(both.moved == alone.moved + alone.moved);
            EXPECT_GE(both.end, alone.end);
        }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Twins,
    ::testing::Values(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather));

TEST(InSwitchStores, WaitForTheirWarpsHoweverSoonPacketsLeave) {
    // Link buffers of one packet per lane make stores wait, but for less time than the warps need
    // for their next load.
    SwitchedTopology hgx = TestMachine::hgx(2);
    hgx.link.buffer_per_lane = Bytes(512);
    CollectiveParams params = TestMachine::params();
    params.in_switch_channels = 1;
    params.in_switch_copy_round = microseconds(10);
    const std::uint64_t loops = 4;
    const std::uint64_t chunk = params.in_switch_chunk.count();
    const Outcome outcome =
        run(hgx.build(), params, in_switch(),
            {{{0, 1}, CollectiveKind::kAllGather, Bytes(2 * loops * chunk)}}, false);
    EXPECT_EQ(outcome.ended, 2U);
    const std::uint64_t window = stage_warps(params, StageRole::kAllGather, 2).spread_window;
    const std::uint64_t rounds = loops * ((chunk - 1) / window);  // that warps wait for
    EXPECT_GE(outcome.end, params.in_switch_copy_round * rounds);
}

std::vector<std::uint32_t> some_ranks(std::uint32_t gpus) {
    std::vector<std::uint32_t> ranks;
    while (ranks.size() < 2) {
        ranks.clear();
        for (std::uint32_t rank = 0; rank < gpus; ++rank)
            if (*rc::gen::inRange(0, 4) > 0)
                ranks.push_back(rank);
    }
    return ranks;
}

RC_GTEST_PROP(InSwitchTogether, EveryPairEndsAndMovesWhatEachMovesAlone, ()) {
    const bool across = *rc::gen::inRange(0, 4) == 0;
    const std::uint32_t gpus = *rc::gen::inRange(2U, 7U);
    SwitchedTopology hgx = TestMachine::hgx(gpus);
    hgx.link.buffer_per_lane = Bytes(std::uint64_t{256} << *rc::gen::inRange(0U, 8U));
    // Slow links run out of credits with few bytes in flight.
    hgx.link.lane_bandwidth = Bandwidth(*rc::gen::inRange<std::uint64_t>(200, 4000) * 1'000'000);
    const Topology topology = across ? TestMachine::cluster(2, gpus / 2 + 1) : hgx.build();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{512} << *rc::gen::inRange(0U, 4U));
    params.in_switch_chunk = kibibytes(std::uint64_t{8} << *rc::gen::inRange(0U, 5U));
    params.in_switch_copy_round = nanoseconds(*rc::gen::inRange<std::uint64_t>(1, 3000));
    // Few warps need many rounds to store a piece.
    params.in_switch_threads = kWarpThreads * *rc::gen::inRange(4U, 21U);
    CollectivePolicy policy = in_switch(
        *rc::gen::element(InSwitchMode::kPull, InSwitchMode::kPush, InSwitchMode::kCommand));
    policy.registered = *rc::gen::arbitrary<bool>();
    policy.channels = *rc::gen::inRange(0U, 5U);
    if (across) {
        policy.mode = InSwitchMode::kPull;
        policy.algorithm = *rc::gen::element(Algorithm::kInSwitchTree, Algorithm::kInSwitchRing);
    }
    // Groups across machines have all ranks; in one machine they are equal or overlap at random.
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < topology.gpus(); ++rank)
        ranks.push_back(rank);
    if (!across)
        ranks = some_ranks(gpus);
    std::vector<Job> jobs;
    for (std::uint32_t left = *rc::gen::inRange(2U, 4U); left > 0; --left) {
        Job job{ranks, CollectiveKind::kAllReduce, Bytes()};
        if (!across) {
            job.kind = *rc::gen::element(
                CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                CollectiveKind::kAllGather);
            if (*rc::gen::arbitrary<bool>())
                job.ranks = some_ranks(gpus);
        }
        job.bytes = Bytes(*rc::gen::inRange<std::uint64_t>(1, 200'000) * 4);
        jobs.push_back(job);
    }
    const Outcome outcome = run(topology, params, policy, jobs);
    std::uint32_t members = 0;
    Moved alone;
    for (const Job& job : jobs) {
        members += static_cast<std::uint32_t>(job.ranks.size());
        alone = alone + run(topology, params, policy, {job}).moved;
    }
    RC_ASSERT(outcome.unfinished == std::vector<std::string>{});
    RC_ASSERT(outcome.ended == members);
    RC_ASSERT(outcome.switched == jobs.size());
    RC_ASSERT(outcome.wrong == std::vector<std::string>{});
    RC_ASSERT(outcome.left_over == 0U);
    // A pushed line that waits too long for its last operand leaves as partial sums, which the home
    // rank adds.
    if (policy.mode == InSwitchMode::kPush) {
        RC_ASSERT(outcome.moved.payload >= alone.payload);
        return;
    }
    RC_ASSERT(outcome.moved.payload == alone.payload);
    RC_ASSERT(outcome.moved.read == alone.read);
    RC_ASSERT(outcome.moved.written == alone.written);
}

}  // namespace
}  // namespace switchfold::in_switch_together_test
