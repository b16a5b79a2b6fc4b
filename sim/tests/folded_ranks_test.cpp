// SPDX-License-Identifier: Apache-2.0
// Collectives of many ranks simulated on a few of them, compared with every rank simulated.
#include "core/json.h"
#include "sim/config/load.h"
#include "sim/runner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace switchfold::folded_ranks_test {
namespace {

const std::filesystem::path kFile = SWITCHFOLD_SOURCE_DIR "/configs/experiments/rings.json";

ScenarioResult
at(const std::string& fidelity, const std::string& members, const std::string& policy) {
    const std::string text = fmt::format(
        R"({{"name": "rings", "causes": false, "fidelity": "{}", {},
             "scenarios": [{{"name": "it", {}}}]}})",
        fidelity, members, policy);
    return run_experiment(load_experiment(Json::parse(text), kFile, {}), {}).scenarios.front();
}

ScenarioResult scenario(const std::string& members, const std::string& policy, bool exact) {
    return at(exact ? "exact" : "auto", members, policy);
}

const std::string kRing = R"("all_reduce": {"algorithm": "ring"})";

std::string nvl72(std::uint32_t ranks) {
    return fmt::format(
        R"("system": {{"$base": "../systems/gb200_nvl72.json", "topology": {{"gpus": {}}}}})",
        ranks);
}

std::string collective(const std::string& kind, std::uint64_t bytes) {
    return fmt::format(
        R"("workload": {{"type": "collective", "collective": "{}", "size": "{} B"}})", kind, bytes);
}

/// Sums over all components of each statistics table: link payload, switch packets and memory
/// bytes.
std::vector<double> sums(const ScenarioResult& result) {
    std::vector<double> all;
    for (const StatisticTable& table : result.statistics) {
        all.push_back(static_cast<double>(table.rows.size()));
        for (std::size_t column = 0; column < table.columns.size(); ++column)
            if (table.columns[column].name == "payload_bytes" ||
                table.columns[column].name == "packets" ||
                table.columns[column].name == "packet_bytes") {
                double sum = 0;
                for (const auto& row : table.rows)
                    sum += row.values[column];
                all.push_back(sum);
            }
    }
    return all;
}

void expect_same(
    const std::string& members, std::uint32_t ranks, std::uint32_t kept,
    const std::string& policy = kRing) {
    const ScenarioResult every = scenario(members, policy, true);
    const ScenarioResult folded = scenario(members, policy, false);
    EXPECT_EQ(every.folded_ranks, 0) << members;
    EXPECT_EQ(folded.folded_ranks, ranks - kept) << members;
    EXPECT_NEAR(folded.iteration_us / every.iteration_us, 1, 0.005) << members;
    EXPECT_LT(static_cast<double>(folded.events), 0.6 * static_cast<double>(every.events));
    ASSERT_EQ(folded.collectives.size(), every.collectives.size());
    EXPECT_EQ(folded.collectives.front().ranks, ranks);
    EXPECT_NEAR(
        folded.collectives.front().bus_bandwidth_GBps /
            every.collectives.front().bus_bandwidth_GBps,
        1, 0.005);
    const std::vector<double> of_all = sums(every);
    const std::vector<double> of_folded = sums(folded);
    ASSERT_EQ(of_all.size(), of_folded.size());
    // Sums differ slightly: a ring's last chunk and the last head's piece may be shorter than the
    // others.
    for (std::size_t i = 0; i < of_all.size(); ++i)
        EXPECT_NEAR(of_folded[i], of_all[i], 0.01 * of_all[i]) << members << i;
}

TEST(FoldedRanks, TakeTheTimeAndCarryTheBytesOfWholeOnes) {
    for (const std::string kind : {"all_reduce", "all_gather", "reduce_scatter"})
        for (const std::uint64_t bytes : {100'000ULL, 6'000'000ULL, 80'000'004ULL})
            expect_same(nvl72(36) + ", " + collective(kind, bytes), 36, 2);
}

TEST(FoldedRanks, OverMachinesKeepTwoMachines) {
    expect_same(
        R"("system": {"$base": "../systems/dgx_h100_ndr.json", "topology": {"nodes": 4}}, )" +
            collective("all_reduce", 50'000'000),
        32, 16);
}

// Two machines below one leaf stand for four below two: what crosses the spines arrives later,
// which is little beside long collectives and much beside short ones. NICs carry equally much on
// both ways.
TEST(FoldedRanks, OfLongRingsOverSpinesKeepTwoMachines) {
    const std::string pods =
        R"("system": {"$base": "../systems/dgx_a100_hdr.json",
           "topology": {"nodes": 4, "network": {"machines_per_leaf": 2}}}, )";
    for (const std::string kind : {"all_reduce", "all_gather"})
        expect_same(pods + collective(kind, 400'000'000), 32, 16);
    EXPECT_EQ(at("auto", pods + collective("all_gather", 100'000), kRing).folded_ranks, 0);
}

TEST(FoldedRanks, OfRingsOverSpinesNeedRoomOnTheirLinks) {
    const auto kept = [](std::uint32_t spines) {
        const std::string pods = fmt::format(
            R"("system": {{"$base": "../systems/dgx_a100_hdr.json", "topology": {{"nodes": 4,
               "network": {{"machines_per_leaf": 2, "spines": {}, "lanes_to_spine": 1}}}}}}, )",
            spines);
        return 32 - at("auto", pods + collective("all_gather", 400'000'000), kRing).folded_ranks;
    };
    EXPECT_EQ(kept(8), 16);
    EXPECT_EQ(kept(1), 32);
}

std::string exchange(
    const std::string& system, std::uint32_t machines, const std::string& kind,
    std::uint64_t bytes) {
    return fmt::format(
               R"("system": {{"$base": "../systems/{}.json", "topology": {{"nodes": {}}}}}, )",
               system, machines) +
           collective(kind, bytes);
}

// Every rank sends to the next one.
TEST(FoldedRanks, OfShiftsKeepTwoMachinesWhereEachGpuHasItsNic) {
    const std::string direct = R"("all_reduce": {"algorithm": "auto"})";
    for (const std::uint64_t bytes : {1'000'000ULL, 60'000'000ULL})
        expect_same(exchange("dgx_h100_ndr", 4, "send_receive", bytes), 32, 16, direct);
    EXPECT_EQ(
        at("auto", exchange("p5_efa", 4, "send_receive", 60'000'000), direct).folded_ranks, 0);
}

TEST(FoldedRanks, OfExchangesOverMachinesKeepTwoMachines) {
    const std::string direct = R"("all_reduce": {"algorithm": "auto"})";
    expect_same(exchange("p5_efa", 5, "all_to_all", 30'000'000), 40, 16, direct);
    // Spines between the leaves of rails.
    expect_same(exchange("dgx_h100_ndr", 6, "all_to_all", 6'000'000), 48, 16, direct);
    // Groups of a dragonfly.
    expect_same(exchange("polaris_a100", 8, "all_to_all", 3'000'000), 32, 8, direct);
    // Leaves of four machines: two below each of two leaves are kept.
    expect_same(exchange("h100_roce_clos", 16, "all_to_all", 2'000'000), 128, 32, direct);
}

TEST(FoldedRanks, OfExchangesNeedEqualMachinesAndLinksWithRoom) {
    const std::string direct = R"("all_reduce": {"algorithm": "auto"})";
    // The links between Slingshot's groups would be the limit of the whole.
    EXPECT_EQ(
        scenario(exchange("alps_a100", 8, "all_to_all", 1'000'000), direct, false).folded_ranks, 0);
    EXPECT_EQ(
        scenario(exchange("p5_efa", 3, "all_to_all", 1'000'000), direct, false).folded_ranks, 0);
}

TEST(FoldedRanks, OfLongExchangesTakeTheTimeOfEveryStep) {
    const std::string members =
        R"("system": {"$base": "../systems/h100_4gpu_ndr.json", "topology": {"nodes": 8},
                      "collectives": {"transfer_unit": "16 KiB"}}, )" +
        collective("all_to_all", 512ULL << 20);
    const std::string direct = R"("all_reduce": {"algorithm": "auto"})";
    const ScenarioResult folded = scenario(members, direct, false);
    EXPECT_GT(folded.jumped_us, 0.3 * folded.iteration_us);
    EXPECT_NEAR(folded.iteration_us / scenario(members, direct, true).iteration_us, 1, 0.005);
    ASSERT_FALSE(folded.notes.empty());
    EXPECT_NE(folded.notes.front().find("up to 1.5 % off"), std::string::npos)
        << folded.notes.front();
}

TEST(FoldedRanks, OfExchangesOfAnySizeTakeTheTimeOfWholeOnes) {
    const std::vector<std::string> systems = {"dgx_h100_ndr",  "p5_efa",      "mi300x_roce",
                                              "hgx_b200_ndr",  "a4_b200_gib", "hgx_h800_ndr",
                                              "dgx_h100_roce", "p6_b300_efa"};
    ASSERT_TRUE(rc::check([&] {
        const std::string members = exchange(
            *rc::gen::elementOf(systems), *rc::gen::inRange<std::uint32_t>(4, 9), "all_to_all",
            4096 * *rc::gen::inRange<std::uint64_t>(1, 1'500));
        const std::string direct = R"("all_reduce": {"algorithm": "auto"})";
        const ScenarioResult every = scenario(members, direct, true);
        const ScenarioResult folded = scenario(members, direct, false);
        RC_ASSERT(folded.folded_ranks > 0);
        RC_ASSERT(std::abs(folded.iteration_us / every.iteration_us - 1) < 0.015);
    }));
}

// Small chunks, so that a short transfer has many loops.
std::string many_loops(std::uint32_t ranks) {
    return fmt::format(
        R"("system": {{"$base": "../systems/gb200_nvl72.json", "topology": {{"gpus": {}}},
                       "collectives": {{"in_switch_chunk": "8 KiB"}}}})",
        ranks);
}
const std::string kInSwitch = R"("all_reduce": {"algorithm": "in_switch", "channels": 2})";

TEST(FoldedRanks, OfASwitchDomainKeepOne) {
    for (const std::uint64_t bytes : {6'000'000ULL, 7'864'320ULL})
        expect_same(many_loops(36) + ", " + collective("all_reduce", bytes), 36, 1, kInSwitch);
}

TEST(FoldedRanks, OfAnySwitchDomainTakeItsTime) {
    ASSERT_TRUE(rc::check([] {
        const auto ranks = *rc::gen::inRange<std::uint32_t>(32, 73);
        const auto loops = *rc::gen::inRange<std::uint64_t>(9'000, 14'000);  // in thousandths
        const std::uint64_t bytes = loops * ranks * 8 * 1024 / 1000 / 4 * 4 * 2;
        const std::string members = many_loops(ranks) + ", " + collective("all_reduce", bytes);
        const ScenarioResult every = scenario(members, kInSwitch, true);
        const ScenarioResult folded = scenario(members, kInSwitch, false);
        RC_ASSERT(folded.folded_ranks == ranks - 1);
        RC_ASSERT(std::abs(folded.iteration_us / every.iteration_us - 1) < 0.005);
    }));
}

const std::string kHalves =
    R"("collectives": {"all_gather": {"algorithm": "in_switch", "channels": 2},
                       "reduce_scatter": {"algorithm": "in_switch", "channels": 2}})";

TEST(FoldedRanks, OfLongHalvesInASwitchDomainKeepOne) {
    for (const std::string kind : {"all_gather", "reduce_scatter"}) {
        expect_same(many_loops(36) + ", " + collective(kind, 18'000'000), 36, 1, kHalves);
        const std::string one_loop = many_loops(36) + ", " + collective(kind, 360'000);
        EXPECT_EQ(at("auto", one_loop, kHalves).folded_ranks, 0);
    }
}

// Where a head's piece begins decides which links its packets take first.
TEST(FoldedRanks, OfLongHalvesOfAnySizeTakeTheTimeOfWholeOnes) {
    ASSERT_TRUE(rc::check([] {
        const auto ranks = *rc::gen::inRange<std::uint32_t>(32, 73);
        const auto kind = *rc::gen::element<std::string>("all_gather", "reduce_scatter");
        const std::uint64_t share = 4 * *rc::gen::inRange<std::uint64_t>(4'200, 60'000);
        const std::string members = many_loops(ranks) + ", " + collective(kind, ranks * share);
        const ScenarioResult every = scenario(members, kHalves, true);
        const ScenarioResult folded = scenario(members, kHalves, false);
        RC_ASSERT(folded.folded_ranks == ranks - 1);
        RC_ASSERT(std::abs(folded.iteration_us / every.iteration_us - 1) < 0.015);
    }));
}

std::string on(const std::string& system) {
    return fmt::format(R"("system": "../systems/{}.json")", system);
}

// Of a machine's eight ranks two or one stand for all in long steps, so that causes, each of which
// takes several runs, come in seconds.
TEST(FoldedRanks, OfLongStepsOnOneMachineTakeTheTimeOfWholeOnes) {
    const std::string step = on("hgx_h100") + R"(, "workload": {
        "type": "training", "strategy": "data_parallel", "batch": 2,
        "transformer": {"blocks": 4, "hidden": 2048, "sequence": 1024}})";
    const auto compare = [&](const std::string& policy, double kept) {
        const ScenarioResult every = scenario(step, policy, true);
        const ScenarioResult folded = scenario(step, policy, false);
        EXPECT_EQ(folded.folded_ranks, 8 - kept) << policy;
        EXPECT_NEAR(folded.iteration_us / every.iteration_us, 1, 0.005) << policy;
        EXPECT_NEAR(*folded.backward_slowdown, *every.backward_slowdown, 0.002) << policy;
        EXPECT_NEAR(folded.communication_blocks, every.communication_blocks, 0.1) << policy;
        EXPECT_EQ(folded.collectives.size(), every.collectives.size());
    };
    compare(kRing, 2);
    compare(R"("all_reduce": {"algorithm": "in_switch"})", 1);
    compare(R"("all_reduce": {"algorithm": "in_switch", "registered": true})", 1);
    const std::string short_step = on("hgx_h100") + R"(, "workload": {
        "type": "training", "strategy": "data_parallel", "batch": 2,
        "transformer": {"blocks": 1, "hidden": 512, "sequence": 512}})";
    EXPECT_EQ(scenario(short_step, kRing, false).folded_ranks, 0);
}

TEST(FoldedRanks, OfRegisteredBuffersKeepOneWhereHeadsPullOverDifferentLinks) {
    const std::string registered =
        R"("all_reduce": {"algorithm": "in_switch", "registered": true})";
    double folded_ranks = 0;
    for (const char* const system : {"hgx_h100", "hgx_b200", "gb200_nvl72"})
        for (const std::uint64_t bytes : {270'000'000ULL, 291'268'864ULL, 331'346'176ULL}) {
            const std::string members =
                on(system) + fmt::format(
                                 R"(, "workload": {{"type": "collective", "ranks": 8,
                                                 "collective": "all_reduce", "size": "{} B"}})",
                                 bytes);
            const ScenarioResult every = scenario(members, registered, true);
            const ScenarioResult folded = scenario(members, registered, false);
            folded_ranks += folded.folded_ranks;
            EXPECT_NEAR(folded.iteration_us / every.iteration_us, 1, 0.005) << members;
        }
    EXPECT_GT(folded_ranks, 0);
    const std::string met = on("hgx_h100") + R"(, "workload": {"type": "collective",
        "collective": "all_reduce", "size": "288 MiB"})";  // pieces of whole turns of the links
    EXPECT_EQ(scenario(met, registered, false).folded_ranks, 0);
    const std::string apart = on("hgx_h100") + R"(, "workload": {"type": "collective",
        "collective": "all_reduce", "size": "291268864 B"})";
    EXPECT_EQ(scenario(apart, registered, false).folded_ranks, 7);
    // Few channels let heads come out of step.
    const std::string few =
        R"("all_reduce": {"algorithm": "in_switch", "registered": true, "channels": 2})";
    EXPECT_EQ(scenario(apart, few, false).folded_ranks, 0);
}

TEST(FoldedRanks, HoldBesideKernels) {
    const std::string step = nvl72(32) + R"(, "workload": {
        "type": "training", "strategy": "data_parallel", "batch": 1, "gradient": "bfloat16",
        "transformer": {"blocks": 2, "hidden": 1024, "sequence": 1024}})";
    expect_same(step, 32, 2);
    const ScenarioResult every = scenario(step, kRing, true);
    const ScenarioResult folded = scenario(step, kRing, false);
    // What docs/notebook/performance.md promises of a fold.
    EXPECT_NEAR(folded.backward_us / every.backward_us, 1, 0.005);
    EXPECT_NEAR(folded.communication_blocks, every.communication_blocks, 0.1);
}

TEST(FoldedRanks, TakeTheTimeOfWholeOnesOnAnyNumberOfRanks) {
    ASSERT_TRUE(rc::check([] {
        const auto ranks = *rc::gen::inRange<std::uint32_t>(32, 65);
        const auto kind = *rc::gen::element<std::string>("all_reduce", "all_gather");
        const auto bytes = 4 * *rc::gen::inRange<std::uint64_t>(1, 1'000'000);
        const std::string members = nvl72(ranks) + ", " + collective(kind, bytes);
        const ScenarioResult every = scenario(members, kRing, true);
        const ScenarioResult folded = scenario(members, kRing, false);
        RC_TAG(folded.folded_ranks > 0);
        RC_ASSERT(std::abs(folded.iteration_us / every.iteration_us - 1) < 0.005);
    }));
}

TEST(FoldedRanks, AutoFoldsAsWhatItChooses) {
    const std::string by_itself = R"("all_reduce": {"channels": 2})";
    const std::string small = nvl72(36) + ", " + collective("all_gather", 100'000);
    EXPECT_EQ(scenario(small, by_itself, false).folded_ranks, 34);  // a ring
    const std::string large = many_loops(36) + ", " + collective("all_reduce", 7'864'320);
    EXPECT_EQ(scenario(large, by_itself, false).folded_ranks, 35);  // through the switches
    EXPECT_NEAR(
        scenario(large, by_itself, false).iteration_us /
            scenario(large, by_itself, true).iteration_us,
        1, 0.005);
}

/// An all-reduce on machines of `system`.
std::string over(const std::string& system, std::uint32_t machines, std::uint64_t bytes) {
    return fmt::format(
               R"("system": {{"$base": "../systems/{}.json", "topology": {{"nodes": {}}}}}, )",
               system, machines) +
           collective("all_reduce", bytes);
}

std::string by(const std::string& algorithm) {
    return fmt::format(R"("all_reduce": {{"algorithm": "{}"}})", algorithm);
}

/// Expects a simulation of `kept` of the ranks to take the time of all within `error`.
void expect_near(
    const ScenarioResult& few, const ScenarioResult& every, std::uint32_t folded, double error,
    const std::string& note) {
    EXPECT_EQ(every.folded_ranks, 0);
    EXPECT_EQ(few.folded_ranks, folded);
    EXPECT_NEAR(few.iteration_us / every.iteration_us, 1, error);
    ASSERT_FALSE(few.notes.empty());
    EXPECT_EQ(few.notes.front(), note);
    const std::vector<double> of_all = sums(every);
    const std::vector<double> of_folded = sums(few);
    ASSERT_EQ(of_all.size(), of_folded.size());
    for (std::size_t i = 0; i < of_all.size(); ++i)
        EXPECT_NEAR(of_folded[i], of_all[i], 0.02 * of_all[i]) << i;
}

TEST(FoldedRanks, TreesBetweenMachinesFoldWhereTheUserTakesAnApproximation) {
    const std::string members = over("dgx_h100_ndr", 4, 60'000'000);
    expect_near(
        at("fast", members, by("in_switch_tree")), at("exact", members, by("in_switch_tree")), 28,
        0.07,
        "4 ranks stand for all 32: times may be up to 7 % off (fidelity exact simulates all)");
    const ScenarioResult tree = at("exact", members, by("tree"));
    for (const std::string fidelity : {"auto", "fast"})
        expect_near(
            at(fidelity, members, by("tree")), tree, 16, 0.015,
            "16 ranks stand for all 32: times may be up to 1.5 % off (fidelity exact simulates "
            "all)");
}

TEST(FoldedRanks, AutoFoldsTreesOnlyWhereTheyAreKnown) {
    const auto folded = [](const std::string& members, const std::string& algorithm) {
        return at("auto", members, by(algorithm)).folded_ranks;
    };
    const std::string small = over("p5_efa", 4, 4'000'000);
    EXPECT_EQ(folded(small, "tree"), 0);  // four NICs a GPU
    EXPECT_EQ(at("fast", small, by("tree")).folded_ranks, 16);
    EXPECT_EQ(folded(over("dgx_h100_ndr", 4, 60'000'000), "in_switch_tree"), 0);  // short
    EXPECT_EQ(folded(over("dgx_h100_ndr", 2, 60'000'000), "tree"), 0);            // few
}

TEST(FoldedRanks, LongSwitchTreesFoldByDefault) {
    const ScenarioResult few =
        at("auto", over("hgx_b200_ndr", 4, 512ULL << 20), by("in_switch_tree"));
    EXPECT_EQ(few.folded_ranks, 28);
    ASSERT_FALSE(few.notes.empty());
    EXPECT_NE(few.notes.front().find("up to 3 % off"), std::string::npos) << few.notes.front();
}

TEST(FoldedRanks, TreesOfAnySizeTakeTheTimeOfWholeOnes) {
    const std::vector<std::string> systems = {"dgx_h100_ndr", "a4_b200_gib", "p5_efa", "a3_mega"};
    double errors = 0;
    int runs = 0;
    ASSERT_TRUE(rc::check([&] {
        const std::string members = fmt::format(
            R"("system": {{"$base": "../systems/{}.json", "topology": {{"nodes": {}}},
                           "collectives": {{"simple_buffer": "1 MiB"}}}}, {})",
            *rc::gen::elementOf(systems), *rc::gen::inRange(2, 8),
            collective("all_reduce", 4 * *rc::gen::inRange<std::uint64_t>(1, 5'000'000)));
        const ScenarioResult every = at("exact", members, by("tree"));
        const ScenarioResult near = at("auto", members, by("tree"));
        const ScenarioResult few = at("fast", members, by("tree"));
        RC_TAG(few.folded_ranks > 0);  // the smallest sizes have fewer channels than trees
        const auto error = [&](const ScenarioResult& other) {
            return std::abs(other.iteration_us / every.iteration_us - 1);
        };
        errors += error(few);
        ++runs;
        RC_ASSERT(error(few) < 0.09);  // what the notes say
        RC_ASSERT(error(near) < 0.015);
    }));
    EXPECT_LT(errors / runs, 0.005);
}

// The links inside p5's machines are its limit: there it matters that data of two neighbours meet.
// The whole itself is not smooth there: 0.3 us of a hop move it by 12 %, the folded one by 2 %.
TEST(FoldedRanks, ALongApproximateTreeTakesTheTimeOfTheWholeWhereLinksInMachinesAreTheLimit) {
    const std::string members = over("p5_efa", 4, 600 << 20);
    const ScenarioResult every = at("exact", members, by("tree"));
    const ScenarioResult few = at("fast", members, by("tree"));
    EXPECT_EQ(few.folded_ranks, 16);
    EXPECT_NEAR(few.iteration_us / every.iteration_us, 1, 0.09);  // what the note says
}

// The blocks of a chain never keep their distance, since FIFOs fill and empty; their pace is known.
TEST(FoldedRanks, LongChainsLeaveOutTheirMiddle) {
    for (const std::string kind : {"broadcast", "reduce"}) {
        const std::string chain = exchange("dgx_h100_ndr", 3, kind, 3'000'000'000);
        const ScenarioResult every = at("exact", chain, kRing);
        const ScenarioResult some = at("auto", chain, kRing);
        EXPECT_EQ(every.jumped_us, 0);
        EXPECT_GT(some.jumped_us, 0.3 * every.iteration_us) << kind;
        EXPECT_NEAR(some.iteration_us / every.iteration_us, 1, 0.01) << kind;
        ASSERT_FALSE(some.notes.empty());
        EXPECT_NE(some.notes.front().find("mean pace"), std::string::npos);
    }
}

TEST(FoldedRanks, FastTakesLargerPacketsForStepsAndSaysSo) {
    const std::string step =
        R"("system": "../systems/hgx_h100.json",
           "workload": {"type": "training", "transformer": {"blocks": 2, "hidden": 1024,
                        "sequence": 256, "vocabulary": 1000}, "batch": 1, "ranks": 8})";
    const std::string simple = R"("all_reduce": {"algorithm": "ring", "protocol": "simple"})";
    const ScenarioResult every = at("auto", step, simple);
    const ScenarioResult few = at("fast", step, simple);
    EXPECT_LT(few.events, every.events);
    EXPECT_NEAR(few.iteration_us / every.iteration_us, 1, 0.03);  // what the note says
    const auto says = [](const ScenarioResult& result) {
        return std::ranges::any_of(result.notes, [](const std::string& note) {
            return note.find("packets are 32 KiB instead of 4 KiB") != std::string::npos;
        });
    };
    EXPECT_TRUE(says(few));
    EXPECT_FALSE(says(every));
    // A collective's time alone is decided by its packets.
    EXPECT_FALSE(says(at(
        "fast", R"("system": "../systems/hgx_h100.json", )" + collective("all_reduce", 4'000'000),
        simple)));
}

/// What refuses an experiment with these members.
std::string refused(const std::string& members) {
    try {
        static_cast<void>(load_experiment(
            Json::parse(
                R"({"name": "x", )" + members + ", " + nvl72(36) + ", " +
                collective("all_reduce", 1000) + "}"),
            kFile, {}));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(FoldedRanks, AnApproximationOfEveryRankIsRefused) {
    for (const std::string key : {"exact", "functional"})
        EXPECT_NE(
            refused(R"("approximate": true, ")" + key + R"(": true)")
                .find("/approximate: cannot be combined with " + key),
            std::string::npos);
    EXPECT_NE(
        refused(R"("fidelity": "fast", "functional": true)")
            .find("/fidelity: cannot be combined with functional"),
        std::string::npos);
    EXPECT_NE(
        refused(R"("fidelity": "fast", "exact": true)").find("/exact: is given, and fidelity"),
        std::string::npos);
    EXPECT_NE(refused(R"("fidelity": "quick")").find("exact, auto"), std::string::npos);
}

TEST(FoldedRanks, WhereRanksAreNotAlikeEveryOneIsSimulated) {
    const std::string reduce = collective("all_reduce", 1'000'000);
    const auto folded = [](const std::string& members, const std::string& policy) {
        return scenario(members, policy, false).folded_ranks;
    };
    EXPECT_GT(folded(nvl72(36) + ", " + reduce, kRing), 0);
    EXPECT_EQ(folded(nvl72(30) + ", " + reduce, kRing), 0);
    EXPECT_EQ(folded(nvl72(37) + ", " + reduce, kRing), 0);
    EXPECT_EQ(folded(nvl72(36) + ", " + reduce, R"("all_reduce": {"algorithm": "tree"})"), 0);
    EXPECT_EQ(folded(nvl72(36) + ", " + reduce, R"("all_reduce": {"algorithm": "in_switch"})"), 0);
    const std::string pull = many_loops(36) + ", " + collective("all_reduce", 6'000'000);
    EXPECT_GT(folded(pull, kInSwitch), 0);
    EXPECT_EQ(
        folded(pull, R"("all_reduce": {"algorithm": "in_switch", "channels": 2, "mode": "push"})"),
        0);
    EXPECT_EQ(
        folded(
            pull, R"("all_reduce": {"algorithm": "in_switch", "channels": 2, "registered": true})"),
        0);
    // Tokens go where their experts are.
    const std::string tokens = on("hgx_h100") + R"(, "workload": {"type": "experts",
        "tokens": 4096, "hidden": 7168, "top_k": 8, "experts": 256})";
    EXPECT_EQ(folded(tokens, R"("collectives": {"experts": {}})"), 0);
    EXPECT_EQ(folded(nvl72(36) + R"(, "functional": true, )" + reduce, kRing), 0);
    EXPECT_EQ(
        folded(
            nvl72(36) + R"(, "faults": [{"type": "link_degraded", "component": "gpu3_to_switch0_e3",
                                          "bandwidth_ppm": 500000}], )" +
                reduce,
            kRing),
        0);
    EXPECT_EQ(
        folded(
            nvl72(36) + R"(, "workload": {"type": "collective", "collective": "all_to_all",
                              "size": "1 MiB"})",
            kRing),
        0);
}

}  // namespace
}  // namespace switchfold::folded_ranks_test
