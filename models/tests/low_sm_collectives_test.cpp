// SPDX-License-Identifier: Apache-2.0
// Collectives that use few SMs or none: symmetric kernels and copy engines.
#include "core/error.h"
#include "interconnect/fault_injector.h"
#include "models/collectives/choice/machine_view.h"
#include "models/collectives/copy/copy_plan.h"
#include "models/collectives/library.h"
#include "models/collectives/symmetric/symmetric_move.h"
#include "models/collectives/symmetric/symmetric_work.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace switchfold::low_sm_collectives_test {
namespace {

CollectivePolicy
policy_of(Kernels kernels, Algorithm algorithm, Protocol protocol = Protocol::kAuto) {
    CollectivePolicy policy;
    policy.kernels = kernels;
    policy.algorithm = algorithm;
    policy.protocol = protocol;
    return policy;
}

CollectivePolicies of_kind(CollectiveKind kind, const CollectivePolicy& policy) {
    CollectivePolicies policies;
    switch (kind) {
    case CollectiveKind::kAllReduce:
        policies.all_reduce = policy;
        break;
    case CollectiveKind::kReduceScatter:
        policies.reduce_scatter = policy;
        break;
    case CollectiveKind::kAllGather:
        policies.all_gather = policy;
        break;
    case CollectiveKind::kAllToAll:
        policies.all_to_all = policy;
        break;
    case CollectiveKind::kBroadcast:
        policies.broadcast = policy;
        break;
    case CollectiveKind::kGather:
        policies.gather = policy;
        break;
    case CollectiveKind::kSendReceive:
        policies.send_receive = policy;
        break;
    default:
        policies.scatter = policy;
        break;
    }
    return policies;
}

/// Asserts that all ranks end with right results and leave no values or credits in the fabric.
void assert_clean(TestMachine& machine) {
    RC_ASSERT(machine.ended == machine.fabric.gpus());
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
    for (const auto& link : machine.fabric.links())
        RC_ASSERT(
            link->outstanding(VirtualChannel::kRequest) + link->outstanding(VirtualChannel::kDown) +
                link->outstanding(VirtualChannel::kResponse) ==
            0U);
}

Topology some_machine(bool with_switch) {
    if (with_switch)
        return TestMachine::hgx(*rc::gen::inRange(3U, 9U)).build();
    FullMeshTopology mesh;
    mesh.gpus = *rc::gen::inRange(2U, 6U);
    mesh.lanes = *rc::gen::inRange(1U, 5U);
    mesh.link = TestMachine::hgx(2).link;
    return build_topology(mesh);
}

RC_GTEST_PROP(SymmetricProperty, EveryKernelGivesTheRightNumbers, ()) {
    const auto kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    const bool multicast = *rc::gen::arbitrary<bool>();
    auto protocol = *rc::gen::element(Protocol::kAuto, Protocol::kLl, Protocol::kSimple);
    if (kind == CollectiveKind::kReduceScatter && multicast && protocol == Protocol::kLl)
        protocol = Protocol::kSimple;
    CollectivePolicy policy = policy_of(
        Kernels::kSymmetric, multicast ? Algorithm::kInSwitch : Algorithm::kDirect, protocol);
    policy.channels = *rc::gen::inRange(0U, 9U);
    const auto type =
        *rc::gen::element(Datatype::kFloat32, Datatype::kFloat16, Datatype::kBfloat16);
    const std::uint64_t bytes =
        *rc::gen::inRange<std::uint64_t>(1, 300'000) * size_of(type).count();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    TestMachine machine(some_machine(multicast), params, of_kind(kind, policy), 3);
    const CollectiveRecord record = machine.run(operation_of(kind, bytes, type));
    assert_clean(machine);
    RC_ASSERT(record.choice.is<SymmetricConfig>());
    RC_ASSERT(record.fallback == Fallback::kNone);
    if (policy.channels != 0)
        RC_ASSERT(record.choice.channels == policy.channels);
}

RC_GTEST_PROP(SymmetricProperty, AFailingSwitchLeavesARing, ()) {
    CollectiveParams params = TestMachine::params();
    const Topology topology = some_machine(true);
    TestMachine machine(topology, params, policy_of(Kernels::kSymmetric, Algorithm::kInSwitch), 3);
    const Time at = nanoseconds(*rc::gen::inRange<std::uint64_t>(0, 20'000));
    std::vector<FaultParams> faults;
    if (*rc::gen::arbitrary<bool>())
        faults.push_back(ReductionTimeoutFault{topology.nodes[topology.gpus()].name, at});
    else
        faults.push_back(LinkDownFault{
            topology.nodes[topology.edges[0].a].name + "_to_" +
                topology.nodes[topology.edges[0].b].name,
            at});
    const FaultInjector injector(machine.fabric, faults, 7);
    const CollectiveRecord record = machine.run(
        operation_of(CollectiveKind::kAllReduce, *rc::gen::inRange<std::uint64_t>(1, 60'000) * 2));
    assert_clean(machine);
    RC_ASSERT((record.fallback == Fallback::kNone) == machine.engine->notes().empty());
    RC_ASSERT((record.fallback == Fallback::kNone) == record.choice.is<SymmetricConfig>());
}

RC_GTEST_PROP(CopyEngineProperty, EveryKindGivesTheRightNumbers, ()) {
    const auto kind = *rc::gen::element(
        CollectiveKind::kAllGather, CollectiveKind::kAllToAll, CollectiveKind::kBroadcast,
        CollectiveKind::kGather, CollectiveKind::kScatter, CollectiveKind::kSendReceive);
    const bool multicast =
        (kind == CollectiveKind::kAllGather || kind == CollectiveKind::kBroadcast) &&
        *rc::gen::arbitrary<bool>();
    const auto type = *rc::gen::element(Datatype::kFloat32, Datatype::kBfloat16);
    const std::uint64_t bytes =
        *rc::gen::inRange<std::uint64_t>(1, 200'000) * size_of(type).count();
    CollectiveParams params = TestMachine::params();
    params.transfer_unit = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 6U));
    params.copy_engine.engines = *rc::gen::inRange(1U, 10U);
    params.copy_engine.outstanding = Bytes(std::uint64_t{128} << *rc::gen::inRange(0U, 10U));
    TestMachine machine(
        some_machine(multicast), params,
        of_kind(
            kind,
            policy_of(Kernels::kCopyEngine, multicast ? Algorithm::kInSwitch : Algorithm::kDirect)),
        3);
    const CollectiveRecord record = machine.run(operation_of(kind, bytes, type));
    assert_clean(machine);
    RC_ASSERT(record.choice.channels == 0U);
    // Copy engines need no thread blocks.
    for (const auto& port : machine.ports)
        RC_ASSERT(port->occupied == 0U);
}

RC_GTEST_PROP(SymmetricProperty, WorkIsDealtOnceAndWhole, ()) {
    const auto kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    const auto algorithm = *rc::gen::element(Algorithm::kDirect, Algorithm::kInSwitch);
    const auto protocol = *rc::gen::element(Protocol::kLl, Protocol::kSimple);
    const auto ranks = *rc::gen::inRange(2U, 10U);
    const auto blocks = *rc::gen::inRange(1U, 65U);
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(0, 2'000'000) * 2;
    const SymmetricWork work(
        symmetric_move(kind, algorithm, protocol), kind, ranks, blocks, 512, bytes, 2, 4096);
    const bool shared = kind == CollectiveKind::kAllReduce && protocol != Protocol::kLl;
    std::vector<Part> parts;
    for (std::uint32_t rank = 0; rank < (shared ? ranks : 1); ++rank)
        for (std::uint32_t block = 0; block < blocks; ++block)
            for (std::uint32_t worker = 0; worker < work.workers(); ++worker)
                for (std::uint64_t i = 0; const auto part = work.piece(rank, block, worker, i); ++i)
                    parts.push_back(*part);
    std::sort(
        parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
    std::uint64_t end = 0;
    for (const Part& part : parts) {
        RC_ASSERT(part.begin == end);
        RC_ASSERT(part.bytes > 0U);
        end += part.bytes;
    }
    RC_ASSERT(end == bytes);
}

/// Sizes that are not whole rounds of all blocks leave a tail of narrow loads (NCCL 2.30 on two
/// B200: 33 blocks are 1.65 times as slow as 32).
TEST(Symmetric, ABlockMoreThanDividesTheWorkIsSlower) {
    const auto time = [](std::uint32_t blocks) {
        CollectivePolicy policy =
            policy_of(Kernels::kSymmetric, Algorithm::kDirect, Protocol::kSimple);
        policy.channels = blocks;
        TestMachine machine(
            TestMachine::hgx(2).build(), TestMachine::params(),
            of_kind(CollectiveKind::kReduceScatter, policy));
        const CollectiveRecord record =
            machine.run(operation_of(CollectiveKind::kReduceScatter, 4 << 20));
        return to_microseconds(record.end - record.start);
    };
    EXPECT_GT(time(33), 1.3 * time(32));
    EXPECT_GT(time(12), 1.3 * time(32));
}

MachineView view_of(const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.gpus());
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        ranks[i] = i;
    return view_group(topology, kibibytes(4), ranks).machine;
}

TEST(Symmetric, NcclsEstimateTakesFewBlocks) {
    const MachineView machine = view_of(TestMachine::hgx(8).build());
    const CollectiveParams params = TestMachine::params();
    const auto choose = [&](CollectiveKind kind, std::uint64_t bytes,
                            Datatype type = Datatype::kBfloat16) {
        return choose_symmetric(
            params, policy_of(Kernels::kSymmetric, Algorithm::kAuto), machine,
            {kind, Bytes(bytes), type});
    };
    // Multicast kernels have at most 16 / 8 blocks on Hopper.
    const CollectiveConfig large = choose(CollectiveKind::kAllReduce, 256 << 20);
    EXPECT_EQ(large.algorithm, Algorithm::kInSwitch);
    EXPECT_EQ(large.protocol, Protocol::kSimple);
    EXPECT_EQ(large.channels, 2U);
    EXPECT_EQ(choose(CollectiveKind::kReduceScatter, 100'681'728).channels, 2U);
    EXPECT_EQ(choose(CollectiveKind::kAllGather, 128 << 20).algorithm, Algorithm::kInSwitch);
    // The switch adds float32 as it does 16-bit types.
    const CollectiveConfig wide = choose(CollectiveKind::kAllReduce, 256 << 20, Datatype::kFloat32);
    EXPECT_EQ(wide.algorithm, Algorithm::kInSwitch);
    EXPECT_EQ(wide.channels, large.channels);
    // Small sizes use flags (LL) and no barriers.
    EXPECT_EQ(choose(CollectiveKind::kAllReduce, 8192).protocol, Protocol::kLl);
    EXPECT_EQ(choose(CollectiveKind::kAllGather, 8192).protocol, Protocol::kLl);
}

/// What the policy's library says of a call on a machine that looks like this.
std::string refusal(
    const CollectiveParams& params, const CollectivePolicy& policy, const MachineView& machine,
    const CollectiveCall& call) {
    const Topology topology;
    const std::vector<std::uint32_t> ranks;
    return library_for(call.kind, policy)
        .refuses(params, policy, call, CallGroup(topology, ranks, machine))
        .why;
}

TEST(LowSm, WhatKernelsCannotDoIsToldWithTheReason) {
    const CollectiveParams params = TestMachine::params();
    const MachineView hgx = view_of(TestMachine::hgx(8).build());
    const MachineView pair = view_of(TestMachine::hgx(2).build());
    const MachineView cluster = view_of(TestMachine::cluster(2, 2));
    const CollectivePolicy symmetric = policy_of(Kernels::kSymmetric, Algorithm::kAuto);
    const CollectivePolicy by_switch = policy_of(Kernels::kSymmetric, Algorithm::kInSwitch);
    const CollectivePolicy copies = policy_of(Kernels::kCopyEngine, Algorithm::kAuto);
    const auto says = [&](const CollectivePolicy& policy, const MachineView& machine,
                          CollectiveKind kind, Datatype type, const std::string& words) {
        const std::string reason = refusal(params, policy, machine, {kind, Bytes(8), type});
        EXPECT_NE(reason.find(words), std::string::npos) << reason;
    };
    using K = CollectiveKind;
    says(symmetric, hgx, K::kAllToAll, Datatype::kFloat16, "no symmetric kernels of all_to_all");
    says(symmetric, cluster, K::kAllReduce, Datatype::kFloat16, "several machines");
    says(symmetric, hgx, K::kAllReduce, Datatype::kInt8, "add no int8");
    says(by_switch, hgx, K::kAllReduce, Datatype::kInt8, "add no int8");
    says(by_switch, pair, K::kAllGather, Datatype::kFloat16, "more than 2 ranks");
    says(copies, hgx, K::kReduceScatter, Datatype::kFloat16, "add nothing");
    says(copies, cluster, K::kAllGather, Datatype::kFloat16, "several machines");
    EXPECT_EQ(refusal(params, symmetric, hgx, {K::kAllReduce, Bytes(8), Datatype::kFloat32}), "");
    CollectiveParams old = params;
    old.nccl_version = 22'602;
    EXPECT_NE(
        refusal(old, symmetric, hgx, {K::kAllReduce, Bytes(8), Datatype::kFloat32}).find("2.27"),
        std::string::npos);
}

TEST(LowSm, PoliciesThatMakeNoSenseAreRefused) {
    const auto problem = [](CollectiveKind kind, CollectivePolicy policy) {
        ParamChecker checker;
        check_policy(kind, policy, checker);
        return checker.found().empty() ? std::string()
                                       : checker.found()[0].first + " " + checker.found()[0].second;
    };
    EXPECT_EQ(
        problem(CollectiveKind::kAllReduce, policy_of(Kernels::kCopyEngine, Algorithm::kAuto)),
        "/all_reduce/kernels is copy_engine, and copy engines run no all_reduce; expected classic "
        "or symmetric");
    EXPECT_EQ(
        problem(CollectiveKind::kAllToAll, policy_of(Kernels::kSymmetric, Algorithm::kAuto)),
        "/all_to_all/kernels is symmetric, and there are no symmetric kernels of all_to_all; "
        "expected classic or copy_engine");
    EXPECT_EQ(
        problem(CollectiveKind::kAllGather, policy_of(Kernels::kSymmetric, Algorithm::kRing)),
        "/all_gather/algorithm is ring, which all_gather with symmetric kernels does not support; "
        "expected auto or direct or in_switch");
    EXPECT_EQ(
        problem(CollectiveKind::kAllGather, policy_of(Kernels::kClassic, Algorithm::kDirect)),
        "/all_gather/algorithm is direct, which all_gather does not support; expected auto or ring "
        "or in_switch");
    CollectivePolicy blocks = policy_of(Kernels::kCopyEngine, Algorithm::kAuto);
    blocks.channels = 2;
    EXPECT_EQ(
        problem(CollectiveKind::kAllGather, blocks),
        "/all_gather/channels is set, and copy engines take no thread block; expected 0");
    EXPECT_EQ(
        problem(
            CollectiveKind::kReduceScatter,
            policy_of(Kernels::kSymmetric, Algorithm::kInSwitch, Protocol::kLl)),
        "/reduce_scatter/protocol is ll, in which the switch adds nothing; expected auto or "
        "simple");
    EXPECT_EQ(
        problem(CollectiveKind::kAllReduce, policy_of(Kernels::kSymmetric, Algorithm::kAuto)), "");
}

TEST(CopyPlan, ManyLongCopiesGoInRoundsOfEverybody) {
    CopyCall call{CollectiveKind::kAllGather, 16, 0, 1ULL << 30U, 2, false};
    const auto rounds = plan_copies(call, 3);
    ASSERT_EQ(rounds.size(), 4U);
    for (const auto& round : rounds)
        EXPECT_EQ(round.size(), 16U);
    call.ranks = 8;
    EXPECT_EQ(plan_copies(call, 3).size(), 1U);
    // A rank without copies has as many rounds as the others.
    const CopyCall scatter{CollectiveKind::kScatter, 16, 0, 1ULL << 30U, 2, false};
    EXPECT_EQ(plan_copies(scatter, 3).size(), plan_copies(scatter, 0).size());
}

/// Packets of a copy engine carry twice the data of packets of an SM.
TEST(CopyEngine, LongerPacketsMakeItFasterThanStores) {
    const auto time = [](std::uint64_t payload) {
        SwitchedTopology hgx = TestMachine::hgx(4);
        hgx.link.format.copy_payload = Bytes(payload);
        TestMachine machine(
            hgx.build(), TestMachine::params(),
            of_kind(
                CollectiveKind::kAllGather, policy_of(Kernels::kCopyEngine, Algorithm::kDirect)));
        const CollectiveRecord record =
            machine.run(operation_of(CollectiveKind::kAllGather, 256 << 20));
        return to_microseconds(record.end - record.start);
    };
    EXPECT_NEAR(time(128) / time(256), (144.0 / 128) / (272.0 / 256), 0.005);
}

}  // namespace
}  // namespace switchfold::low_sm_collectives_test
