// SPDX-License-Identifier: Apache-2.0
#include "workloads/capture/runtime/process.h"

#include <cstdlib>

namespace switchfold::capture {

namespace {

void finish_at_exit() {
    if (Recorder* const recorder = process_recorder())
        recorder->finish();
}

Recorder* make() {
    const std::optional<Settings> settings = settings_from(process_environment());
    if (!settings)
        return nullptr;
    std::unique_ptr<Recorder> recorder = Recorder::open(*settings);
    if (recorder)
        std::atexit(finish_at_exit);
    return recorder.release();
}

}  // namespace

Recorder* process_recorder() {
    static Recorder* const recorder = make();
    return recorder;
}

}  // namespace switchfold::capture
