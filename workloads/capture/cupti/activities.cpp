// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/activities.h"

#include "workloads/capture/cupti/check.h"
#include "workloads/capture/cupti/translate.h"
#include "workloads/capture/format/frame.h"
#include "workloads/capture/runtime/clock.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

namespace switchfold::capture {

namespace {

// Some thousand records: small, so that little is lost if the process is killed. CUPTI requires
// buffers aligned to 8 bytes.
constexpr std::size_t kBufferBytes = 1U << 20U;
constexpr std::size_t kAlignment = 8;
constexpr std::chrono::milliseconds kFlushEvery{500};

struct Kind {
    CUpti_ActivityKind kind;
    const char* what;
};
/// Without kernels there is no capture; the other kinds are optional.
constexpr std::array kKinds{
    Kind{CUPTI_ACTIVITY_KIND_DEVICE, "devices"},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY, "copies"},
    Kind{CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between devices"},
    Kind{CUPTI_ACTIVITY_KIND_MEMSET, "memsets"},
    Kind{CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the runtime"},
    Kind{CUPTI_ACTIVITY_KIND_DRIVER, "calls of the driver"},
    Kind{CUPTI_ACTIVITY_KIND_MARKER, "NVTX ranges"},
    Kind{CUPTI_ACTIVITY_KIND_STREAM, "streams"},
    Kind{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation"},
    Kind{CUPTI_ACTIVITY_KIND_CUDA_EVENT, "events"},
    Kind{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "external correlations"}};

/// Destination of records. CUPTI's callbacks carry no user context, so this is the module's only
/// global state.
std::atomic<RecordSink*>& target() {
    static std::atomic<RecordSink*> sink = nullptr;
    return sink;
}

const char* call_name(CUpti_CallbackDomain domain, CUpti_CallbackId call) {
    const char* name = nullptr;
    return cuptiGetCallbackName(domain, call, &name) == CUPTI_SUCCESS ? name : nullptr;
}

void write_lost(RecordSink& sink, std::uint64_t count, const std::string& what) {
    std::string frame;
    append_frame(frame, Lost{count, what});
    sink.write(frame);
}

void report_lost(RecordSink& sink, std::uint64_t count, const char* what) {
    if (count != 0)
        write_lost(sink, count, what);
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBufferBytes));
    *size = *buffer == nullptr ? 0 : kBufferBytes;
    *max_records = 0;  // no limit
}

void CUPTIAPI take_buffer(
    CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t /*size*/,
    std::size_t valid) {
    if (RecordSink* const sink = target().load()) {
        std::string frames;
        std::uint64_t incomplete = 0;
        CUpti_Activity* activity = nullptr;
        while (cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS)
            if (translate(*activity, *sink, call_name, frames) == Translated::kIncomplete)
                ++incomplete;
        sink->write(frames);
        report_lost(*sink, incomplete, "GPU work that had not ended when the program did");
        std::size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
            report_lost(*sink, dropped, "activity records that CUPTI dropped");
    }
    std::free(buffer);
}

/// Periodically requests CUPTI's completed records; CUPTI's own periodic flush delivers only full
/// buffers.
class Flusher {
public:
    Flusher() : thread_([this] { run(); }) {}
    Flusher(const Flusher&) = delete;
    Flusher& operator=(const Flusher&) = delete;
    ~Flusher() {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        wake_.notify_one();
        thread_.join();
    }

private:
    void run() {
        std::unique_lock lock(mutex_);
        while (!wake_.wait_for(lock, kFlushEvery, [this] { return stop_; }))
            cuptiActivityFlushAll(0);
    }
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::thread thread_;
};

/// Global, because start and stop are called from C entry points without a context.
std::unique_ptr<Flusher>& flusher() {
    static std::unique_ptr<Flusher> one;
    return one;
}

}  // namespace

void start_activities(RecordSink& sink) {
    target() = &sink;
    check_cupti(cuptiActivityRegisterTimestampCallback(clock_ns), "setting the clock");
    check_cupti(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), "choosing thread ids");
    check_cupti(
        cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
        "registering buffers (is another profiler active?)");
    check_cupti(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "enabling kernels");
    for (const Kind& kind : kKinds)
        if (cuptiActivityEnable(kind.kind) != CUPTI_SUCCESS)
            write_lost(sink, 0, std::string("CUPTI cannot record ") + kind.what);
    flusher() = std::make_unique<Flusher>();
}

void stop_activities() {
    if (!flusher())
        return;
    flusher().reset();
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    target() = nullptr;
}

}  // namespace switchfold::capture
