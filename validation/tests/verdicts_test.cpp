// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "core/tests/temporary_folder.h"
#include "validation/harness/judging.h"
#include "workloads/tests/trace_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::validation::verdicts_test {
namespace {

const std::filesystem::path kRepository = SWITCHFOLD_SOURCE_DIR;

/// Ten steps of a product and an all-reduce, which run at the same time in every second step.
std::string traced_steps() {
    test_data::TraceText trace;
    trace.header(
        R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": )"
        R"(84000000000}], "distributedInfo": {"rank": 0, "world_size": 2},)");
    constexpr int kStep = 2000;
    for (int step = 0; step < 12; ++step) {
        const int at = step * kStep;
        const auto us = [&](int after) { return std::to_string(at + after); };
        trace.event("user_annotation", fmt::format("ProfilerStep#{}", step), "1", us(0), "2000");
        const bool beside = step % 2 == 1;
        trace.launch("gemm", us(10), "7", us(50), beside ? "450" : "300");
        trace.launch(
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", us(20),
            "20", us(beside ? 40 : 600), "700",
            R"("Collective name": "allreduce", "In msg nelems": 33554432, "Out msg nelems": )"
            R"(33554432, "dtype": "Float", "Group size": 2, "Process Group Name": "0", )"
            R"("Process Group Ranks": "[0, 1]")");
    }
    return trace.text();
}

/// A kernel bound by memory bandwidth beside a mover.
constexpr const char* kContention = R"({
 "schema": "switchfold/h200-contention/1", "date": "2026-01-01T00:00:00Z", "command": "measure.py",
 "versions": {"gpu": "none: made up for a test"},
 "networks": [{"network": "toy", "unsteady_kernels": 0,
  "kernels": [
   {"name": "elementwise_kernel", "grid": [8192, 1, 1], "block": [256, 1, 1], "registers": 32,
    "shared_bytes": 0, "alone_us": 100.0, "places": 3, "bytes_read": 260000000,
    "bytes_written": 130000000}],
  "runs": [
   {"blocks": 32, "threads": 512, "registers_per_thread": 96, "shared_bytes": 81920,
    "static_shared_bytes": 4, "footprint_bytes": 134217728, "requested_bytes_per_second": 0,
    "bytes_per_second": 2e12, "slowdown": 1.4, "kernels": [
     {"kernel": 0, "us": 150, "low_us": 145, "high_us": 155, "passes": 5}]}]}]})";

/// A repository with small measurements of every suite: the first rows of what ships, and made-up
/// ones of tables that do not ship.
class SmallMeasurements {
public:
    SmallMeasurements() {
        std::filesystem::create_directories(root() / "validation");
        for (const char* shared : {"configs", "validation/maps"})
            std::filesystem::create_directory_symlink(kRepository / shared, root() / shared);
        first_rows("nccl_allreduce.csv", "../tests/synthetic_allreduce.csv", "made_up_");
        std::filesystem::create_directories(root() / "validation/h200/data");
        std::ofstream(root() / "validation/h200/data/contention.json") << kContention;
        first_rows("low_sm.csv", "reference/low_sm.csv", "vllm24111_h100_4g_nccl,");
        first_rows("expert_exchanges.csv", "reference/expert_exchanges.csv", "_dispatch_4096_2_8");
        for (const char* table : {"gemm.csv", "attention.csv", "flash_attention.csv"})
            first_rows(table, std::string("reference/") + table, "");
        for (const char* table : {"training/schedules.csv", "training/exchange_pcie.csv"})
            first_rows(table, std::string("reference/") + table, "");
        append_learning();
        write(
            "reference/training/plans.csv",
            "id,source,gpu,n_gpus,interconnect,model,layers,hidden,heads,sequence,task,"
            "global_batch,tp,dp,pp,micro_batch,micro_batches,recompute,step_ms\n"
            "a,v,A100,4,NVLink,GPT,2,1024,16,1024,t,8,1,4,1,2,1,full,30\n"
            "b,v,A100,4,NVLink,GPT,2,1024,16,1024,t,8,1,4,1,1,2,full,40\n");
        write(
            "reference/training/memory.csv",
            "id,source,network,batch,capacity_mib,input,policy,quantity,value,unit,kind\n"
            "a,,any,,,,g16 on the host,bytes_a_parameter_on_gpu,14,B,measured\n"
            "b,\"Jain et al., Checkmate\",VGG-19,1,,,greedy checkpoints,largest_batch,266,samples,"
            "measured\n");
        write(
            "reference/training/elastic.csv",
            "id,source,gpu,n_gpus,n_nodes,interconnect,model,change,from_gpus,to_gpus,batch,phase,"
            "quantity,value,unit,kind,note\n"
            "d,x,A100,16,2,\"storage: network file system, 100 MB/s\",GPT,restart,,,,,"
            "checkpoint_save_time,151,s,measured,18 GB\n"
            "s,x,,2,2,,,shrink,4,2,,total,communicator_time,0.065,s,measured,\"ncclCommShrink; the "
            "parent's InitRank took 1.32 s\"\n");
        write(
            "reference/experiments/mine.csv",
            "id,/system,/workload/collective,/workload/size (KiB),measured/time_us\n"
            "a,hgx_h100,all_gather,64,20\n");
        std::filesystem::create_directories(traces() / "run");
        std::ofstream(traces() / "run/rank0.json") << traced_steps();
    }
    [[nodiscard]] const std::filesystem::path& root() const { return folder_.path(); }
    [[nodiscard]] std::filesystem::path traces() const { return root() / "traces"; }

private:
    void write(const std::string& name, const std::string& text) const {
        const auto file = root() / "validation/data" / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    /// Of two methods one learns better.
    void append_learning() const {
        std::ofstream(root() / "validation/data/reference/training/schedules.csv", std::ios::app)
            << "x,s,data_parallel,2,,,,,,,best_validation_accuracy_percent,92\n"
               "y,s,1f1b_async latest,2,,,,,,,best_validation_accuracy_percent,90\n"
               "z,s,1f1b_async stash,2,,,,,,,best_validation_accuracy_percent,91\n";
    }
    /// The header and the first rows with that text of a table of the repository.
    void
    first_rows(const std::string& name, const std::string& table, std::string_view text) const {
        constexpr std::size_t kRows = 6;
        std::ifstream file(kRepository / "validation/data" / table);
        std::string rows;
        std::string line;
        std::getline(file, line);
        rows = line + "\n";
        for (std::size_t count = 0; count < kRows && std::getline(file, line);)
            if (line.find(text) != std::string::npos) {
                rows += line + "\n";
                ++count;
            }
        write("reference/" + name, rows);
    }

    TemporaryFolder folder_;
};

class EverySuite : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> names_of_suites() {
    std::vector<std::string> names;
    for (const Suite& suite : suites())
        names.emplace_back(suite.name);
    return names;
}

/// On every suite's own path from a table to cases: each quantity of each group is judged by a
/// stated limit, which the measured values themselves keep, and half, twice and none of them break.
TEST_P(EverySuite, HasVerdictsThatWrongAnswersFail) {
    const SmallMeasurements measurements;
    const auto judging = read_params_file<Judging>(kRepository / "validation/data/judging.json");
    SuiteOptions options;
    options.root = measurements.root();
    options.jobs = 2;
    if (GetParam() == "replay" || GetParam() == "step")
        options.data = measurements.traces();
    SuiteResult result = suite_named(GetParam()).run(options);
    std::erase_if(result.cases, [](const Case& c) { return c.measured == 0; });
    ASSERT_FALSE(result.cases.empty());
    result.verdicts.clear();  // the suite's own, of its own answers
    const auto with = [&](const std::function<double(const Case&)>& answer) {
        SuiteResult answered = result;
        for (Case& c : answered.cases)
            c.simulated = answer(c);
        answered.groups = judge(answered, judging);
        return std::vector<SuiteResult>{std::move(answered)};
    };
    EXPECT_EQ(exit_code_of(with([](const Case& c) { return c.measured; })), ExitCode::kDone);
    for (const double factor : {0.5, 2.0, 0.0}) {
        const auto wrong = with([&](const Case& c) { return factor * c.measured; });
        EXPECT_EQ(exit_code_of(wrong), ExitCode::kOutOfTolerance);
        for (const GroupVerdict& verdict : wrong.front().groups) {
            EXPECT_NE(verdict.reason, "no limit is stated for this quantity")
                << verdict.group << ' ' << verdict.quantity;
            EXPECT_FALSE(verdict.kept())
                << verdict.group << ' ' << verdict.quantity << ' ' << factor;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Verdicts, EverySuite, ::testing::ValuesIn(names_of_suites()),
    [](const auto& p) { return p.param; });

}  // namespace
}  // namespace switchfold::validation::verdicts_test
