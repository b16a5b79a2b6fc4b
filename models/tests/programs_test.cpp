// SPDX-License-Identifier: Apache-2.0
// Collectives from files: reading, proof, and the run of what is proved.
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "models/collectives/programs/expression.h"
#include "models/collectives/programs/program_file.h"
#include "models/collectives/programs/proof.h"
#include "models/collectives/programs/readers.h"
#include "models/tests/test_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace switchfold::programs_test {
namespace {

using namespace programs;

const std::filesystem::path kShipped = SWITCHFOLD_SOURCE_DIR "/configs/programs";
/// All that ship in our form.
const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kShipped))
        if (entry.path().extension() == ".json")
            names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}();

std::filesystem::path shipped(const std::string& name) {
    return kShipped / (name + ".json");
}
programs::Program program_of(const std::string& name, const Shape& shape) {
    return program_from_json(load_json(shipped(name)), shipped(name), shape);
}

TEST(Programs, ExpressionsAreWholeNumbersWithNeighboursBeforeZero) {
    const Variables v{{"n", 6}, {"r", 0}};
    EXPECT_EQ(evaluate("(r - 1) % n", v), 5);
    EXPECT_EQ(evaluate("r - 1 / 2", v), 0);
    EXPECT_EQ(evaluate("(r - 1) / 2", v), -1);
    EXPECT_EQ(evaluate("2 + 3 * n == 20 && n != 5", v), 1);
    EXPECT_EQ(evaluate("max(n, 9) - min(n, 2) * side(n)", v), 5);
    for (const char* wrong : {"", "r +", "q", "n % r", "(n", "n n", "9999999999999", "side(n, n)"})
        EXPECT_THROW(static_cast<void>(evaluate(wrong, v)), std::invalid_argument) << wrong;
    EXPECT_THROW(static_cast<void>(evaluate(std::string(5000, '('), v)), std::invalid_argument);
}

TEST(Programs, SixShip) {
    EXPECT_EQ(kNames.size(), 6U);
}

TEST(Programs, EveryShippedOneIsProvedOnTwoToSixteenRanks) {
    for (const std::string& name : kNames) {
        std::uint32_t proved = 0;
        for (std::uint32_t n = 2; n <= 16; ++n)
            for (std::uint32_t g = 1; g <= n; ++g) {
                if (n % g != 0)
                    continue;
                for (const std::uint32_t instances : {1U, 3U}) {
                    const ProgramFile file(name, shipped(name));
                    const Shape shape{n, g, instances};
                    ASSERT_EQ(file.why_not(shape), "") << name;
                    ASSERT_NO_THROW(static_cast<void>(file.proved(shape)))
                        << name << " of " << n << " ranks, " << g << " a machine";
                    ++proved;
                }
            }
        EXPECT_EQ(proved, 2 * 49U);
    }
}

/// Every way to break one instruction of rank 1.
TEST(Programs, EveryBrokenCopyOfAShippedOneIsCaught) {
    for (const std::string& name : kNames) {
        const Shape shape{6, 3, 1};
        const programs::Program whole = program_of(name, shape);
        std::uint32_t broken = 0;
        for (std::size_t b = 0; b < whole.ranks[1].blocks.size(); ++b)
            for (std::size_t s = 0; s < whole.ranks[1].blocks[b].steps.size(); ++s) {
                const Instruction& step = whole.ranks[1].blocks[b].steps[s];
                if (step.op == Op::kBarrier)
                    continue;  // what it holds back is no number
                for (int way = 0; way < 3; ++way) {
                    programs::Program copy = whole;
                    std::vector<Instruction>& steps = copy.ranks[1].blocks[b].steps;
                    if (way == 0)
                        steps[s].op = step.op == Op::kNothing ? Op::kReduce : Op::kNothing;
                    else if (way == 1 && loads(step.op))
                        steps[s].from = (step.from + 1) % copy.chunks;
                    else if (way == 2 && stores(step.op) && step.to < copy.chunks)
                        steps[s].to = (step.to + 1) % copy.chunks;
                    else
                        continue;
                    if (copy.chunks == 1 && way > 0)
                        continue;
                    EXPECT_TRUE(find_flaw(copy, 2).has_value())
                        << name << " block " << b << " step " << s << " way " << way;
                    ++broken;
                }
            }
        EXPECT_GT(broken, 0U);
    }
}

std::string why_wrong(const std::string& text, const std::string& name = "p.json") {
    const TemporaryFolder folder;
    const auto file = folder.path() / name;
    std::ofstream(file) << text;
    try {
        const ProgramFile read(name, file);
        static_cast<void>(read.proved({4, 4, 1}));
    } catch (const ConfigError& error) {
        std::string told = error.problems().front().text();
        return told.substr(told.find(name));
    }
    return "";
}

TEST(Programs, MistakesAreToldWithTheirPointers) {
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunk": 1, "blocks": []})"),
        "p.json: /chunk: unknown key, did you mean \"chunks\"?; expected one of: $schema, name, "
        "description, collective, chunks, scratch, let, protocol, channels, needs, blocks");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduc", "chunks": 1, "blocks": []})"),
        "p.json: /collective: is \"all_reduc\", did you mean \"all_reduce\"?; expected one of: "
        "all_reduce, reduce_scatter, all_gather, broadcast, all_to_all");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "protocol": "l128", "blocks": []})"),
        "p.json: /protocol: is \"l128\", did you mean \"ll128\"?; expected one of: auto, ll, "
        "ll128, "
        "simple");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": "2 * ranks", "blocks": []})"),
        "p.json: /chunks: is \"2 * ranks\", where \"ranks\" is not defined; expected one of: c, g, "
        "h, "
        "l, m, n, r");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks":
            [{"send": "(r + 1) % n", "steps": [{"do": "sent", "chunk": 0}]}]})"),
        "p.json: /blocks/0/steps/0/do: is \"sent\", did you mean \"send\"?; expected one of: "
        "nothing, "
        "send, receive, receive_copy_send, receive_reduce_send, receive_reduce_copy, "
        "receive_reduce_copy_send, copy, reduce, multimem_reduce, multicast_store, "
        "multimem_reduce_all, barrier");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks": []})"),
        "p.json: /: rank 0 ends with chunk 0 of rank 0 in chunk 0 of its buffer, where nothing "
        "writes over the input; expected chunk 0 of ranks 0-3 (of 4 ranks)");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks":
            [{"receive": "(r - 1) % n", "send": "(r + 1) % n", "steps":
              [{"do": "receive_reduce_copy", "chunk": 0}, {"do": "send", "chunk": 0}]}]})"),
        "p.json: /blocks/0/steps/0: receive_reduce_copy at rank 0: it never ends, since it waits "
        "for rank 3, which sends nothing more; expected no deadlock (of 4 ranks)");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks":
            [{"steps": [{"do": "copy", "from": 0, "to": {"scratch": 0}}]}]})"),
        "p.json: /blocks/0/steps/0/to/scratch: is a place in the scratch of rank 0, which has "
        "none; expected the program to say how many chunks it has, such as \"scratch\": 1");
    const std::string twice = why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks":
            [{"receive": "(r - 1) % n", "send": "(r + 1) % n", "steps":
              [{"do": "send", "chunk": 0}, {"do": "receive_reduce_copy", "chunk": 0},
               {"do": "send", "chunk": 0}, {"do": "receive_reduce_copy", "chunk": 0}]}]})");
    EXPECT_EQ(twice.rfind("p.json: /blocks/0/steps/3: receive_reduce_copy at rank ", 0), 0U)
        << twice;
    EXPECT_NE(
        twice.find("so that a rank counts twice; expected each rank once (of 4 ranks)"),
        std::string::npos)
        << twice;
}

constexpr const char* kMsccl = R"(<algo name="two" proto="Simple" nchannels="1"
  nchunksperloop="2" ngpus="2" coll="allgather" inplace="0" outofplace="1">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="2" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb></gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
    <tb id="4" send="-1" recv="-1" chan="0">
      <step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="0" deps="1" hasdep="0"/>
      <step s="1" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb></gpu>
</algo>)";

std::string msccl_with(const std::string& from, const std::string& to) {
    std::string text = kMsccl;
    text.replace(text.find(from), from.size(), to);
    return text;
}

TEST(Programs, MscclIsReadAndItsMistakesTold) {
    EXPECT_EQ(why_wrong(kMsccl, "p.xml"), "");
    EXPECT_EQ(
        why_wrong(msccl_with(R"(dstoff="1" cnt)", R"(dstoff="0" cnt)"), "p.xml"),
        "p.xml: /algo/gpu[0]/tb[0]/step[2]: rank 0 ends with chunk 0 of rank 1 in chunk 0 of its "
        "buffer, which this instruction wrote last; expected chunk 0 of rank 0 (of 2 ranks)");
    EXPECT_EQ(
        why_wrong(msccl_with(R"(dstoff="1" cnt)", R"(dstoff="7" cnt)"), "p.xml"),
        "p.xml: /algo/gpu[0]/tb[0]/step[2]: has dstoff 7, but o has 2 chunks; expected a "
        "number below that");
    EXPECT_EQ(
        why_wrong(
            msccl_with(R"(dstbuf="o" dstoff="1" cnt)", R"(dstbuf="s" dstoff="0" cnt)"), "p.xml"),
        "p.xml: /algo/gpu[0]/tb[0]/step[2]: has dstbuf \"s\", but rank 0 has no scratch; expected "
        "its <gpu> to say how many chunks it has (s_chunks)");
    EXPECT_EQ(
        why_wrong(msccl_with(R"(type="r")", R"(type="rx")"), "p.xml"),
        "p.xml: /algo/gpu[0]/tb[0]/step[2]: has type \"rx\", did you mean \"r\"?; expected one "
        "of: nop, s, r, rcs, rrs, rrc, rrcs, cpy, re");
    EXPECT_EQ(
        why_wrong(msccl_with(R"(depid="0" deps="1")", R"(depid="3" deps="1")"), "p.xml"),
        "p.xml: /algo/gpu[1]/tb[1]/step[0]: waits for block 3 (depid), which the rank does not "
        "have; expected the id of a block of this rank");
}

TEST(Programs, HostileXmlIsRefused) {
    EXPECT_EQ(
        why_wrong("<!DOCTYPE a [<!ENTITY x \"y\">]><algo>&x;</algo>", "p.xml"),
        "p.xml: /: has a document type or entities of its own; expected elements alone");
    std::string deep;
    for (int i = 0; i < 100'000; ++i)
        deep += "<a>";
    EXPECT_EQ(
        why_wrong(deep, "p.xml"),
        "p.xml: /: has elements more than 32 deep; expected fewer levels");
    EXPECT_NE(why_wrong("<algo", "p.xml"), "");
    EXPECT_NE(why_wrong("<algo/><algo/>", "p.xml"), "");
    EXPECT_NE(why_wrong(std::string("<algo>\0</algo>", 14), "p.xml"), "");
}

// A switch reads and stores at ranks whose scratch may be smaller than that of the rank that asks.
TEST(Programs, ASwitchReachesNoPlaceThatAGpuOfTheMachineHasNot) {
    for (const char* op : {"multimem_reduce_all", "multicast_store"})
        EXPECT_EQ(
            why_wrong(fmt::format(
                R"({{"collective": "all_reduce", "chunks": 1, "scratch": "9 * r", "blocks": [
                {{"steps": [{{"do": "{}", "if": "r == 3", "chunk": {{"scratch": 20}}}}]}}]}})",
                op)),
            fmt::format(
                "p.json: /blocks/0/steps/0: {} at rank 3: it needs places beyond the 1 of a GPU of "
                "its machine; expected places below that (of 4 ranks)",
                op));
}

// A few lines that would run for days, or need all memory.
TEST(Programs, SmallFilesOfEndlessWorkAreRefused) {
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 1, "blocks": [{"steps": [
            {"for": {"j": [0, 60000]}, "steps": [{"for": {"k": [0, 60000]}, "steps": []}]}]}]})"),
        "p.json: /blocks/0/steps/0/steps/0/for: is in turn 2000001 of all loops and ranks; "
        "expected 2000000 at most");
    EXPECT_EQ(
        why_wrong(R"({"collective": "all_reduce", "chunks": 65536, "blocks": [{"steps": [
            {"for": {"j": [0, 1000]}, "do": "copy", "chunk": 0, "count": 65536}]}]})"),
        "p.json: /: has instructions that move so many chunks: 262144000 of all ranks; expected "
        "16777216 at most");
    std::string gpus;
    for (int i = 0; i < 1024; ++i)
        gpus += fmt::format("<gpu id=\"{}\"/>", i);
    EXPECT_EQ(
        why_wrong(
            "<algo nchunksperloop=\"65536\" ngpus=\"1024\" coll=\"allreduce\">" + gpus + "</algo>",
            "p.xml"),
        "p.xml: /: has a memory of so many chunks: 134217728 of all ranks; expected 4194304 at "
        "most");
}

CollectivePolicy policy_of(const std::filesystem::path& file) {
    CollectivePolicy policy;
    policy.algorithm = Algorithm::kProgram;
    policy.algorithm.program = std::make_shared<const ProgramFile>(file.filename().string(), file);
    return policy;
}

CollectivePolicies policies_of(CollectiveKind kind, const CollectivePolicy& policy) {
    CollectivePolicies all;
    if (kind == CollectiveKind::kBroadcast)
        all.broadcast = policy;
    else if (kind == CollectiveKind::kAllGather)
        all.all_gather = policy;
    else
        all.all_reduce = policy;
    return all;
}

CollectiveKind kind_of(const std::string& name) {
    return name == "broadcast_chain" ? CollectiveKind::kBroadcast : CollectiveKind::kAllReduce;
}

// Of few elements most instructions have nothing to move, and end one another as they begin.
TEST(Programs, OfAFewElementsLeaveTheRightNumbers) {
    for (const std::string& name : kNames)
        for (const std::uint64_t elements : {1ULL, 2ULL, 7ULL, 33ULL, 100ULL}) {
            CollectivePolicy policy = policy_of(shipped(name));
            policy.protocol = Protocol::kSimple;
            TestMachine machine(
                TestMachine::cluster(3, 4), TestMachine::params(),
                policies_of(kind_of(name), policy), 7);
            machine.run(operation_of(
                kind_of(name), elements * size_of(Datatype::kFloat32).count(), Datatype::kFloat32));
            EXPECT_EQ(machine.ended, machine.fabric.gpus()) << name << " " << elements;
            EXPECT_TRUE(machine.engine->wrong_results().empty()) << name << " " << elements;
        }
}

TEST(Programs, OfOddSizesLeaveTheRightNumbersOnTwoToSixteenRanks) {
    for (const std::string& name : kNames)
        for (std::uint32_t n = 2; n <= 16; ++n)
            for (const std::uint32_t machines : {1U, 2U, 3U, n}) {
                if (n % machines != 0 || (machines == n && n > 5))
                    continue;
                const Topology topology = machines == 1
                                              ? TestMachine::hgx(n).build()
                                              : TestMachine::cluster(machines, n / machines);
                for (const std::uint64_t elements : {1ULL, 77ULL, 12'345ULL}) {
                    CollectivePolicy policy = policy_of(shipped(name));
                    policy.protocol = elements == 77 ? Protocol::kLl : Protocol::kSimple;
                    TestMachine machine(
                        topology, TestMachine::params(), policies_of(kind_of(name), policy), 7);
                    machine.run(operation_of(
                        kind_of(name), elements * size_of(Datatype::kFloat32).count(),
                        Datatype::kFloat32));
                    EXPECT_EQ(machine.ended, n) << name << " " << machines << " " << elements;
                    EXPECT_TRUE(machine.engine->wrong_results().empty())
                        << name << " of " << n << " ranks, " << machines << " machines, "
                        << elements;
                }
            }
}

RC_GTEST_PROP(ProgramsProperty, RunsLeaveTheRightNumbersOfAnySize, ()) {
    const auto name = *rc::gen::elementOf(kNames);
    const auto machines = *rc::gen::inRange(1U, 4U);
    const auto each = *rc::gen::inRange(machines == 1 ? 2U : 1U, 5U);
    const auto type = *rc::gen::element(Datatype::kFloat32, Datatype::kBfloat16);
    const auto elements = *rc::gen::oneOf(
        rc::gen::inRange<std::uint64_t>(1, 300'000), rc::gen::inRange<std::uint64_t>(1, 200));
    CollectivePolicy policy = policy_of(shipped(name));
    policy.protocol = *rc::gen::element(Protocol::kLl, Protocol::kSimple);
    const Topology topology =
        machines == 1 ? TestMachine::hgx(each).build() : TestMachine::cluster(machines, each);
    RC_TAG(name);
    TestMachine machine(topology, TestMachine::params(), policies_of(kind_of(name), policy), 7);
    machine.run(operation_of(kind_of(name), elements * size_of(type).count(), type));
    RC_ASSERT(machine.ended == machine.fabric.gpus());
    RC_ASSERT(machine.engine->wrong_results().empty());
    RC_ASSERT(machine.fabric.values().live() == 0U);
}

TEST(Programs, MscclsRunLeavesTheRightNumbers) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "p.xml") << kMsccl;
    for (const std::uint64_t bytes : {8ULL, 1000ULL, 3'000'016ULL}) {
        TestMachine machine(
            TestMachine::hgx(2).build(), TestMachine::params(),
            policies_of(CollectiveKind::kAllGather, policy_of(folder.path() / "p.xml")), 3);
        machine.run(operation_of(CollectiveKind::kAllGather, bytes, Datatype::kFloat32));
        EXPECT_EQ(machine.ended, 2U);
        EXPECT_TRUE(machine.engine->wrong_results().empty());
    }
}

double microseconds_of(
    const Topology& topology, CollectiveKind kind, const CollectivePolicy& policy,
    std::uint64_t bytes) {
    TestMachine machine(topology, TestMachine::params(), policies_of(kind, policy));
    const CollectiveRecord record = machine.run(operation_of(kind, bytes));
    return to_seconds(record.end - record.start) * 1e6;
}

TEST(Programs, TakeAsLongAsTheBuiltInOnes) {
    const Topology hgx = TestMachine::hgx(8).build();
    CollectivePolicy ring;
    ring.algorithm = Algorithm::kRing;
    CollectivePolicy nvls;
    nvls.algorithm = Algorithm::kInSwitch;
    nvls.registered = true;
    struct Pair {
        std::string name;
        CollectivePolicy built_in;
    };
    for (const auto& [name, built_in] :
         {Pair{"ring_all_reduce", ring}, Pair{"broadcast_chain", ring},
          Pair{"in_switch_ring_all_reduce", nvls}})
        for (const std::uint64_t bytes : {64ULL << 10U, 1ULL << 20U, 16ULL << 20U, 128ULL << 20U}) {
            const double file =
                microseconds_of(hgx, kind_of(name), policy_of(shipped(name)), bytes);
            const double own = microseconds_of(hgx, kind_of(name), built_in, bytes);
            EXPECT_NEAR(file / own, 1, 0.02)
                << name << " of " << bytes << ": " << file << " us, " << own << " us";
        }
}

TEST(Programs, RingsTakeAsLongAsTheBuiltInOnesAcrossMachines) {
    const Topology cluster = TestMachine::cluster(2, 4);
    CollectivePolicy ring;
    ring.algorithm = Algorithm::kRing;
    for (const char* name : {"ring_all_reduce", "broadcast_chain"})
        for (const std::uint64_t bytes : {256ULL << 10U, 32ULL << 20U}) {
            const double file =
                microseconds_of(cluster, kind_of(name), policy_of(shipped(name)), bytes);
            const double own = microseconds_of(cluster, kind_of(name), ring, bytes);
            EXPECT_NEAR(file / own, 1, 0.02) << name << " of " << bytes;
        }
}

TEST(Programs, AnEngineRefusesWhatTheRanksCannotRun) {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "p.xml") << kMsccl;
    TestMachine machine(
        TestMachine::hgx(4).build(), TestMachine::params(),
        policies_of(CollectiveKind::kAllGather, policy_of(folder.path() / "p.xml")));
    EXPECT_THROW(machine.run(operation_of(CollectiveKind::kAllGather, 1 << 20U)), SimulationError);
}

}  // namespace
}  // namespace switchfold::programs_test
