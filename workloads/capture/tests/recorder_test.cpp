// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/recorder.h"

#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/format/frame.h"
#include "workloads/capture/tests/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <thread>

#include <sys/resource.h>

namespace switchfold::capture::recorder_test {
namespace {

class RecorderTest : public ::testing::Test {
protected:
    [[nodiscard]] Settings settings() const {
        Settings settings;
        settings.directory = folder_.path().string();
        settings.rank = 3;
        settings.world_size = 8;
        return settings;
    }
    [[nodiscard]] std::filesystem::path file(const char* name = "rank3.sfcapture") const {
        return folder_.path() / name;
    }
    void append(const std::string& bytes) const {
        std::ofstream(file(), std::ios::binary | std::ios::app) << bytes;
    }
    TemporaryFolder folder_;
};

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += line + "\n";
    return text;
}

Kernel kernel(std::uint64_t start, std::uint32_t name) {
    Kernel kernel;
    kernel.start = start;
    kernel.end = start + 5;
    kernel.name = name;
    return kernel;
}

TEST_F(RecorderTest, WhatIsWrittenIsRead) {
    const auto recorder = Recorder::open(settings());
    const std::uint32_t name = recorder->name("gemm");
    EXPECT_EQ(recorder->name("gemm"), name);
    EXPECT_NE(recorder->name("relu"), name);
    recorder->add(kernel(10, name));
    recorder->add(Lost{7, "records"});
    recorder->finish();
    recorder->add(kernel(20, name));  // ignored: the recorder has finished

    const CaptureFile capture = read_capture(file());
    EXPECT_EQ(capture.session.rank, 3U);
    EXPECT_EQ(capture.session.world_size, 8U);
    EXPECT_EQ(capture.session.process, static_cast<std::uint32_t>(getpid()));
    EXPECT_GT(capture.session.clock_ns, 0U);
    ASSERT_EQ(capture.kernels.size(), 1U);
    EXPECT_EQ(capture.name(capture.kernels[0].name), "gemm");
    EXPECT_TRUE(capture.ended);
    EXPECT_EQ(losses(capture), std::vector<std::string>{"7 lost: records"});
}

TEST_F(RecorderTest, ThreadsDoNotMixTheirRecords) {
    const auto recorder = Recorder::open(settings());
    constexpr std::uint64_t kEach = 500;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&recorder, i] {
            for (std::uint64_t k = 0; k < kEach; ++k)
                recorder->add(
                    kernel(k, recorder->name("kernel " + std::to_string(i) + std::to_string(k))));
        });
    for (std::thread& thread : threads)
        thread.join();
    const CaptureFile capture = read_capture(file());
    EXPECT_EQ(capture.kernels.size(), 4 * kEach);
    EXPECT_EQ(capture.torn_bytes, 0U);
    for (const Kernel& one : capture.kernels)
        EXPECT_TRUE(capture.name(one.name).ends_with(std::to_string(one.start)));
}

TEST_F(RecorderTest, AKilledProcessLosesNothingThatItWrote) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto recorder = Recorder::open(settings());
        for (std::uint64_t written = 1;; ++written) {
            recorder->add(kernel(written, 0));
            if (::write(ends[1], &written, sizeof(written)) < 0)
                _exit(1);
        }
    }
    std::uint64_t told = 0;
    while (told < 2000)
        ASSERT_EQ(::read(ends[0], &told, sizeof(told)), static_cast<ssize_t>(sizeof(told)));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);

    const CaptureFile capture = read_capture(file());
    EXPECT_GE(capture.kernels.size(), told);
    for (std::size_t i = 0; i < capture.kernels.size(); ++i)
        EXPECT_EQ(capture.kernels[i].start, i + 1);
    EXPECT_FALSE(capture.ended);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "did not end in order", joined(losses(capture)));
}

TEST_F(RecorderTest, ReadingStopsAtATornRecord) {
    const auto recorder = Recorder::open(settings());
    recorder->add(kernel(1, 0));
    std::string torn;
    append_frame(torn, kernel(2, 0));
    torn.pop_back();
    append(torn);
    const CaptureFile capture = read_capture(file());
    EXPECT_EQ(capture.kernels.size(), 1U);
    EXPECT_EQ(capture.torn_bytes, torn.size());
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "after the last whole record were incomplete",
        joined(losses(capture)));
}

TEST_F(RecorderTest, AForkedChildWritesNothing) {
    const auto recorder = Recorder::open(settings());
    EXPECT_EQ(
        status_of_child([&recorder] {
            recorder->add(kernel(1, recorder->name("child")));
            recorder->finish();
            return 0;
        }),
        0);
    recorder->add(kernel(2, 0));
    const CaptureFile capture = read_capture(file());
    ASSERT_EQ(capture.kernels.size(), 1U);
    EXPECT_EQ(capture.kernels[0].start, 2U);
    EXPECT_FALSE(capture.ended);
}

TEST_F(RecorderTest, ASecondProcessOfARankHasItsOwnFile) {
    const auto first = Recorder::open(settings());
    const auto second = Recorder::open(settings());
    second->add(kernel(1, 0));
    EXPECT_TRUE(read_capture(file()).kernels.empty());
    const std::string name = "rank3-" + std::to_string(getpid()) + ".sfcapture";
    EXPECT_EQ(read_capture(file(name.c_str())).kernels.size(), 1U);
}

TEST_F(RecorderTest, AFullDiskEndsTheCaptureAndNotTheProgram) {
    const int status = status_of_child([this] {
        const auto recorder = Recorder::open(settings());
        signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{2000, 2000};
        setrlimit(RLIMIT_FSIZE, &limit);
        for (std::uint64_t i = 1; i < 1000; ++i)
            recorder->add(kernel(i, 0));
        return 0;
    });
    EXPECT_EQ(status, 0);
    const CaptureFile capture = read_capture(file());
    EXPECT_GT(capture.kernels.size(), 5U);
    EXPECT_LE(capture.bytes, 2000U);
}

TEST_F(RecorderTest, AFolderThatIsNotThereIsNoCaptureAndNoCrash) {
    Settings nowhere = settings();
    nowhere.directory += "/nowhere";
    EXPECT_EQ(Recorder::open(nowhere), nullptr);
}

std::string message_of(const std::filesystem::path& path) {
    try {
        (void)read_capture(path);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST_F(RecorderTest, WhatIsNoCaptureIsSaid) {
    append("{}");
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "is not a capture of switchfold-capture", message_of(file()));
    std::filesystem::remove(file());
    append(std::string(kMagic));
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "holds no whole record", message_of(file()));
    std::string bytes;
    append_frame(bytes, kernel(1, 0));
    append(bytes);
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "does not begin with its session", message_of(file()));
    EXPECT_THROW((void)read_capture(folder_.path() / "missing"), IoError);
}

TEST_F(RecorderTest, AnotherVersionIsRefused) {
    std::string bytes(kMagic);
    Session session;
    session.version = kFormatVersion + 1;
    append_frame(bytes, session);
    append(bytes);
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "is a capture of version 2; expected", message_of(file()));
}

TEST_F(RecorderTest, ARecordThatEndsBeforeItStartsIsSaidWithItsByte) {
    const auto recorder = Recorder::open(settings());
    const auto at = std::filesystem::file_size(file());
    Kernel wrong = kernel(10, 0);
    wrong.end = 9;
    recorder->add(wrong);
    EXPECT_PRED_FORMAT2(
        ::testing::IsSubstring, "byte " + std::to_string(at) + ": a record ends before it starts",
        message_of(file()));
}

TEST_F(RecorderTest, RangesAreJoinedFromTheirEnds) {
    const auto recorder = Recorder::open(settings());
    const std::uint32_t outer = recorder->name("outer");
    recorder->add(Marker{10, 1, Marker::Edge::kStart, 5, outer, 0});
    recorder->add(Marker{12, 2, Marker::Edge::kStart, 5, recorder->name("inner"), 0});
    recorder->add(Marker{15, 2, Marker::Edge::kEnd, 5, 0, 0});
    recorder->add(Marker{20, 1, Marker::Edge::kEnd, 5, 0, 0});
    recorder->add(Marker{30, 3, Marker::Edge::kStart, 5, outer, 0});
    const CaptureFile capture = read_capture(file());
    ASSERT_EQ(capture.ranges.size(), 2U);
    EXPECT_EQ(capture.name(capture.ranges[0].name), "outer");
    EXPECT_EQ(capture.ranges[0].end, 20U);
    EXPECT_EQ(capture.ranges[1].start, 12U);
    EXPECT_EQ(capture.open_ranges, 1U);
}

}  // namespace
}  // namespace switchfold::capture::recorder_test
