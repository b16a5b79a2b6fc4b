// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/cupti/activities.h"
#include "workloads/capture/cupti/counters.h"
#include "workloads/capture/runtime/cupti_module.h"

#include <exception>
#include <string>

namespace {

const char* start(switchfold::capture::RecordSink& sink, bool counters) {
    static std::string problem;
    try {
        if (counters)
            switchfold::capture::start_counters(sink);
        else
            switchfold::capture::start_activities(sink);
        return nullptr;
    } catch (const std::exception& error) {
        problem = error.what();
        return problem.c_str();
    }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char*
switchfold_capture_attach(switchfold::capture::RecordSink* sink, bool counters);
__attribute__((visibility("default"))) void switchfold_capture_detach();

const char* switchfold_capture_attach(switchfold::capture::RecordSink* sink, bool counters) {
    return start(*sink, counters);
}

void switchfold_capture_detach() {
    switchfold::capture::stop_counters();
    switchfold::capture::stop_activities();
}

}  // extern "C"
