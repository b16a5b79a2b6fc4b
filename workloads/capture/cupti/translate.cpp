// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/translate.h"

#include "workloads/capture/format/frame.h"

#include <array>
#include <string_view>

namespace switchfold::capture {

namespace {

// The record types of CUDA 13.0's CUPTI. Newer versions append fields.
using KernelActivity = CUpti_ActivityKernel10;
using CopyActivity = CUpti_ActivityMemcpy6;
using PeerCopyActivity = CUpti_ActivityMemcpyPtoP4;
using MemsetActivity = CUpti_ActivityMemset4;
using MarkerActivity = CUpti_ActivityMarker2;
using SynchronizationActivity = CUpti_ActivitySynchronization2;
using EventActivity = CUpti_ActivityCudaEvent2;
using DeviceActivity = CUpti_ActivityDevice5;

std::uint32_t unsigned_of(std::int32_t value) {
    return static_cast<std::uint32_t>(value);
}

std::uint32_t name_of(RecordSink& sink, const char* text) {
    return text == nullptr ? 0 : sink.name(text);
}

Kernel kernel(const KernelActivity& from, RecordSink& sink) {
    Kernel to;
    to.start = from.start;
    to.end = from.end;
    to.device = from.deviceId;
    to.context = from.contextId;
    to.stream = from.streamId;
    to.correlation = from.correlationId;
    to.graph_node = from.graphNodeId;
    to.name = name_of(sink, from.name);
    to.grid = {unsigned_of(from.gridX), unsigned_of(from.gridY), unsigned_of(from.gridZ)};
    to.block = {unsigned_of(from.blockX), unsigned_of(from.blockY), unsigned_of(from.blockZ)};
    to.cluster = {from.clusterX, from.clusterY, from.clusterZ};
    to.registers_per_thread = from.registersPerThread;
    to.static_shared = unsigned_of(from.staticSharedMemory);
    to.dynamic_shared = unsigned_of(from.dynamicSharedMemory);
    return to;
}

CopyDirection direction(std::uint8_t kind) {
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return CopyDirection::kHostToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return CopyDirection::kDeviceToHost;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
        return CopyDirection::kDeviceToDevice;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return CopyDirection::kPeer;
    default:
        return CopyDirection::kOther;
    }
}

/// Fields that copies and memsets share.
template <class Activity>
Copy copy_of(const Activity& from) {
    Copy to;
    to.start = from.start;
    to.end = from.end;
    to.device = from.deviceId;
    to.context = from.contextId;
    to.stream = from.streamId;
    to.correlation = from.correlationId;
    to.graph_node = from.graphNodeId;
    to.bytes = from.bytes;
    return to;
}

Copy copy(const CopyActivity& from) {
    Copy to = copy_of(from);
    to.direction = direction(from.copyKind);
    return to;
}

Copy peer_copy(const PeerCopyActivity& from) {
    Copy to = copy_of(from);
    to.direction = CopyDirection::kPeer;
    to.peer = from.deviceId == from.srcDeviceId ? from.dstDeviceId : from.srcDeviceId;
    return to;
}

Copy memset(const MemsetActivity& from) {
    Copy to = copy_of(from);
    to.direction = CopyDirection::kMemset;
    return to;
}

/// Whether traces need calls of this function.
bool matters(std::string_view function) {
    constexpr std::array<std::string_view, 7> kWords{
        "Launch", "Memcpy", "Memset", "Synchronize", "Event", "StreamWait", "MemPrefetch"};
    for (const std::string_view word : kWords)
        if (function.find(word) != std::string_view::npos)
            return function.find("Query") == std::string_view::npos;
    return false;
}

Translated call(
    const CUpti_ActivityAPI& from, RecordSink& sink, const CallName& call_name,
    std::string& frames) {
    const bool driver = from.kind == CUPTI_ACTIVITY_KIND_DRIVER;
    const char* const name =
        call_name(driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, from.cbid);
    if (name == nullptr || !matters(name))
        return Translated::kUnwanted;
    append_frame(
        frames, Call{
                    from.start, from.end, from.threadId, from.correlationId, sink.name(name),
                    driver, from.returnValue});
    return Translated::kWritten;
}

Marker marker(const MarkerActivity& from, RecordSink& sink) {
    Marker to;
    if ((from.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0)
        to.edge = Marker::Edge::kStart;
    else if ((from.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0)
        to.edge = Marker::Edge::kEnd;
    to.time = from.timestamp;
    to.id = from.id;
    to.thread = from.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD ? from.objectId.pt.threadId : 0;
    to.name = name_of(sink, from.name);
    to.domain = name_of(sink, from.domain);
    return to;
}

SynchronizationKind kind_of(CUpti_ActivitySynchronizationType type) {
    switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
        return SynchronizationKind::kEvent;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
        return SynchronizationKind::kStreamWait;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
        return SynchronizationKind::kStream;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
        return SynchronizationKind::kContext;
    default:
        return SynchronizationKind::kOther;
    }
}

Synchronization synchronization(const SynchronizationActivity& from) {
    return {from.start,     from.end,      from.correlationId, kind_of(from.type),
            from.contextId, from.streamId, from.cudaEventId,   from.cudaEventSyncId};
}

Device device(const DeviceActivity& from) {
    constexpr std::uint64_t kKilo = 1000;  // the driver reports kB/s
    Device to;
    to.id = from.id;
    to.name = from.name == nullptr ? "" : from.name;
    to.compute_major = from.computeCapabilityMajor;
    to.compute_minor = from.computeCapabilityMinor;
    to.sms = from.numMultiprocessors;
    to.l2_bytes = from.l2CacheSize;
    to.memory_bytes = from.globalMemorySize;
    to.memory_bandwidth = from.globalMemoryBandwidth * kKilo;
    to.core_clock_khz = from.coreClockRate;
    return to;
}

EventRecord event_record(const EventActivity& from) {
    return {from.correlationId, from.contextId, from.streamId, from.eventId, from.cudaEventSyncId};
}

StreamInfo stream(const CUpti_ActivityStream& from) {
    return {from.contextId, from.streamId, from.priority};
}

ExternalCorrelation external(const CUpti_ActivityExternalCorrelation& from) {
    return {from.correlationId, static_cast<std::uint32_t>(from.externalKind), from.externalId};
}

template <class Activity>
const Activity& as(const CUpti_Activity& activity) {
    return reinterpret_cast<const Activity&>(activity);
}

}  // namespace

Translated translate(
    const CUpti_Activity& activity, RecordSink& sink, const CallName& call_name,
    std::string& frames) {
    const auto write = [&frames](const auto& record) {
        append_frame(frames, record);
        return Translated::kWritten;
    };
    const auto write_work = [&](const auto& record) {
        return record.start == 0 || record.end < record.start ? Translated::kIncomplete
                                                              : write(record);
    };
    switch (activity.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return write_work(kernel(as<KernelActivity>(activity), sink));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return write_work(copy(as<CopyActivity>(activity)));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return write_work(peer_copy(as<PeerCopyActivity>(activity)));
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return write_work(memset(as<MemsetActivity>(activity)));
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return call(as<CUpti_ActivityAPI>(activity), sink, call_name, frames);
    case CUPTI_ACTIVITY_KIND_MARKER:
        return write(marker(as<MarkerActivity>(activity), sink));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return write(synchronization(as<SynchronizationActivity>(activity)));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
        return write(event_record(as<EventActivity>(activity)));
    case CUPTI_ACTIVITY_KIND_STREAM:
        return write(stream(as<CUpti_ActivityStream>(activity)));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
        return write(external(as<CUpti_ActivityExternalCorrelation>(activity)));
    case CUPTI_ACTIVITY_KIND_DEVICE:
        return write(device(as<DeviceActivity>(activity)));
    default:
        return Translated::kUnwanted;
    }
}

}  // namespace switchfold::capture
