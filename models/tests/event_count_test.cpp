// SPDX-License-Identifier: Apache-2.0
// Counts events per packet, which unlike wall time do not depend on the host machine.
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace switchfold::event_count_test {
namespace {

struct Count {
    double events = 0;
    double hops = 0;
};

Count count(std::uint32_t gpus, Algorithm algorithm, Protocol protocol, std::uint64_t bytes) {
    CollectivePolicy policy;
    policy.algorithm = algorithm;
    policy.protocol = protocol;
    TestMachine machine(TestMachine::hgx(gpus).build(), TestMachine::params(), policy);
    CollectiveOperation operation;
    operation.bytes = Bytes(bytes);
    machine.run(operation);
    Count count;
    count.events = static_cast<double>(machine.simulation.scheduler().events());
    for (const auto& link : machine.fabric.links())
        count.hops += static_cast<double>(link->statistics().packets);
    return count;
}

TEST(EventCount, AStepOfARingIsOneMoveAndTwoArrivals) {
    // A step between two GPUs on a switch takes one event of the sending block, one at the switch
    // and one at the receiver. The flag, the credits and the wait for both take none. In addition,
    // each rank has in every channel a kernel that becomes resident, a last receive without a send,
    // and an end.
    constexpr std::uint32_t kGpus = 128;
    constexpr double kBesideARank = 24;
    const Count ring = count(kGpus, Algorithm::kRing, Protocol::kLl, 1U << 20U);
    EXPECT_LE(ring.events, 1.5 * ring.hops + kBesideARank * kGpus);
}

TEST(EventCount, EveryProtocolNeedsFewEventsAHop) {
    for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
        const Count ring = count(8, Algorithm::kRing, protocol, 64ULL << 20U);
        EXPECT_LE(ring.events, 1.6 * ring.hops) << enum_name(protocol);
    }
}

}  // namespace
}  // namespace switchfold::event_count_test
