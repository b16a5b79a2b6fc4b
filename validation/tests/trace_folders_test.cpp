// SPDX-License-Identifier: Apache-2.0
#include "validation/replay/trace_folders.h"

#include "workloads/readers/trace_format/trace_file.h"
#include "workloads/tests/trace_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace switchfold::validation::trace_folders_test {
namespace {

class TraceFolders : public ::testing::Test {
protected:
    TraceFolders() {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    ~TraceFolders() override { std::filesystem::remove_all(folder_); }
    TraceFolders(const TraceFolders&) = delete;
    TraceFolders& operator=(const TraceFolders&) = delete;
    TraceFolders(TraceFolders&&) = delete;
    TraceFolders& operator=(TraceFolders&&) = delete;

    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
    }
    void write_kineto(const std::string& name, int rank, int world) const {
        test_data::TraceText trace;
        trace.header(fmt::format(
            R"("deviceProperties": [{{"id": 0, "name": "NVIDIA H100 80GB HBM3"}}],)"
            R"("distributedInfo": {{"rank": {}, "world_size": {}}},)",
            rank, world));
        write(name, trace.launch("gemm", "10", "7", "20", "300").text());
    }
    /// Writes switchfold's own format, which the file's name does not reveal.
    void write_own(const std::string& name, const std::string& kineto) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        write_trace(read_kineto({{folder_ / kineto}}), folder_ / name, "a test");
    }
    [[nodiscard]] std::vector<std::string> names(const FileKind& kind) const {
        std::vector<std::string> names;
        for (const TraceFolder& folder : trace_folders(folder_, kind))
            for (const auto& file : folder.files)
                names.push_back(folder.name + "/" + file.filename().string());
        return names;
    }

    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / fmt::format("switchfold_folders_{}", getpid());
};

TEST_F(TraceFolders, AnOldNcclIsKnownByItsKernelsArguments) {
    const auto write_run = [&](const std::string& name, const std::string& kernel) {
        test_data::TraceText trace;
        trace.header(R"("deviceProperties": [{"id": 0, "name": "GPU"}],)");
        write(name, trace.launch(kernel, "10", "7", "20", "300").text());
    };
    write_run("old/rank0.json", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)");
    write_run(
        "new/rank0.json",
        "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)");
    std::vector<std::optional<std::uint32_t>> versions;
    for (const TraceFolder& folder : trace_folders(folder_, kKinetoFiles))
        versions.push_back(read_folder(folder).nccl_version);
    EXPECT_EQ(versions, (std::vector<std::optional<std::uint32_t>>{std::nullopt, 21'003}));
}

TEST_F(TraceFolders, ContentTellsATraceWhereItsNameDoesNot) {
    write_kineto("a/rank0.json", 0, 1);
    write("a/notes.md", "# a rank, of 2 GPUs");
    write("b/notes.txt", "nothing");
    write_own("c/own", "a/rank0.json");
    EXPECT_EQ(names(kKinetoFiles), (std::vector<std::string>{"a/rank0.json"}));
    EXPECT_EQ(names(kTraceFiles), (std::vector<std::string>{"a/rank0.json", "c/own"}));
}

TEST_F(TraceFolders, AllRanksAreUsedOrTheLowestAlone) {
    write_kineto("whole/b.json", 0, 2);
    write_kineto("whole/a.json", 1, 2);
    write_kineto("part/b.json", 5, 8);
    write_kineto("part/a.json", 6, 8);
    const auto folders = trace_folders(folder_, kTraceFiles);
    ASSERT_EQ(folders.size(), 2U);
    const FolderTrace part = read_folder(folders[0]);
    EXPECT_EQ(part.id, "part/rank5");
    EXPECT_EQ(part.world, 8U);
    ASSERT_EQ(part.files.size(), 1U);
    EXPECT_EQ(part.files[0].filename(), "b.json");
    const FolderTrace whole = read_folder(folders[1]);
    EXPECT_EQ(whole.id, "whole/all ranks");
    EXPECT_EQ(whole.gpu_name, "NVIDIA H100 80GB HBM3");
    ASSERT_EQ(whole.files.size(), 2U);
    EXPECT_EQ(whole.files[0].filename(), "b.json");
}

SuiteOptions options_of(const std::filesystem::path& data) {
    SuiteOptions options;
    options.root = SWITCHFOLD_SOURCE_DIR;
    options.data = data;
    options.jobs = 2;
    return options;
}

TEST_F(TraceFolders, AFolderThatCannotBeUsedIsUnmatchedAndTheOthersKeepTheirOrder) {
    for (const char* name : {"c/x.json", "a/x.json", "b/x.json"})
        write(name, "{}");
    const SuiteResult result = run_folders(
        suite_named("replay"), options_of(folder_), kKinetoFiles,
        [](const TraceFolder& folder, const Machines&, const JobProgress&) {
            if (folder.name == "b")
                throw ConfigError("b", "", "is of no use");
            SuiteResult one;
            one.notes.push_back(folder.name);
            return one;
        });
    EXPECT_EQ(result.name, "replay");
    EXPECT_EQ(result.notes, (std::vector<std::string>{"a", "c"}));
    ASSERT_EQ(result.unmatched.size(), 1U);
    EXPECT_EQ(result.unmatched[0].id, "b");
    EXPECT_NE(result.unmatched[0].why.find("is of no use"), std::string::npos);
}

TEST_F(TraceFolders, ASimulationThatFailsIsThrown) {
    write("a/x.json", "{}");
    const auto run = [&] {
        return run_folders(
            suite_named("replay"), options_of(folder_), kKinetoFiles,
            [](const TraceFolder&, const Machines&, const JobProgress&) -> SuiteResult {
                throw SimulationError("link", Time(1), "no credit");
            });
    };
    EXPECT_THROW(static_cast<void>(run()), SimulationError);
}

}  // namespace
}  // namespace switchfold::validation::trace_folders_test
