// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "sim/config/load.h"
#include "sim/workload/workload.h"
#include "workloads/tests/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

namespace switchfold::memory_of_workloads_test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr std::uint64_t kGiB = 1024 * kMiB;

/// What a workload's preparation says on GPUs of this capacity.
struct Said {
    std::string pointer;  ///< of the problem; empty if it runs
    std::string message;
    std::string notes;
};

Said said(const Json& workload, std::uint64_t capacity, const char* memory = "check") {
    const Json experiment{
        {"name", "test"},
        {"system", SWITCHFOLD_SOURCE_DIR "/configs/systems/hgx_h100.json"},
        {"memory", memory},
        {"workload", workload}};
    const std::vector<Override> overrides{
        {"/system/gpu/memory/capacity", fmt::format("{} B", capacity)},
        {"/system/gpu/memory/reserve", "0 B"}};
    Said out;
    try {
        const PreparedWorkload prepared = prepare_workload(
            load_experiment(experiment, SWITCHFOLD_SOURCE_DIR "/experiment.json", overrides));
        for (const std::string& note : prepared.report.notes)
            out.notes += note + "\n";
    } catch (const ConfigError& error) {
        out.pointer = error.problems().front().pointer;
        out.message = error.problems().front().message;
    }
    return out;
}

/// The least capacity with which it runs.
std::uint64_t least(const Json& workload) {
    std::uint64_t refused = 0;
    std::uint64_t runs = 1ULL << 43U;
    EXPECT_EQ(said(workload, runs).message, "");
    while (runs - refused > 1) {
        const std::uint64_t middle = refused + (runs - refused) / 2;
        (said(workload, middle).pointer.empty() ? runs : refused) = middle;
    }
    return runs;
}

Json strategy(const char* name, std::uint32_t batch = 4) {
    return {
        {"type", "training"},
        {"strategy", name},
        {"network",
         {{"type", "gpt"},
          {"layers", 2},
          {"hidden", 256},
          {"heads", 4},
          {"sequence", 128},
          {"vocabulary", 1000}}},
        {"batch", batch}};
}

Json collective(const char* kind) {
    return {{"type", "collective"}, {"collective", kind}, {"size", "64 MiB"}};
}

class TracedRank {
public:
    explicit TracedRank(const std::string& events) :
        file_(
            "trace.json",
            R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 85018279936}],
                "distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                 "ts": 10, "dur": 2, "args": {"correlation": 1}},
                {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 15, "dur": 50,
                 "args": {"stream": 7, "device": 0, "correlation": 1, "grid": [8, 1, 1],
                          "block": [128, 1, 1]}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1,
                 "ts": 70, "dur": 2, "args": {"correlation": 2}},
                {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 75,
                 "dur": 50, "args": {"stream": 7, "device": 0, "correlation": 2, "bytes": 1048576}})" +
                events + "]}") {}
    [[nodiscard]] Json workload() const {
        return {{"type", "trace"}, {"files", {file_.path().string()}}};
    }

private:
    test_data::TemporaryFile file_;
};

std::string allocation(std::uint64_t allocated, std::uint64_t reserved, int type = 1, int id = 0) {
    return fmt::format(
        R"(, {{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 1,
             "tid": 1, "ts": 12, "args": {{"Total Reserved": {}, "Total Allocated": {},
             "Bytes": 512, "Addr": 1, "Device Id": {}, "Device Type": {}, "Ev Idx": 3}}}})",
        reserved, allocated, id, type);
}

TEST(MemoryOfWorkloads, OneByteLessThanTheyNeedIsRefusedAndWhatTheyNeedIsEnough) {
    const TracedRank copies("");
    const TracedRank allocates(
        allocation(3 * kGiB, 4 * kGiB) + allocation(kGiB, 4 * kGiB) +
        allocation(90 * kGiB, 90 * kGiB, 0) + allocation(70 * kGiB, 70 * kGiB, 1, 1));
    Json beside = collective("all_reduce");
    beside["type"] = "kernel_beside_collective";
    beside["kernel"] = {{"type", "matrix_product"}, {"m", 4096}, {"n", 4096}, {"k", 4096}};
    Json plan = strategy("data_parallel");
    plan.erase("strategy");
    plan.erase("batch");
    plan["plan"] = {{"data", 8}, {"micro_batch", 4}};
    struct Kind {
        Json workload;
        std::string pointer;
        std::uint64_t needs = 0;  ///< 0: more than the bytes of a layer's weights
    };
    const std::vector<Kind> kinds{
        {strategy("data_parallel"), "/workload/batch"},
        {strategy("optimizer_sharded"), "/workload/batch"},
        {strategy("fully_sharded"), "/workload/batch"},
        {plan, "/workload/plan/micro_batch"},
        {collective("all_reduce"), "/workload/size", 128 * kMiB},
        {collective("all_gather"), "/workload/size", 72 * kMiB},
        {collective("all_to_all"), "/workload/size", 128 * kMiB},
        {beside, "/workload/size", (128 + 3 * 32) * kMiB},
        {{{"type", "experts"},
          {"tokens", 1024},
          {"hidden", 1024},
          {"payload", "bfloat16"},
          {"top_k", 4},
          {"experts", 64}},
         "/workload/tokens",
         4 * kMiB},
        {copies.workload(), "/workload/files", kMiB},
        {allocates.workload(), "/workload/files", 3 * kGiB},
    };
    for (const Kind& kind : kinds) {
        const std::uint64_t needs = least(kind.workload);
        if (kind.needs > 0)
            EXPECT_EQ(needs, kind.needs) << kind.workload;
        else
            EXPECT_GT(needs, kMiB) << kind.workload;
        const Said refused = said(kind.workload, needs - 1);
        EXPECT_EQ(refused.pointer, kind.pointer) << refused.message;
        EXPECT_EQ(said(kind.workload, needs).message, "");
        EXPECT_EQ(said(kind.workload, 0).message, "") << "an unknown capacity refuses nothing";
        const Said ignored = said(kind.workload, needs - 1, "ignore");
        EXPECT_EQ(ignored.message, "");
        EXPECT_NE(ignored.notes.find("memory is ignored"), std::string::npos) << ignored.notes;
        EXPECT_EQ(said(kind.workload, needs, "ignore").notes.find("ignored"), std::string::npos)
            << "nothing lacks";
    }
}

TEST(MemoryOfWorkloads, AnAllocatorThatStatesMoreThanItsGpuHasIsNotBelieved) {
    const Said said_of = said(TracedRank(allocation(90 * kGiB, 90 * kGiB)).workload(), 2 * kGiB);
    EXPECT_EQ(said_of.message, "");
    EXPECT_NE(said_of.notes.find("its numbers are not used"), std::string::npos) << said_of.notes;
}

/// The number that follows `before`; 0 if there is none.
std::uint32_t number_after(const std::string& text, const std::string& before) {
    std::smatch found;
    if (!std::regex_search(text, found, std::regex(before + "([0-9]+)")))
        return 0;
    return static_cast<std::uint32_t>(std::stoul(found[1]));
}

RC_GTEST_PROP(MemoryOfWorkloadsProperty, TheLargestBatchThatIsToldRunsAndOneMoreDoesNot, ()) {
    Json workload = strategy(
        *rc::gen::element("data_parallel", "optimizer_sharded", "fully_sharded"),
        *rc::gen::inRange(1U, 2000U));
    if (*rc::gen::arbitrary<bool>())
        workload["network"] = *rc::gen::element("resnet50", "vgg16", "gpt2_small", "bert_large");
    else
        workload["network"].update(
            {{"layers", *rc::gen::inRange(1, 6)},
             {"hidden", 64 * *rc::gen::inRange(1, 20)},
             {"sequence", *rc::gen::inRange(1, 700)}});
    workload["precision"] = *rc::gen::element("half", "single");
    workload["ranks"] = *rc::gen::inRange(2, 9);
    const std::uint64_t capacity = *rc::gen::inRange<std::uint64_t>(kGiB, 90 * kGiB);
    const Said first = said(workload, capacity);
    const std::uint32_t largest = first.pointer.empty()
                                      ? number_after(first.notes, "batch ")
                                      : number_after(first.message, "expected at most ");
    RC_ASSERT(first.pointer.empty() || first.pointer == "/workload/batch");
    if (largest == 0) {
        RC_ASSERT(first.message.find("not even one sample fits") != std::string::npos);
        workload["batch"] = 1;
        RC_ASSERT(!said(workload, capacity).pointer.empty());
        return;
    }
    RC_ASSERT(first.pointer.empty() == (workload["batch"].get<std::uint32_t>() <= largest));
    workload["batch"] = largest;
    RC_ASSERT(said(workload, capacity).pointer.empty());
    workload["batch"] = largest + 1;
    RC_ASSERT(said(workload, capacity).pointer == "/workload/batch");
}

TEST(MemoryOfWorkloads, GptXlWith512SamplesDoesNotFitAnH100) {
    Json workload = strategy("data_parallel", 512);
    workload["network"] = "gpt2_xl";
    const Said refused = said(workload, 80 * kGiB);
    EXPECT_EQ(refused.pointer, "/workload/batch");
    const std::uint32_t largest = number_after(refused.message, "expected at most ");
    EXPECT_GT(largest, 2U) << refused.message;
    EXPECT_LT(largest, 32U) << refused.message;
}

/// Each setting that a refusal names, alone, lets the plan run.
TEST(MemoryOfWorkloads, ARefusedPlanIsToldWhatWouldMakeItFit) {
    Json workload = strategy("data_parallel");
    workload.erase("strategy");
    workload.erase("batch");
    workload["network"] = {{"type", "llama"},     {"layers", 8},      {"hidden", 1024},
                           {"heads", 8},          {"sequence", 2048}, {"vocabulary", 32'000},
                           {"feed_forward", 4096}};
    workload["plan"] = {{"data", 8}, {"micro_batch", 2}, {"norm_keeps", "input"}};
    const std::uint64_t enough = least(workload);
    const Said refused = said(workload, enough - 100 * kMiB);
    EXPECT_EQ(refused.pointer, "/workload/plan/micro_batch");
    const std::size_t at = refused.message.find("; it fits with one of sharding optimizer (");
    ASSERT_NE(at, std::string::npos) << refused.message;
    EXPECT_NE(refused.message.find("masters remainder ("), std::string::npos) << refused.message;
    EXPECT_NE(refused.message.find("norm_keeps output ("), std::string::npos) << refused.message;
    EXPECT_NE(refused.message.find("recompute full ("), std::string::npos) << refused.message;
    for (const auto& [key, word] :
         {std::pair{"sharding", "optimizer"}, std::pair{"masters", "remainder"},
          std::pair{"norm_keeps", "output"}, std::pair{"recompute", "full"}}) {
        Json fits = workload;
        fits["plan"][key] = word;
        EXPECT_EQ(said(fits, enough - 100 * kMiB).message, "") << key;
    }
    // A strategy's file has no such keys.
    Json preset = workload;
    preset.erase("plan");
    preset["strategy"] = "data_parallel";
    preset["batch"] = 2;
    const Said told = said(preset, least(preset) - 100 * kMiB);
    EXPECT_EQ(told.pointer, "/workload/batch");
    EXPECT_NE(told.message.find("keys of a plan in the strategy's place"), std::string::npos)
        << told.message;
    // What is not said is no reason to refuse.
    workload["plan"].erase("norm_keeps");
    const Said unsaid = said(workload, enough - 100 * kMiB);
    EXPECT_EQ(unsaid.message, "");
    EXPECT_NE(
        unsaid.notes.find("where it fits only if norms keep their outputs"), std::string::npos)
        << unsaid.notes;
    EXPECT_EQ(said(workload, enough).notes.find("keep their outputs"), std::string::npos);
}

TEST(MemoryOfWorkloads, ALargestMicroBatchOfAPlanRunsAndOneMoreDoesNot) {
    Json workload = strategy("data_parallel");
    workload.erase("strategy");
    workload.erase("batch");
    workload["network"] = "gpt2_xl";
    workload["plan"] = {{"data", 8}, {"micro_batch", 512}};
    const std::uint32_t largest =
        number_after(said(workload, 80 * kGiB).message, "expected at most ");
    ASSERT_GT(largest, 0U);
    workload["plan"]["micro_batch"] = largest;
    EXPECT_EQ(said(workload, 80 * kGiB).message, "");
    workload["plan"]["micro_batch"] = largest + 1;
    EXPECT_EQ(said(workload, 80 * kGiB).pointer, "/workload/plan/micro_batch");
}

}  // namespace
}  // namespace switchfold::memory_of_workloads_test
