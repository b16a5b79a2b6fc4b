// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/nccl/calls.h"
#include "workloads/capture/runtime/clock.h"
#include "workloads/capture/runtime/process.h"

#include <memory>
#include <mutex>
#include <set>

// NCCL's profiler plugin (NCCL_PROFILER_PLUGIN). It writes a record when an event starts, right
// after its kernel's launch, and nothing at its end: NCCL ends these events when the work is
// queued, not when the GPU is done. CUPTI provides the kernels' times.
namespace switchfold::capture::nccl {

namespace {

/// What a plugin context stores about its communicator.
struct Context {
    std::uint64_t communicator = 0;
    std::mutex mutex;
    std::set<std::uint64_t> told;  ///< communicators already recorded
};

/// A dummy handle: NCCL requires one per event, and this plugin keeps no per-event state.
void* event_handle() {
    static char handle = 0;
    return &handle;
}

Result begin(void** context, int* activation_mask, std::unique_ptr<Context> made) {
    // NCCL treats an error as "no plugin" and continues.
    if (process_recorder() == nullptr)
        return kSystemError;
    *context = made.release();
    *activation_mask = kCollective | kPointToPoint;
    return kSuccess;
}

Result init_until_v3(void** context, int* activation_mask) {
    return begin(context, activation_mask, std::make_unique<Context>());
}

Result init_v4(
    void** context, int* activation_mask, const char* communicator_name, std::uint64_t communicator,
    int nodes, int ranks, int rank, LogFunction /*log*/) {
    auto made = std::make_unique<Context>();
    made->communicator = communicator;
    made->told.insert(communicator);
    if (Recorder* const recorder = process_recorder())
        recorder->add(Communicator{
            communicator, communicator_name == nullptr ? "" : communicator_name,
            static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(ranks),
            static_cast<std::uint32_t>(nodes)});
    return begin(context, activation_mask, std::move(made));
}

/// Records a communicator. Up to version 3 it is reported with each event, without its number of
/// ranks.
void tell_communicator(Context& context, const NcclCall& call, const char* name, int rank) {
    const std::lock_guard lock(context.mutex);
    if (context.told.insert(call.communicator).second)
        process_recorder()->add(Communicator{
            call.communicator, name == nullptr ? "" : name, static_cast<std::uint32_t>(rank), 0,
            0});
}

template <class EventDescription>
Result start_event(void* context, void** event, EventDescription* description) {
    *event = event_handle();
    std::optional<NcclCall> call = call_of(*description);
    if (!call)
        return kSuccess;
    auto& known = *static_cast<Context*>(context);
    if (known.communicator != 0)
        call->communicator = known.communicator;
    else
        tell_communicator(known, *call, communicator_name(*description), description->rank);
    call->start = clock_ns();
    call->thread = thread_id();
    process_recorder()->add(*call);
    return kSuccess;
}

Result stop_event(void* /*event*/) {
    return kSuccess;
}

Result record_event_state(void* /*event*/, int /*state*/, void* /*arguments*/) {
    return kSuccess;
}

Result finalize(void* context) {
    const std::unique_ptr<Context> ended(static_cast<Context*>(context));
    return kSuccess;
}

template <class Init, class EventDescription>
constexpr Profiler<Init, EventDescription> profiler(Init init) {
    return {"switchfold-capture", init,    start_event<EventDescription>, stop_event,
            record_event_state,   finalize};
}

}  // namespace

}  // namespace switchfold::capture::nccl

extern "C" {

namespace nccl = switchfold::capture::nccl;

#define SWITCHFOLD_PROFILER(version, Init, init)                                                   \
    __attribute__((visibility(                                                                     \
        "default"))) extern const nccl::Profiler<nccl::Init, nccl::DescriptionV##version>          \
        ncclProfiler_v##version;                                                                   \
    const nccl::Profiler<nccl::Init, nccl::DescriptionV##version> ncclProfiler_v##version =        \
        nccl::profiler<nccl::Init, nccl::DescriptionV##version>(nccl::init)

SWITCHFOLD_PROFILER(1, InitUntilV3, init_until_v3);
SWITCHFOLD_PROFILER(2, InitUntilV3, init_until_v3);
SWITCHFOLD_PROFILER(3, InitUntilV3, init_until_v3);
SWITCHFOLD_PROFILER(4, InitV4, init_v4);

}  // extern "C"
