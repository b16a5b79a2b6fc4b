// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/tests/temporary_folder.h"
#include "workloads/capture/format/frame.h"
#include "workloads/capture/tests/written_capture.h"
#include "workloads/readers/read_traces.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <iterator>

// Whatever a file holds, the reader either builds a graph from it or reports what is wrong.
namespace switchfold::capture::damaged_capture_test {
namespace {

std::string contents(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

/// True if the reader accepts the file or refuses it with a ConfigError.
bool ends_well(const std::filesystem::path& path) {
    try {
        ReadOptions options;
        options.files = {path};
        check(read_traces(options).graph);
        return true;
    } catch (const ConfigError&) {
        return true;
    }
}

std::filesystem::path written(const TemporaryFolder& folder) {
    WrittenCapture(folder.path(), 0, 2)
        .range("step 0", 0, 100'000)
        .kernel("gemm", 1'000, 10'000, 20'000)
        .kernel("ncclDevKernel_AllReduce_Sum_f32", 12'000, 21'000, 50'000, 20)
        .nccl("AllReduce", 13'000, 1000)
        .copy(16'000, 31'000, 33'000)
        .end();
    return folder.path() / "rank0.sfcapture";
}

RC_GTEST_PROP(DamagedCapture, ChangedBytesAreReadUpToThemOrRefused, ()) {
    const TemporaryFolder folder;
    const std::filesystem::path path = written(folder);
    std::string bytes = contents(path);
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ *rc::gen::inRange(1, 256));
    bytes.resize(*rc::gen::inRange<std::size_t>(at, bytes.size() + 1));
    write(path, bytes);
    RC_ASSERT(ends_well(path));
}

/// A record with arbitrary values in its fields. Its frame is intact, so only the reader's own
/// checks protect the graph.
template <class R>
Record any_record() {
    const auto fill = []<class T>(T& value) {
        if constexpr (std::is_enum_v<T>)
            value = static_cast<T>(*rc::gen::inRange(0, 256));
        else
            value = *rc::gen::arbitrary<T>();
    };
    R record;
    std::apply([&](auto&... field) { (fill(field), ...); }, record.fields());
    return record;
}

Record any_record() {
    switch (*rc::gen::inRange(0, 10)) {
    case 0:
        return any_record<Kernel>();
    case 1:
        return any_record<Copy>();
    case 2:
        return any_record<Call>();
    case 3:
        return any_record<Marker>();
    case 4:
        return any_record<Synchronization>();
    case 5:
        return any_record<Communicator>();
    case 6:
        return any_record<NcclCall>();
    case 7:
        return any_record<Counters>();
    case 8:
        return any_record<Device>();
    default:
        return any_record<Session>();
    }
}

RC_GTEST_PROP(DamagedCapture, AnyValuesAreReadOrRefused, ()) {
    const TemporaryFolder folder;
    const std::filesystem::path path = written(folder);
    std::string bytes = contents(path);
    const auto count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i)
        append_frame(bytes, any_record());
    write(path, bytes);
    RC_ASSERT(ends_well(path));
}

/// Values that are each possible but odd together. The random records above are mostly refused for
/// their times and do not reach these cases.
RC_GTEST_PROP(DamagedCapture, OddKernelsAndCallsAreReadOrRefused, ()) {
    const TemporaryFolder folder;
    WrittenCapture capture(folder.path(), 0, *rc::gen::inRange(1U, 4U));
    capture.kernel("gemm", 1'000, 10'000, 20'000);
    const auto count = *rc::gen::inRange(1, 8);
    for (int i = 0; i < count; ++i) {
        NcclCall call = std::get<NcclCall>(any_record<NcclCall>());
        call.thread = WrittenCapture::kThread;
        call.start = capture.clock() + static_cast<std::uint64_t>(*rc::gen::inRange(0, 200'000));
        call.function = *rc::gen::element<std::string>(
            "AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Send", "Recv", "Odd");
        capture.add(call);
        const auto start = *rc::gen::inRange(0, 100'000);
        const auto length = *rc::gen::inRange(0, 100'000);
        capture.kernel(
            *rc::gen::element<std::string>(
                "ncclDevKernel_AllReduce_Sum_f32", "ncclKernel", "", "x"),
            static_cast<std::uint64_t>(*rc::gen::inRange(0, 100'000)),
            static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(start + length),
            *rc::gen::inRange(0U, 3U));
    }
    capture.end();
    RC_ASSERT(ends_well(folder.path() / "rank0.sfcapture"));
}

std::string message_with(const Record& added) {
    const TemporaryFolder folder;
    const std::filesystem::path path = written(folder);
    std::string bytes = contents(path);
    append_frame(bytes, added);
    write(path, bytes);
    try {
        ReadOptions options;
        options.files = {path};
        (void)read_traces(options);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

TEST(DamagedCapture, WhatCannotBeIsSaid) {
    const auto expect = [](const char* words, const Record& record) {
        EXPECT_PRED_FORMAT2(::testing::IsSubstring, words, message_with(record));
    };
    expect("a name is out of order", Name{1U << 30U, "far"});
    expect("is a second session", Session{});
    expect(
        "has 4000000000 ranks; expected 65536 at most", Communicator{1, "", 0, 4'000'000'000, 1});
}

TEST(DamagedCapture, RanksThatCannotBeAreSaid) {
    const TemporaryFolder folder;
    Session session;
    session.rank = 2;
    session.world_size = 2;
    std::string bytes(kMagic);
    append_frame(bytes, session);
    const std::filesystem::path path = folder.path() / "capture";
    write(path, bytes);
    ReadOptions options;
    options.files = {path};
    try {
        (void)read_traces(options);
        FAIL();
    } catch (const ConfigError& error) {
        EXPECT_PRED_FORMAT2(
            ::testing::IsSubstring, "byte 8: is rank 2 of 2; expected less", error.what());
    }
}

}  // namespace
}  // namespace switchfold::capture::damaged_capture_test
