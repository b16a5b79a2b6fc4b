// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "models/collectives/library.h"
#include "models/collectives/shortcuts/period_detector.h"
#include "models/tests/test_machine.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::libraries_test {
namespace {

template <class Word>
Word any_word() {
    std::vector<Word> words;
    for (const auto& [word, name] : EnumNames<Word>::kNames)
        words.push_back(word);
    return *rc::gen::elementOf(words);
}

CollectiveKind any_kind() {
    return *rc::gen::elementOf(
        std::vector(std::begin(kCollectiveKinds), std::end(kCollectiveKinds)));
}

CollectiveParams newest() {
    CollectiveParams params = TestMachine::params();
    params.nccl_version = 22'903;
    return params;
}

template <class Own>
std::size_t count(Own own) {
    const auto all = libraries();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const CommunicationLibrary* library) {
            return own(*library);
        }));
}

/// Whether check_policy() has nothing to say.
bool makes_sense(CollectiveKind kind, const CollectivePolicy& policy) {
    ParamChecker checker;
    check_policy(kind, policy, checker);
    return checker.found().empty();
}

RC_GTEST_PROP(Libraries, ExactlyOneServesAPolicyAndKnowsWhatItChose, ()) {
    const CollectiveKind kind = any_kind();
    CollectivePolicy policy;
    policy.kernels = any_word<Kernels>();
    policy.algorithm = any_word<Algorithm>();
    RC_ASSERT(
        count([&](const CommunicationLibrary& one) { return one.serves(kind, policy); }) == 1U);
    if (!makes_sense(kind, policy))
        return;
    const Topology topology = TestMachine::hgx(8).build();
    const std::vector<std::uint32_t> ranks{0, 1, 2, 3, 4, 5, 6, 7};
    const CollectiveParams params = newest();
    const CallGroup group(topology, ranks, params.transfer_unit);
    const CollectiveCall call{kind, Bytes(1ULL << *rc::gen::inRange(10U, 30U))};
    const CommunicationLibrary& library = library_for(kind, policy);
    if (library.refuses(params, policy, call, group))
        return;
    const CollectiveConfig choice = library.choose(params, policy, call, group);
    RC_ASSERT(count([&](const CommunicationLibrary& one) { return one.made(choice); }) == 1U);
    RC_ASSERT(&library_of(choice) == &library);
    RC_ASSERT(!library.words(choice).algorithm.empty());
    RC_ASSERT((choice.channels == 0) == (library.kernel(params, choice).threads == 0));
    RC_ASSERT(library.kernels(params, policy).empty() == (choice.channels == 0));
}

/// What a library says is what the engine does: a named policy that it refuses stops the
/// simulation with its reason, and any other runs by it.
RC_GTEST_PROP(Libraries, WhatIsNotRefusedRunsByTheLibrary, ()) {
    const auto kind = *rc::gen::element(
        CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather);
    // Most draws make no sense; a precondition would give up now and then.
    const auto policy = *rc::gen::suchThat(
        rc::gen::exec([] {
            CollectivePolicy any;
            any.kernels = any_word<Kernels>();
            any.algorithm = any_word<Algorithm>();
            return any;
        }),
        [&](const CollectivePolicy& any) { return makes_sense(kind, any); });
    const auto machines = *rc::gen::element(1U, 2U);
    const Topology topology =
        machines == 1 ? TestMachine::hgx(4).build() : TestMachine::cluster(2, 2);
    CollectivePolicies policies;
    switch (kind) {
    case CollectiveKind::kAllReduce:
        policies.all_reduce = policy;
        break;
    case CollectiveKind::kReduceScatter:
        policies.reduce_scatter = policy;
        break;
    default:
        policies.all_gather = policy;
        break;
    }
    const CollectiveParams params = newest();
    CollectiveOperation operation;
    operation.kind = kind;
    operation.bytes = kibibytes(64);
    operation.datatype = *rc::gen::element(Datatype::kFloat32, Datatype::kInt8);
    const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
    const CommunicationLibrary& library = library_for(kind, policy);
    const Refusal refusal = library.refuses(
        params, policy, {kind, operation.bytes, operation.datatype},
        CallGroup(topology, ranks, params.transfer_unit));
    TestMachine machine(topology, params, policies);
    std::string stopped;
    try {
        const CollectiveRecord record = machine.run(operation);
        RC_ASSERT(&library_of(record.choice) == &library);
        RC_ASSERT(record.fallback == Fallback::kNone);
    } catch (const SimulationError& error) {
        stopped = error.what();
    }
    RC_LOG() << stopped << " against " << refusal.why << "\n";
    RC_ASSERT(stopped.empty() == refusal.why.empty());
    RC_ASSERT(stopped.find(refusal.why) != std::string::npos);
}

TEST(Libraries, AKindThatFollowsTakesWhatTheLibraryHasInstead) {
    // The switches add no int8, and a framework's copies do no all-gather.
    for (const Algorithm algorithm : {Algorithm::kInSwitch, Algorithm::kTree, Algorithm::kOwners}) {
        CollectivePolicy policy;
        policy.algorithm = algorithm;
        TestMachine machine(TestMachine::hgx(4).build(), newest(), policy);
        CollectiveOperation operation;
        operation.kind = CollectiveKind::kReduceScatter;
        operation.bytes = kibibytes(64);
        operation.datatype = Datatype::kInt8;
        EXPECT_EQ(machine.run(operation).choice.algorithm, Algorithm::kRing);
    }
}

TEST(Libraries, RefusalsNameFieldValueAndWhatToTakeInstead) {
    const Topology topology = TestMachine::cluster(2, 2);
    const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
    const CollectiveParams params = newest();
    const CallGroup group(topology, ranks, params.transfer_unit);
    const auto asked = [&](Kernels kernels, Algorithm algorithm, CollectiveKind kind) {
        CollectivePolicy policy;
        policy.kernels = kernels;
        policy.algorithm = algorithm;
        return library_for(kind, policy).refuses(params, policy, {kind, Bytes(8)}, group);
    };
    const Refusal switches =
        asked(Kernels::kClassic, Algorithm::kInSwitch, CollectiveKind::kAllReduce);
    EXPECT_EQ(switches.field, "algorithm");
    EXPECT_EQ(switches.value, "in_switch");
    EXPECT_EQ(switches.expected, "ring, tree or auto");
    const Refusal host = asked(Kernels::kClassic, Algorithm::kHost, CollectiveKind::kAllReduce);
    EXPECT_EQ(host.field, "algorithm");
    EXPECT_EQ(host.value, "host");
    const Refusal copies =
        asked(Kernels::kCopyEngine, Algorithm::kDirect, CollectiveKind::kAllGather);
    EXPECT_EQ(copies.field, "kernels");
    EXPECT_EQ(copies.value, "copy_engine");
    EXPECT_EQ(copies.expected, "classic");
    EXPECT_FALSE(asked(Kernels::kClassic, Algorithm::kRing, CollectiveKind::kAllGather));
}

TEST(Libraries, WhoRepeatsItselfSaysSo) {
    const Topology topology = TestMachine::hgx(4).build();
    CollectiveParams params = newest();
    TestMachine machine(topology, params, CollectivePolicy());
    std::vector<RankPort*> ports;
    for (const auto& port : machine.ports)
        ports.push_back(port.get());
    const std::vector<std::uint32_t> ranks{0, 1, 2, 3};
    const GroupView view = view_group(topology, params.transfer_unit, ranks);
    struct : MemberListener {
        void on_member_done(std::uint32_t, Time) override {}
    } listener;
    const auto made = [&](Kernels kernels, Algorithm algorithm) {
        CollectivePolicy policy;
        policy.kernels = kernels;
        policy.algorithm = algorithm;
        CollectiveSpec spec;
        spec.kind = CollectiveKind::kAllGather;
        spec.bytes = mebibytes(16 * 1024);  // long enough for many loops of each channel
        spec.ranks = ranks;
        spec.layout = view.layout;
        spec.rings = view.rings;
        const CallGroup group(topology, ranks, view.machine);
        spec.choice =
            library_for(spec.kind, policy).choose(params, policy, {spec.kind, spec.bytes}, group);
        std::string refused;
        return make_collective(
            {machine.fabric, params, ports, false, true}, spec, listener, refused);
    };
    const auto ring = made(Kernels::kClassic, Algorithm::kRing);
    auto* repeating = dynamic_cast<Repeating*>(ring.get());
    ASSERT_NE(repeating, nullptr);
    ASSERT_NE(repeating->turns(), nullptr);
    EXPECT_EQ(repeating->skippable(0, 1), 0U);  // no block has begun
    EXPECT_NE(dynamic_cast<Functional*>(ring.get()), nullptr);
    const auto copies = made(Kernels::kCopyEngine, Algorithm::kDirect);
    EXPECT_EQ(dynamic_cast<Repeating*>(copies.get()), nullptr);
    EXPECT_NE(dynamic_cast<Functional*>(copies.get()), nullptr);
}

}  // namespace
}  // namespace switchfold::libraries_test
