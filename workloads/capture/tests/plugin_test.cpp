// SPDX-License-Identifier: Apache-2.0
#include "core/tests/temporary_folder.h"
#include "workloads/capture/capture_file.h"
#include "workloads/capture/nccl/interface.h"
#include "workloads/capture/runtime/settings.h"
#include "workloads/capture/tests/child_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <dlfcn.h>

// Loads the plugin and calls it as NCCL does. Each test runs in a child process, because a process
// has only one capture.
namespace switchfold::capture::nccl::plugin_test {
namespace {

void* symbol(const char* name) {
    static void* const library = dlopen(SWITCHFOLD_CAPTURE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : dlsym(library, name);
}

template <class Init, class EventDescription>
int drive(const char* name, Result (*begin)(Init, void**, int*), EventDescription& description) {
    const auto* plugin = static_cast<const Profiler<Init, EventDescription>*>(symbol(name));
    if (plugin == nullptr || std::string(plugin->name) != "switchfold-capture")
        return 1;
    void* context = nullptr;
    int mask = 0;
    if (begin(plugin->init, &context, &mask) != kSuccess)
        return 2;
    if (mask != (kCollective | kPointToPoint))
        return 3;
    void* event = nullptr;
    if (plugin->start_event(context, &event, &description) != kSuccess || event == nullptr)
        return 4;
    if (plugin->record_event_state(event, 0, nullptr) != kSuccess ||
        plugin->stop_event(event) != kSuccess || plugin->finalize(context) != kSuccess)
        return 5;
    return 0;
}

Result begin_until_v3(InitUntilV3 init, void** context, int* mask) {
    return init(context, mask);
}
Result begin_v4(InitV4 init, void** context, int* mask) {
    return init(context, mask, "tensor parallel", 77, 2, 16, 5, nullptr);
}

class PluginTest : public ::testing::Test {
protected:
    template <class Init, class EventDescription>
    int run(const char* name, Result (*begin)(Init, void**, int*), EventDescription& description) {
        const int status = status_of_child([&] {
            setenv(kDirectoryVariable, folder_.path().c_str(), 1);
            setenv("RANK", "5", 1);
            setenv("WORLD_SIZE", "16", 1);
            return drive(name, begin, description);
        });
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    [[nodiscard]] CaptureFile capture() const {
        return read_capture(folder_.path() / "rank5.sfcapture");
    }
    TemporaryFolder folder_;
};

template <class EventDescription>
EventDescription collective() {
    EventDescription description{};
    description.type = kCollective;
    description.rank = 5;
    auto& part = description.collective;
    part.sequence = 41;
    part.count = 1000;
    part.root = 0;
    part.channels = 24;
    part.warps = 17;
    if constexpr (requires { part.communicator; }) {
        part.communicator = 77;
        part.communicator_name = "tensor parallel";
    }
    if constexpr (std::is_same_v<decltype(part.function), std::uint8_t>) {
        part.function = 4;
        part.datatype = 7;
        part.algorithm = 1;
        part.protocol = 2;
    } else {
        part.function = "AllReduce";
        part.datatype = "ncclFloat32";
        part.algorithm = "RING";
        part.protocol = "SIMPLE";
    }
    return description;
}

void expect_all_reduce(const CaptureFile& capture, std::uint32_t ranks) {
    EXPECT_EQ(capture.session.rank, 5U);
    ASSERT_EQ(capture.communicators.size(), 1U);
    EXPECT_EQ(capture.communicators[0].hash, 77U);
    EXPECT_EQ(capture.communicators[0].name, "tensor parallel");
    EXPECT_EQ(capture.communicators[0].rank, 5U);
    EXPECT_EQ(capture.communicators[0].ranks, ranks);
    ASSERT_EQ(capture.nccl_calls.size(), 1U);
    const NcclCall& call = capture.nccl_calls[0];
    EXPECT_EQ(call.communicator, 77U);
    EXPECT_EQ(call.sequence, 41U);
    EXPECT_EQ(call.function, "AllReduce");
    EXPECT_EQ(call.datatype, "ncclFloat32");
    EXPECT_EQ(call.count, 1000U);
    EXPECT_EQ(call.channels, 24U);
    EXPECT_EQ(call.warps, 17U);
    EXPECT_EQ(call.algorithm, "RING");
    EXPECT_EQ(call.protocol, "SIMPLE");
    EXPECT_GT(call.start, 0U);
    EXPECT_GT(call.thread, 0U);
}

TEST_F(PluginTest, Version1TellsNumbers) {
    auto description = collective<DescriptionV1>();
    ASSERT_EQ(run("ncclProfiler_v1", begin_until_v3, description), 0);
    expect_all_reduce(capture(), 0);
}

TEST_F(PluginTest, Version2) {
    auto description = collective<DescriptionV2>();
    ASSERT_EQ(run("ncclProfiler_v2", begin_until_v3, description), 0);
    expect_all_reduce(capture(), 0);
}

TEST_F(PluginTest, Version3) {
    auto description = collective<DescriptionV3>();
    ASSERT_EQ(run("ncclProfiler_v3", begin_until_v3, description), 0);
    expect_all_reduce(capture(), 0);
}

TEST_F(PluginTest, Version4TellsTheCommunicatorOnce) {
    auto description = collective<DescriptionV4>();
    ASSERT_EQ(run("ncclProfiler_v4", begin_v4, description), 0);
    expect_all_reduce(capture(), 16);
}

TEST_F(PluginTest, PointToPoint) {
    DescriptionV4 description{};
    description.type = kPointToPoint;
    description.point_to_point = {"Send", nullptr, "ncclBfloat16", 512, 3, 8};
    ASSERT_EQ(run("ncclProfiler_v4", begin_v4, description), 0);
    const CaptureFile file = capture();
    ASSERT_EQ(file.nccl_calls.size(), 1U);
    EXPECT_EQ(file.nccl_calls[0].function, "Send");
    EXPECT_EQ(file.nccl_calls[0].root_or_peer, 3U);
    EXPECT_EQ(file.nccl_calls[0].channels, 8U);
    EXPECT_EQ(file.nccl_calls[0].count, 512U);
}

TEST_F(PluginTest, OtherEventsAreNotRecorded) {
    DescriptionV4 group{};
    group.type = 1;
    ASSERT_EQ(run("ncclProfiler_v4", begin_v4, group), 0);
    EXPECT_TRUE(capture().nccl_calls.empty());
}

TEST_F(PluginTest, WithoutACaptureNcclIsToldToGoOnWithoutIt) {
    const int status = status_of_child([] {
        unsetenv(kDirectoryVariable);
        auto description = collective<DescriptionV4>();
        return drive("ncclProfiler_v4", begin_v4, description);
    });
    EXPECT_EQ(WEXITSTATUS(status), 2);
}

// The structs must match NCCL's layout: offsets as in its headers on 64-bit Linux.
static_assert(offsetof(DescriptionV4, collective) == 24);
static_assert(offsetof(CollectiveV4, protocol) == 72);
static_assert(offsetof(CollectiveV3, protocol) == 88);

}  // namespace
}  // namespace switchfold::capture::nccl::plugin_test
