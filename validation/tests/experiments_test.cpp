// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/params_reader.h"
#include "sim/kinds/collective/collective_params.h"
#include "validation/experiments/measured_experiments.h"
#include "validation/experiments/simulated_rows.h"
#include "validation/harness/kept_results.h"
#include "validation/harness/kept_suites.h"
#include "validation/machines/bounds.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

namespace switchfold::validation::experiments_test {
namespace {

/// A text and a part of it; an empty part says that the text is empty.
void expect_part(const std::string& text, const std::string& part) {
    if (part.empty())
        EXPECT_EQ(text, "");
    else
        EXPECT_NE(text.find(part), std::string::npos) << text;
}

std::filesystem::path repository() {
    return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

std::filesystem::path system_file(const char* name) {
    return std::filesystem::absolute(repository()) / "configs/systems" / name;
}

std::vector<MeasuredExperiment>
rows(const char* csv, const char* map = "{}", const std::filesystem::path& system = {}) {
    return measured_experiments(
        parse_csv(csv, "t.csv"), read_params<TableMap>(parse_json(map, "t.map.json"), "t.map.json"),
        {"t.csv", std::string(map) == "{}" ? "" : "t.map.json", repository(), system});
}

std::optional<Json> set_of(const MeasuredExperiment& row, std::string_view pointer) {
    for (const Override& change : row.values.overrides())
        if (change.pointer == pointer)
            return change.value;
    return std::nullopt;
}

std::string refusal(const char* csv, const char* map = "{}") {
    try {
        static_cast<void>(rows(csv, map));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(MeasuredExperiments, ColumnsNamedByPointerMakeAnExperiment) {
    const auto read = rows("id,/system,/workload/collective,/workload/size (B),measured/time_ms\n"
                           "a,hgx_h100,all_gather,1048576,0.25\n");
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].why, "");
    EXPECT_EQ(read[0].id, "t/a");
    EXPECT_EQ(*set_of(read[0], "/workload/size"), "1048576 B");
    EXPECT_EQ(*set_of(read[0], "/system"), system_file("hgx_h100.json").string());
    ASSERT_EQ(read[0].numbers.size(), 1U);
    EXPECT_EQ(read[0].numbers[0].value, 250);
    EXPECT_EQ(read[0].numbers[0].figure.unit, "us");
    const LoadedExperiment loaded = load_row(read[0]);
    const auto* one = workload_of<CollectiveWorkloadParams>(loaded.experiment);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->collective, CollectiveKind::kAllGather);
    EXPECT_EQ(one->size, mebibytes(1));
}

TEST(MeasuredExperiments, ARowThatCannotBeReadDoesNotStopTheOthers) {
    const auto read = rows("id,/system,/workload/size (MiB),measured/time_us\n"
                           "a,hgx_h100,1,fast\n"
                           "b,hgx_h1OO,1,10\n"
                           "c,hgx_h100,1,\n"
                           "d,hgx_h100,1,-3\n"
                           "e,hgx_h100,1,30\n");
    ASSERT_EQ(read.size(), 5U);
    EXPECT_EQ(
        read[0].why, "line 2: measured/time_us is \"fast\"; expected a number, or one with its "
                     "unit: us, ns, ms, s");
    expect_part(read[1].why, "line 3: /system is \"hgx_h1OO\"");
    expect_part(read[1].why, "did you mean \"hgx_h100\"?");
    EXPECT_EQ(read[2].why, "line 4: states nothing that was measured");
    expect_part(read[3].why, "line 5: measured/time_us is -3");
    EXPECT_EQ(read[4].why, "");
}

TEST(MeasuredExperiments, AWrongPointerIsRefusedWithTheNearestOne) {
    const auto read = rows(
        "id,/system,/workload/sizes,measured/time_us\n"
        "a,hgx_h100,1 MiB,10\n",
        R"({"experiment": {"name": "x", "workload": {"type": "collective", "size": "1 MiB"}}})");
    try {
        static_cast<void>(load_row(read.at(0)));
        FAIL();
    } catch (const ConfigError& error) {
        expect_part(error.what(), "column /workload/sizes: /workload/sizes");
        expect_part(error.what(), "did you mean \"size\"?");
    }
}

TEST(MeasuredExperiments, AFigureThatIsNoneIsRefusedWithTheNearestOne) {
    expect_part(
        refusal("id,/workload/size,measured/bus_bandwith\na,1 MiB,3\n"),
        "did you mean \"bus_bandwidth\"?");
    expect_part(refusal("id,/workload/size\na,1 MiB\n"), "says of no column");
}

TEST(MeasuredExperiments, CellsMayStateTheirUnits) {
    const auto read = rows(
        "id,/workload/size,measured/time\na,1 MiB,3 us\nb,1 MiB,0.25ms\nc,1 MiB,3\nd,1 MiB,3 GB/s\n"
        "e,1 MiB,n/a\n");
    ASSERT_EQ(read.size(), 5U);
    EXPECT_EQ(read[0].numbers.at(0).value, 3);
    EXPECT_EQ(read[1].numbers.at(0).value, 250);
    for (std::size_t i = 2; i < read.size(); ++i)
        expect_part(read[i].why, "; expected one with its unit: us, ns, ms, s");
    const auto in_ms = rows("id,/workload/size,measured/time_ms\na,1 MiB,3\nb,1 MiB,3 us\n");
    EXPECT_EQ(in_ms.at(0).numbers.at(0).value, 3000);
    EXPECT_EQ(in_ms.at(1).numbers.at(0).value, 3);
    const auto factor = rows("id,/workload/size,measured/speedup\na,1 MiB,3 us\n");
    expect_part(factor.at(0).why, "is \"3 us\"; expected a number");
}

TEST(MeasuredExperiments, ConditionsCompareNumbersAndColumnsMayBeLacking) {
    EXPECT_TRUE(meets(">8", "16"));
    EXPECT_FALSE(meets(">8", "8"));
    EXPECT_TRUE(meets("<8|none", "none"));
    EXPECT_FALSE(meets("<8", "")) << "no number";
    EXPECT_FALSE(meets("!>8", "16"));
    const auto read =
        rows("id,size,us,source\na,8,10,\"Author et al., somewhere\"\nb,16,10,x\n", R"({
      "lacking": {"kind": "all_gather"},
      "experiment": {"name": "x", "workload": {"type": "collective"}},
      "columns": [
        {"column": "kind", "pointer": "/workload/collective"},
        {"column": "size", "pointer": "/workload/size", "unit": "MiB", "when": {"id": "a"}}
      ],
      "group": ["of {source,}"],
      "measured": [{"column": "us", "figure": "time", "unit": "us", "name": "a name", "shown": "ms"}]
    })");
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].group, "of Author et al.");
    EXPECT_EQ(*set_of(read[0], "/workload/collective"), "all_gather");
    EXPECT_EQ(*set_of(read[0], "/workload/size"), "8 MiB");
    EXPECT_FALSE(set_of(read[1], "/workload/size").has_value());
    const MeasuredNumber& number = read[0].numbers.at(0);
    EXPECT_EQ(number.name, "a name");
    EXPECT_EQ(number.unit, "ms");
    EXPECT_DOUBLE_EQ(number.value * number.shown, 0.01);
}

constexpr const char* kMap = R"({
  "$source": "made up",
  "experiment": {"name": "x", "workload": {"type": "collective"}, "scenarios": [{"name": "auto"}]},
  "id": ["what", "bytes"],
  "group": ["what"],
  "columns": [
    {"column": "machine", "pointer": "/system", "words": {"*H100*": "configs/systems/hgx_h100.json",
     "*H100 NVL*": "configs/systems/h100_nvl_nvbridge.json"}},
    {"column": "what", "pointer": "/workload/collective", "words": {"allreduce": "all_reduce"}},
    {"column": "bytes", "pointer": "/workload/size", "unit": "B"}
  ],
  "rules": [
    {"when": {"note": "*ring*|*chain*"}, "set": {"/scenarios/0/all_reduce/algorithm": "ring"}},
    {"when": {"note": "!*ring*"}, "set": {"/seed": 7}},
    {"when": {"note": "broken"}, "leave_out": "the machine had a fault"}
  ],
  "measured": [
    {"column": "value", "figure": "time", "unit": "ms", "low": "from", "high": "to", "when": {"kind": "time"}},
    {"column": "value", "figure": "bus_bandwidth", "unit": "GB/s", "when": {"kind": "rate"}}
  ]
})";

TEST(MeasuredExperiments, AMapSaysWordsUnitsRulesAndWhatWasMeasured) {
    const auto read = rows(
        "machine,what,bytes,note,kind,value,from,to\n"
        "8 x H100 SXM,allreduce,1024,a ring of NVLink,time,2,1.5,2.5\n"
        "2 x H100 NVL,allreduce,1024,,rate,40,,\n"
        "8 x H100,allgather,1024,,rate,40,,\n"
        "8 x H100,allreduce,2048,broken,rate,40,,\n",
        kMap);
    ASSERT_EQ(read.size(), 4U);
    EXPECT_EQ(read[0].id, "t/allreduce/1024");
    EXPECT_EQ(read[0].group, "allreduce");
    EXPECT_EQ(*set_of(read[0], "/system"), system_file("hgx_h100.json").string());
    EXPECT_EQ(*set_of(read[0], "/scenarios/0/all_reduce/algorithm"), "ring");
    EXPECT_EQ(set_of(read[0], "/seed"), std::nullopt);
    ASSERT_EQ(read[0].numbers.size(), 1U);
    EXPECT_EQ(read[0].numbers[0].value, 2000);
    EXPECT_EQ(read[0].numbers[0].low, 1500);
    EXPECT_EQ(read[0].numbers[0].high, 2500);
    // The longer of two words that fit.
    EXPECT_EQ(*set_of(read[1], "/system"), system_file("h100_nvl_nvbridge.json").string());
    EXPECT_EQ(*set_of(read[1], "/seed"), 7);
    EXPECT_EQ(read[1].numbers.at(0).figure.key, "bus_bandwidth_GBps");
    EXPECT_EQ(read[2].why, "line 4: what is \"allgather\"; expected one of: allreduce");
    EXPECT_EQ(read[3].why, "line 5: the machine had a fault");
}

/// The repository's own map of collectives of few SMs, on made-up rows.
TEST(MeasuredExperiments, AMapIsOfSomeRowsAndFillsInTheirCells) {
    const std::string map = [] {
        std::ifstream file(repository() / "validation/maps/low_sm.json");
        return std::string(std::istreambuf_iterator<char>(file), {});
    }();
    const auto read = rows(
        "id,kind,operation,gpu,n_gpus,n_nodes,interconnect,kernel,blocks,dtype,size_bytes,time_us\n"
        "a,moe,dispatch,H100,8,1,HGX NVSwitch,k,,fp8,,10\n"
        "b,copy_engine,all_gather,H100 SXM,8,1,HGX NVSwitch,copy engine,,,1024,12\n"
        "c,symmetric_memory,reduce_scatter,Hopper by its times,4,1,HGX NVSwitch,\"NCCL symmetric "
        "ReduceScatter_LD, registered\",33,float32,4096,14\n"
        "c,symmetric_memory,all_reduce,H100,4,1,HGX NVSwitch,vLLM custom,,bfloat16,4096,14\n"
        "c,symmetric_memory,all_reduce,H100,4,1,HGX NVSwitch,NCCL,,bfloat16,4096,14\n"
        "d,symmetric_memory,all_reduce,H100,4,1,HGX NVSwitch,x_TmaLD NCCL,,bfloat16,4096,14\n",
        map.c_str());
    ASSERT_EQ(read.size(), 5U);
    EXPECT_EQ(read[0].id, "b/1024");
    EXPECT_EQ(read[0].group, "b");
    EXPECT_EQ(
        *set_of(read[0], "/scenarios/0/collectives/all_gather"),
        Json({{"kernels", "copy_engine"}}));
    EXPECT_EQ(set_of(read[0], "/workload/datatype"), std::nullopt);
    EXPECT_EQ(read[1].why, "");
    EXPECT_EQ(read[1].id, "c/4096/33 blocks");
    EXPECT_EQ(*set_of(read[1], "/system"), system_file("hgx_h100.json").string());
    EXPECT_EQ(*set_of(read[1], "/scenarios/0/collectives/reduce_scatter/channels"), 33);
    const LoadedExperiment loaded = load_row(read[1]);
    const CollectivePolicy policy =
        loaded.experiment.scenarios.at(0).policies().of(CollectiveKind::kReduceScatter);
    EXPECT_EQ(policy.kernels, Kernels::kSymmetric);
    EXPECT_EQ(policy.algorithm, Algorithm::kDirect);
    EXPECT_EQ(policy.channels, 33U);
    EXPECT_EQ(read[2].why, "line 5: the kernel \"vLLM custom\" is not modelled");
    EXPECT_EQ(read[3].why, "");
    EXPECT_EQ(load_row(read[3]).experiment.scenarios.at(0).all_reduce.kernels, Kernels::kClassic);
    EXPECT_EQ(read[4].why, "line 7: the variant that moves data by TMA is not modelled");
}

TEST(MeasuredExperiments, AMapThatNamesNoColumnOfTheTableIsRefused) {
    expect_part(
        refusal("machine,what,bytes,note,kind\nx,y,1,,\n", kMap),
        "names no column value; the map expects it");
}

TEST(MeasuredExperiments, TheMachineOfTheTableIsFittedToItsRanks) {
    const auto read = rows(
        "id,gpus,nodes,/workload/size,measured/time_us\na,16,2,1 MiB,100\nb,4096,1,1 MiB,100\n",
        R"({"machine": {"gpus": "gpus", "nodes": "nodes"},
            "experiment": {"name": "x", "workload": {"type": "collective"}, "scenarios": [{"name": "auto"}]}})",
        system_file("dgx_h100_ndr.json"));
    const LoadedExperiment loaded = load_row(read.at(0));
    EXPECT_EQ(build_topology(loaded.experiment.system->topology).gpus(), 16U);
    expect_part(read.at(1).why, "line 3: ");
}

TEST(MeasuredExperiments, AStepIsLikeOtherStepsOfAsManyRanks) {
    SuiteOptions options;
    options.root = repository();
    SuiteResult result;
    std::vector<Problem> problems;
    compare_rows(
        rows(
            "id,/workload/type,/workload/network,/workload/plan/data,/workload/plan/micro_batch,"
            "measured/iteration_ms\n"
            "a,training,resnet50,2,8,40\n",
            "{}", system_file("hgx_h100.json")),
        options, result, problems);
    ASSERT_EQ(result.cases.size(), 1U) << (problems.empty() ? "" : problems.front().text());
    EXPECT_EQ(result.cases[0].like.kind, "step");
    EXPECT_EQ(result.cases[0].like.operation, "training");
    EXPECT_EQ(result.cases[0].like.ranks, 2U);
    EXPECT_EQ(result.cases[0].like.machines, 1U);
    EXPECT_TRUE(is_of_step(measured_figure("tflops_per_gpu", "")));
    EXPECT_FALSE(is_of_step(measured_figure("peak_memory_gib", "")));
}

TEST(Bounds, LinksCarryWhatTheyCarry) {
    const SystemParams system = load_system(system_file("hgx_h100.json"), {});
    // 18 lanes of NVLink 4 are 478 GB/s with their encoding.
    const double least = least_seconds(system, CollectiveKind::kAllReduce, 1ULL << 30U, 8);
    EXPECT_GT(least, (1ULL << 30U) / 600e9);
    EXPECT_LT(least, (1ULL << 30U) / 450e9);
    EXPECT_NEAR(
        least_seconds(system, CollectiveKind::kAllGather, 1ULL << 30U, 8), least * 7 / 8, 1e-9);
    expect_part(
        why_impossible(system, CollectiveKind::kAllReduce, 1ULL << 30U, 8, least * 0.99),
        "is faster than the links of hgx_h100");
    expect_part(
        why_impossible(system, CollectiveKind::kAllReduce, 1ULL << 30U, 8, least * 1.01), "");
    EXPECT_EQ(least_seconds(system, CollectiveKind::kAllReduce, 1ULL << 30U, 1), 0);
}

TEST(Bounds, MachinesSendThroughTheirNics) {
    const SystemParams system = load_system(system_file("dgx_h100_ndr.json"), {});
    // 8 NICs of 50 GB/s carry the sums of a machine.
    EXPECT_NEAR(
        least_seconds(system, CollectiveKind::kAllReduce, 1'000'000'000, 16), 1e9 / 400e9, 1e-6);
    // Of an all-to-all, half of each of the eight buffers.
    EXPECT_NEAR(
        least_seconds(system, CollectiveKind::kAllToAll, 1'000'000'000, 16), 4e9 / 400e9, 1e-6);
}

TEST(Bounds, ArithmeticAndMemoryHaveTheirPeaks) {
    GpuRates gpu;
    gpu.name = "G";
    gpu.half = 100e12;
    gpu.l2_capacity = 1'000'000;
    const MatrixProduct product{1000, 1000, 1000, 1};
    expect_part(
        why_impossible(product, gpu, 0, 2e9 / 120e12),
        "120 TFLOP/s is more than the 110 that G has at most in bfloat16");
    expect_part(why_impossible(product, gpu, 0, 2e9 / 100e12), "");
    // 6 MB, of which the L2 holds one.
    expect_part(
        why_impossible(product, gpu, 1e11, 4.9e-5),
        "GB/s of what the L2 cannot hold is more than the 100");
    expect_part(why_impossible(product, gpu, 1e11, 5.1e-5), "");
    Attention attention;
    attention.queries = attention.keys = 1000;
    attention.heads = 10;
    attention.head_width = 100;
    // Half of 4 G operations.
    expect_part(why_impossible(attention, gpu, 0, 2e9 / 120e12), "120 TFLOP/s");
    expect_part(why_impossible(attention, gpu, 0, 2e9 / 100e12), "");
}

class KeptResultsTest : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::remove_all(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() /
        fmt::format("kept_{}", ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(KeptResultsTest, HitsWhatWasKeptAndNothingElse) {
    const KeptResults kept(folder_);
    EXPECT_EQ(kept.find("a"), std::nullopt);
    kept.keep("a", std::string("1\n\0 2", 5));
    EXPECT_EQ(KeptResults(folder_).find("a"), std::string("1\n\0 2", 5));
    EXPECT_EQ(kept.find("b"), std::nullopt);
    EXPECT_EQ(KeptResults().find("a"), std::nullopt);
    KeptResults().keep("a", "nowhere");
}

TEST_F(KeptResultsTest, AFileThatIsNotTheKeysIsNotTaken) {
    const KeptResults kept(folder_);
    kept.keep("a", "1");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
        if (entry.is_regular_file())
            std::ofstream(entry.path()) << "1\nb\n1";
    EXPECT_EQ(kept.find("a"), std::nullopt);
}

TEST_F(KeptResultsTest, FilesAreToldApartByNameAndContent) {
    std::filesystem::create_directories(folder_ / "in");
    std::ofstream(folder_ / "in/x") << "1";
    const std::string one = digest_of_files(folder_);
    std::ofstream(folder_ / "in/x") << "2";
    const std::string other = digest_of_files(folder_);
    EXPECT_NE(one, other);
    std::filesystem::rename(folder_ / "in/x", folder_ / "in/y");
    EXPECT_NE(digest_of_files(folder_), other);
    EXPECT_EQ(digest_of_files(folder_ / "none"), digest_of_files(""));
}

TEST_F(KeptResultsTest, MeasurementsAreInputsOfASuiteAndLimitsAreNot) {
    std::filesystem::create_directories(folder_ / "validation/data/reference");
    SuiteOptions options;
    options.root = folder_;
    const auto with = [&](const char* file) {
        std::ofstream(folder_ / "validation/data" / file) << "x";
        return digest_of_inputs(options);
    };
    const std::string none = digest_of_inputs(options);
    EXPECT_EQ(with("judging.json"), none);
    EXPECT_EQ(with("first_comparisons.csv"), none);
    EXPECT_NE(with("reference/table.csv"), none);
}

}  // namespace
}  // namespace switchfold::validation::experiments_test
