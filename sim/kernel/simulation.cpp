// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel/simulation.h"

#include "sim/core/error.h"

#include <cstdlib>

namespace switchfold {

namespace {

// Simulated time between two calls of the progress hook; a slice costs the kernel some 100 ns.
constexpr std::uint64_t kSlicePs = 20'000'000;

void select(sc_core::sc_simcontext* context) {
    sc_core::sc_curr_simcontext = context;
    sc_core::sc_default_global_context = context;
}

}  // namespace

Simulation::Simulation() {
    // Else the first kernel call of the process prints SystemC's banner. No other thread runs yet.
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);  // NOLINT(concurrency-mt-unsafe)
    context_ = std::make_unique<sc_core::sc_simcontext>();
    select(context_.get());
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    SWITCHFOLD_CHECK(
        sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_PS),
        "SystemC's time resolution is not 1 ps");
    scheduler_ = std::make_unique<Scheduler>("scheduler");
}

Simulation::~Simulation() {
    scheduler_.reset();
    context_.reset();
    select(nullptr);
}

Time Simulation::run(const Progress& progress) {
    Scheduler& scheduler = *scheduler_;
    scheduler.set_horizon(Time(UINT64_MAX));
    if (!progress) {
        sc_core::sc_start();
    } else {
        while (!scheduler.failure()) {
            const std::uint64_t horizon = sc_core::sc_time_stamp().value() + kSlicePs;
            scheduler.set_horizon(Time(horizon));
            sc_core::sc_start(sc_core::sc_time::from_value(kSlicePs), sc_core::SC_RUN_TO_TIME);
            if (!progress(
                    Time(sc_core::sc_time_stamp().value()) + scheduler.skipped(),
                    scheduler.events()))
                break;
            if (scheduler.empty() && !sc_core::sc_pending_activity())
                break;
        }
    }
    if (scheduler.failure())
        std::rethrow_exception(scheduler.failure());
    return scheduler.last_event() + scheduler.skipped();
}

}  // namespace switchfold
