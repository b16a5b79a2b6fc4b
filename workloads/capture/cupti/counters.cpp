// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/counters.h"

#include "workloads/capture/cupti/check.h"
#include "workloads/capture/cupti/launches.h"
#include "workloads/capture/cupti/range_profiler.h"
#include "workloads/capture/format/frame.h"

#include <array>
#include <memory>
#include <mutex>
#include <string>

namespace switchfold::capture {

namespace {

/// Kernels between two reads of the counters, hence the most that a killed process loses.
constexpr std::size_t kBatch = 256;

constexpr std::array kLaunches{
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};
constexpr std::array kGraphLaunches{
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};

struct Shape {
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
};

template <class Arguments>
Shape shape_of(const Arguments& a) {
    return {{a.gridDimX, a.gridDimY, a.gridDimZ}, {a.blockDimX, a.blockDimY, a.blockDimZ}};
}

Shape shape_of(CUpti_CallbackId call, const void* arguments) {
    switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
        return shape_of(*static_cast<const cuLaunchKernelEx_params*>(arguments)->config);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
        return shape_of(*static_cast<const cuLaunchCooperativeKernel_params*>(arguments));
    default:
        return shape_of(*static_cast<const cuLaunchKernel_params*>(arguments));
    }
}

/// Counts the launches reported by its callback, in the first context only.
class Counting {
public:
    explicit Counting(RecordSink& sink) : sink_(sink) {
        check_cupti(
            cuptiSubscribe(&subscriber_, on_call, this), "subscribing (is a profiler active?)");
        for (const CUpti_CallbackId call : kLaunches)
            check_cupti(
                cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call),
                "watching launches");
        for (const CUpti_CallbackId call : kGraphLaunches)
            check_cupti(
                cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, call),
                "watching launches");
    }
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;
    ~Counting() {
        cuptiUnsubscribe(subscriber_);
        const std::lock_guard lock(mutex_);
        guarded([this] { drain(); });
        lost(graphs_, "CUDA graphs whose kernels were not counted");
        lost(other_contexts_, "kernels of a second context that were not counted");
    }

private:
    static void CUPTIAPI
    on_call(void* self, CUpti_CallbackDomain /*domain*/, CUpti_CallbackId call, const void* data) {
        const auto& info = *static_cast<const CUpti_CallbackData*>(data);
        if (info.callbackSite == CUPTI_API_ENTER)
            static_cast<Counting*>(self)->launch(call, info);
    }

    void launch(CUpti_CallbackId call, const CUpti_CallbackData& info) {
        const std::lock_guard lock(mutex_);
        if (failed_)
            return;
        if (call == kGraphLaunches[0] || call == kGraphLaunches[1]) {
            ++graphs_;
            guarded([this] { drain(); });
            return;
        }
        guarded([&] { kernel(info, shape_of(call, info.functionParams)); });
    }

    void kernel(const CUpti_CallbackData& info, const Shape& shape) {
        const std::string_view name = info.symbolName == nullptr ? "" : info.symbolName;
        if (context_ == nullptr)
            context_ = info.context;
        const bool counts = info.context == context_ && !waits_for_peers(name);
        if (!counts || launches_.full())
            drain();
        if (!counts) {
            other_contexts_ += info.context == context_ ? 0 : 1;
            launches_.skip(name, shape.grid, shape.block);
            return;
        }
        if (!profiler_)
            profiler_ = std::make_unique<RangeProfiler>(context_, kBatch);
        if (!profiler_->running())
            profiler_->start();
        launches_.add(name, shape.grid, shape.block);
    }

    /// Writes the counters of all launches so far and stops counting.
    void drain() {
        if (!profiler_ || !profiler_->running())
            return;
        const std::vector<CountedLaunch> launches = launches_.take();
        const std::vector<DramBytes> bytes = profiler_->stop();
        if (launches.size() != bytes.size()) {
            lost(launches.size(), "kernels whose counters could not be told apart");
            return;
        }
        std::string frames;
        for (std::size_t i = 0; i < launches.size(); ++i)
            append_frame(
                frames, Counters{
                            sink_.name(launches[i].kernel), launches[i].grid, launches[i].block,
                            launches[i].ordinal, bytes[i].read, bytes[i].written});
        sink_.write(frames);
    }

    void lost(std::uint64_t count, const std::string& what) {
        if (count == 0)
            return;
        std::string frame;
        append_frame(frame, Lost{count, what});
        sink_.write(frame);
    }

    /// Runs `action`; on an exception, which must not propagate into CUDA, counting ends and the
    /// program continues.
    template <class Action>
    void guarded(const Action& action) {
        try {
            action();
        } catch (const std::exception& error) {
            failed_ = true;
            lost(1, std::string("counters from here on: ") + error.what());
        }
    }

    RecordSink& sink_;
    CUpti_SubscriberHandle subscriber_ = nullptr;
    std::mutex mutex_;
    CUcontext context_ = nullptr;
    std::unique_ptr<RangeProfiler> profiler_;
    Launches launches_{kBatch};
    std::uint64_t graphs_ = 0;
    std::uint64_t other_contexts_ = 0;
    bool failed_ = false;
};

/// Global, because start and stop are called from C entry points without a context.
std::unique_ptr<Counting>& counting() {
    static std::unique_ptr<Counting> one;
    return one;
}

}  // namespace

void start_counters(RecordSink& sink) {
    counting() = std::make_unique<Counting>(sink);
}

void stop_counters() {
    counting().reset();
}

}  // namespace switchfold::capture
