// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/translate.h"

#include "workloads/capture/cupti/launches.h"
#include "workloads/capture/format/frame.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace switchfold::capture::translate_test {
namespace {

/// Collects the written records in memory.
class Kept final : public RecordSink {
public:
    std::uint32_t name(std::string_view text) override {
        return names_.emplace(text, static_cast<std::uint32_t>(names_.size() + 1)).first->second;
    }
    void write(std::string_view frames) override { bytes_ += frames; }

private:
    std::map<std::string, std::uint32_t, std::less<>> names_;
    std::string bytes_;
};

const char* call_name(CUpti_CallbackDomain domain, CUpti_CallbackId call) {
    if (call == 7)
        return domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuLaunchKernel" : "cudaLaunchKernel_v7000";
    return call == 8 ? "cudaEventQuery_v3020" : "cudaGetDevice_v3020";
}

class TranslateTest : public ::testing::Test {
protected:
    template <class Activity>
    Translated translate_one(const Activity& activity) {
        frames_.clear();
        return translate(
            reinterpret_cast<const CUpti_Activity&>(activity), sink_, call_name, frames_);
    }
    template <class R, class Activity>
    R record_of(const Activity& activity) {
        EXPECT_EQ(translate_one(activity), Translated::kWritten);
        return std::get<R>(decode(frame_at(frames_, 0).value()).value());
    }
    Kept sink_;
    std::string frames_;
};

CUpti_ActivityKernel10 kernel() {
    CUpti_ActivityKernel10 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    activity.start = 100;
    activity.end = 250;
    activity.deviceId = 1;
    activity.contextId = 2;
    activity.streamId = 7;
    activity.correlationId = 99;
    activity.graphNodeId = 12;
    activity.registersPerThread = 64;
    activity.staticSharedMemory = 1024;
    activity.dynamicSharedMemory = 2048;
    activity.gridX = 10;
    activity.gridY = 20;
    activity.gridZ = 3;
    activity.blockX = 128;
    activity.blockY = 2;
    activity.blockZ = 1;
    activity.clusterX = 2;
    activity.name = "gemm";
    return activity;
}

TEST_F(TranslateTest, Kernel) {
    const Kernel to = record_of<Kernel>(kernel());
    EXPECT_EQ(to.start, 100U);
    EXPECT_EQ(to.end, 250U);
    EXPECT_EQ(to.device, 1U);
    EXPECT_EQ(to.context, 2U);
    EXPECT_EQ(to.stream, 7U);
    EXPECT_EQ(to.correlation, 99U);
    EXPECT_EQ(to.graph_node, 12U);
    EXPECT_EQ(to.name, sink_.name("gemm"));
    EXPECT_EQ(to.registers_per_thread, 64U);
    EXPECT_EQ(to.static_shared, 1024U);
    EXPECT_EQ(to.dynamic_shared, 2048U);
    EXPECT_EQ(to.grid, (std::array<std::uint32_t, 3>{10, 20, 3}));
    EXPECT_EQ(to.block, (std::array<std::uint32_t, 3>{128, 2, 1}));
    EXPECT_EQ(to.cluster[0], 2U);
}

TEST_F(TranslateTest, AKernelThatHasNotEndedIsIncomplete) {
    CUpti_ActivityKernel10 activity = kernel();
    activity.end = 0;
    EXPECT_EQ(translate_one(activity), Translated::kIncomplete);
    activity = kernel();
    activity.start = 0;
    EXPECT_EQ(translate_one(activity), Translated::kIncomplete);
    EXPECT_TRUE(frames_.empty());
}

TEST_F(TranslateTest, Copies) {
    CUpti_ActivityMemcpy6 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    activity.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    activity.start = 5;
    activity.end = 6;
    activity.bytes = 4096;
    activity.streamId = 3;
    const Copy to = record_of<Copy>(activity);
    EXPECT_EQ(to.direction, CopyDirection::kHostToDevice);
    EXPECT_EQ(to.bytes, 4096U);
    EXPECT_EQ(to.stream, 3U);
    activity.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    EXPECT_EQ(record_of<Copy>(activity).direction, CopyDirection::kDeviceToHost);
    activity.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    EXPECT_EQ(record_of<Copy>(activity).direction, CopyDirection::kDeviceToDevice);
    activity.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
    EXPECT_EQ(record_of<Copy>(activity).direction, CopyDirection::kOther);
}

TEST_F(TranslateTest, PeerCopiesNameTheOtherDevice) {
    CUpti_ActivityMemcpyPtoP4 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
    activity.start = 5;
    activity.end = 6;
    activity.deviceId = 1;
    activity.srcDeviceId = 1;
    activity.dstDeviceId = 4;
    EXPECT_EQ(record_of<Copy>(activity).peer, 4U);
    activity.deviceId = 4;
    EXPECT_EQ(record_of<Copy>(activity).peer, 1U);
}

TEST_F(TranslateTest, Memset) {
    CUpti_ActivityMemset4 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    activity.start = 5;
    activity.end = 6;
    activity.bytes = 64;
    EXPECT_EQ(record_of<Copy>(activity).direction, CopyDirection::kMemset);
}

TEST_F(TranslateTest, CallsThatMatter) {
    CUpti_ActivityAPI activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    activity.cbid = 7;
    activity.start = 1;
    activity.end = 2;
    activity.threadId = 44;
    activity.correlationId = 55;
    const Call to = record_of<Call>(activity);
    EXPECT_EQ(to.name, sink_.name("cudaLaunchKernel_v7000"));
    EXPECT_EQ(to.thread, 44U);
    EXPECT_EQ(to.correlation, 55U);
    EXPECT_FALSE(to.driver);
    activity.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    EXPECT_TRUE(record_of<Call>(activity).driver);
    activity.cbid = 8;
    EXPECT_EQ(translate_one(activity), Translated::kUnwanted);
    activity.cbid = 9;
    EXPECT_EQ(translate_one(activity), Translated::kUnwanted);
}

TEST_F(TranslateTest, Markers) {
    CUpti_ActivityMarker2 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_MARKER;
    activity.flags = CUPTI_ACTIVITY_FLAG_MARKER_START;
    activity.timestamp = 9;
    activity.id = 3;
    activity.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    activity.objectId.pt.threadId = 44;
    activity.name = "forward";
    const Marker start = record_of<Marker>(activity);
    EXPECT_EQ(start.edge, Marker::Edge::kStart);
    EXPECT_EQ(start.thread, 44U);
    EXPECT_EQ(start.name, sink_.name("forward"));
    activity.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
    activity.name = nullptr;
    EXPECT_EQ(record_of<Marker>(activity).edge, Marker::Edge::kEnd);
}

TEST_F(TranslateTest, SynchronizationAndEvents) {
    CUpti_ActivitySynchronization2 wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    wait.streamId = 7;
    wait.cudaEventSyncId = 1234;
    const Synchronization to = record_of<Synchronization>(wait);
    EXPECT_EQ(to.kind, SynchronizationKind::kStreamWait);
    EXPECT_EQ(to.event_record, 1234U);
    CUpti_ActivityCudaEvent2 event{};
    event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
    event.streamId = 8;
    event.cudaEventSyncId = 1234;
    EXPECT_EQ(record_of<EventRecord>(event).event_record, 1234U);
}

TEST_F(TranslateTest, DeviceStatesItsBandwidthInBytes) {
    CUpti_ActivityDevice5 activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    activity.name = "NVIDIA H200";
    activity.numMultiprocessors = 132;
    activity.globalMemoryBandwidth = 4'800'000'000;
    const Device to = record_of<Device>(activity);
    EXPECT_EQ(to.name, "NVIDIA H200");
    EXPECT_EQ(to.sms, 132U);
    EXPECT_EQ(to.memory_bandwidth, 4'800'000'000'000U);
}

TEST_F(TranslateTest, OtherKindsAreUnwanted) {
    CUpti_Activity activity{};
    activity.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    EXPECT_EQ(translate_one(activity), Translated::kUnwanted);
}

TEST(Launches, OrdinalsCountKernelsOfTheSameShape) {
    Launches launches(3);
    launches.add("gemm", {1, 1, 1}, {128, 1, 1});
    launches.add("gemm", {2, 1, 1}, {128, 1, 1});
    EXPECT_FALSE(launches.full());
    launches.add("gemm", {1, 1, 1}, {128, 1, 1});
    EXPECT_TRUE(launches.full());
    std::vector<CountedLaunch> taken = launches.take();
    ASSERT_EQ(taken.size(), 3U);
    EXPECT_EQ(taken[0].ordinal, 0U);
    EXPECT_EQ(taken[1].ordinal, 0U);
    EXPECT_EQ(taken[2].ordinal, 1U);
    launches.skip("gemm", {1, 1, 1}, {128, 1, 1});
    launches.add("gemm", {1, 1, 1}, {128, 1, 1});
    taken = launches.take();
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].ordinal, 3U);
}

TEST(Launches, CollectivesAreNotRunAlone) {
    EXPECT_TRUE(waits_for_peers("_Z31ncclDevKernel_AllReduce_Sum_f32"));
    EXPECT_FALSE(waits_for_peers("ampere_sgemm_128x64_nn"));
}

}  // namespace
}  // namespace switchfold::capture::translate_test
