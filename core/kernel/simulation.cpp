// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/simulation.h"

#include "core/error.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace switchfold {

namespace {

// Simulated time between two calls of the progress hook; a slice costs about 100 ns.
constexpr std::uint64_t kSlicePs = 20'000'000;
// A slice with more events than this halves the next one, so that the hook is called in time even
// if events are a picosecond apart. The first slices are short for the same reason.
constexpr std::uint64_t kSliceEvents = 1'000'000;
constexpr std::uint64_t kShortestSlicePs = 1'000;

struct First final : sc_core::sc_module {
    explicit First(const sc_core::sc_module_name& name) : sc_module(name) {}
};

void select(sc_core::sc_simcontext* context) {
    sc_core::sc_curr_simcontext = context;
    sc_core::sc_default_global_context = context;
}

}  // namespace

Simulation::Simulation() {
    // Otherwise the first kernel call of the process prints SystemC's banner. No other thread runs
    // yet.
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);  // NOLINT(concurrency-mt-unsafe)
    context_ = std::make_unique<sc_core::sc_simcontext>();
    select(context_.get());
    sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
    sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    SWITCHFOLD_CHECK(
        sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_PS),
        "SystemC's time resolution is not 1 ps");
    first_ = {std::make_unique<First>("first"), std::make_unique<First>("second")};
    scheduler_ = std::make_unique<Scheduler>("scheduler");
}

Simulation::~Simulation() {
    scheduler_.reset();
    first_ = {};
    context_.reset();
    select(nullptr);
}

Time Simulation::run(const Progress& progress) {
    // However it ends: whoever stops a run by an exception destroys as many modules.
    struct AtEnd {
        std::array<std::unique_ptr<sc_core::sc_module>, 2>& first;
        ~AtEnd() { first = {}; }
    };
    const AtEnd at_end{first_};
    Scheduler& scheduler = *scheduler_;
    scheduler.set_horizon(Time(UINT64_MAX));
    if (!progress) {
        sc_core::sc_start();
    } else {
        std::uint64_t before = UINT64_MAX;
        std::uint64_t usual = kShortestSlicePs;
        while (!scheduler.failure()) {
            const std::uint64_t now = sc_core::sc_time_stamp().value();
            std::uint64_t slice = usual;
            // After an idle slice, the next slice extends to the next event.
            const bool idle = std::exchange(before, scheduler.events()) == scheduler.events();
            if (idle && !scheduler.empty())
                slice = std::max(slice, scheduler.next_due().count() - now);
            scheduler.set_horizon(Time(now + slice));
            sc_core::sc_start(sc_core::sc_time::from_value(slice), sc_core::SC_RUN_TO_TIME);
            usual = scheduler.events() - before > kSliceEvents
                        ? std::max(usual / 2, kShortestSlicePs)
                        : std::min(usual * 2, kSlicePs);
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
