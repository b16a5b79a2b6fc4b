// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "sim/output/writers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <sys/wait.h>
#include <unistd.h>

namespace switchfold::files_test {
namespace {

namespace fs = std::filesystem;

class ResultFolderTest : public ::testing::Test {
protected:
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::ifstream file(folder_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] std::set<std::string> names() const {
        std::set<std::string> found;
        for (const auto& entry : fs::directory_iterator(folder_))
            found.insert(entry.path().filename().string());
        return found;
    }

    TemporaryFolder holder_;
    fs::path folder_ = holder_.path();
};

TEST_F(ResultFolderTest, FilesAppearTogetherAtTheCommit) {
    ResultFolder folder(folder_ / "deep" / "er");
    folder.write("result.json", "{}");
    folder.write("kernels.csv", "a,b\n");
    EXPECT_FALSE(fs::exists(folder_ / "deep/er/result.json"));
    EXPECT_FALSE(fs::exists(folder_ / "deep/er/kernels.csv"));
    folder.commit();
    EXPECT_EQ(text("deep/er/result.json"), "{}");
    EXPECT_EQ(text("deep/er/kernels.csv"), "a,b\n");
}

TEST_F(ResultFolderTest, WithoutCommitNothingStays) {
    {
        ResultFolder folder(folder_);
        folder.write("kernels.csv", "half");
    }
    EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_F(ResultFolderTest, AnEarlierResultGoesBeforeAnythingIsWritten) {
    put("result.json", "old");
    const ResultFolder folder(folder_);
    EXPECT_FALSE(fs::exists(folder_ / "result.json"));
}

TEST_F(ResultFolderTest, CompanionsOfAnEarlierRunDoNotSurvive) {
    put("timeline.json.gz", "of another run");
    put("passes.csv", "of another run");
    put("memory.csv", "of another run");
    put("members.csv", "of another run");
    put("mine.txt", "not ours");
    {
        ResultFolder folder(folder_);
        folder.write("result.json", "{}");
        folder.commit();
    }
    EXPECT_EQ(names(), (std::set<std::string>{"mine.txt", "result.json"}));
}

TEST_F(ResultFolderTest, AFileThatNobodyKnowsIsABug) {
    ResultFolder folder(folder_);
    EXPECT_THROW(folder.write("unheard.csv", ""), InternalError);
}

TEST_F(ResultFolderTest, AFolderTakesThePlaceOfTheOldOne) {
    for (const std::string name : {"old.json.gz", "new.json.gz"}) {
        ResultFolder folder(folder_);
        std::ofstream(folder.stage_folder("rank-timelines") / name) << "a rank";
        folder.write("result.json", "{}");
        folder.commit();
        EXPECT_EQ(text("rank-timelines/" + name), "a rank");
    }
    EXPECT_FALSE(fs::exists(folder_ / "rank-timelines/old.json.gz"));
    {
        ResultFolder folder(folder_);
        folder.write("result.json", "{}");
        folder.commit();
    }
    EXPECT_EQ(names(), std::set<std::string>{"result.json"});
}

TEST_F(ResultFolderTest, ResultIsLastSoThatAFailureLeavesNone) {
    ResultFolder folder(folder_);
    folder.write("result.json", "{}");
    folder.write("kernels.csv", "");
    // A folder at the destination makes the rename fail.
    fs::create_directories(folder_ / "kernels.csv" / "x");
    EXPECT_THROW(folder.commit(), IoError);
    EXPECT_FALSE(fs::exists(folder_ / "result.json"));
}

TEST_F(ResultFolderTest, TwoRunsDoNotShareFiles) {
    ResultFolder one(folder_);
    ResultFolder two(folder_);
    EXPECT_NE(one.stage("kernels.csv"), two.stage("kernels.csv"));
}

TEST_F(ResultFolderTest, WhatKilledRunsHaveLeftGoesAndLivingRunsStay) {
    const ResultFolder living(folder_);
    const std::set<std::string> before = names();
    ASSERT_EQ(before.size(), 1U);
    fs::create_directory(folder_ / ".partial-noLock");
    std::ofstream(folder_ / ".partial-noLock" / "kernels.csv") << "half";
    fs::create_directory(folder_ / ".partial-killed");
    std::ofstream(folder_ / ".partial-killed" / ".lock");
    fs::create_directory(folder_ / ".partial-not-ours");
    fs::create_directory(folder_ / "kept");
    fs::create_directory_symlink(folder_ / "kept", folder_ / ".partial-linked");
    {
        const ResultFolder next(folder_);
        std::set<std::string> now = names();
        EXPECT_EQ(now.count(".partial-noLock"), 0U);
        EXPECT_EQ(now.count(".partial-killed"), 0U);
        EXPECT_EQ(now.count(*before.begin()), 1U);
    }
    std::set<std::string> expected = before;
    expected.insert({".partial-not-ours", ".partial-linked", "kept"});
    EXPECT_EQ(names(), expected);
}

/// A process that dies leaves its folder behind, but no lock on it.
TEST_F(ResultFolderTest, TheFolderOfADeadProcessIsRemovedByTheNext) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ResultFolder folder(folder_);
        folder.write("kernels.csv", "half");
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(names().size(), 1U);
    { const ResultFolder next(folder_); }
    EXPECT_TRUE(names().empty());
}

TEST_F(ResultFolderTest, AFileInTheWayIsAnIoError) {
    put("file", "");
    EXPECT_THROW(ResultFolder(folder_ / "file"), IoError);
    EXPECT_THROW(ResultFolder(folder_ / "file" / "below"), IoError);
}

TEST(TextFile, AFullDiskIsAnIoError) {
    if (!fs::exists("/dev/full"))
        GTEST_SKIP() << "no /dev/full here";
    EXPECT_THROW(
        {
            TextFile file("/dev/full");
            file.write("text");
            file.close();
        },
        IoError);
    EXPECT_THROW(
        {
            TextFile file("/dev/full");
            file.write(std::string(1U << 20U, 'x'));
        },
        IoError);
}

TEST(TextFile, APathThatIsNotThereIsNamed) {
    try {
        const TextFile file("/nowhere/at/all.csv");
        FAIL() << "opened";
    } catch (const IoError& error) {
        EXPECT_EQ(error.path(), "/nowhere/at/all.csv");
        EXPECT_EQ(exit_code(error), ExitCode::kBadInput);
    }
}

}  // namespace
}  // namespace switchfold::files_test
