// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/kernel/scheduler.h"
#include "core/units.h"

#include <systemc>

#include <array>
#include <functional>
#include <memory>

namespace switchfold {

/// One SystemC kernel; a process can run many simulations in sequence, never two at once. Construct
/// it first, then build modules, run, destroy the modules, and finally destroy it.
class Simulation {
public:
    Simulation();
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;
    Simulation(Simulation&&) = delete;
    Simulation& operator=(Simulation&&) = delete;

    [[nodiscard]] Scheduler& scheduler() { return *scheduler_; }

    /// Called between slices of simulated time, with the WorldClock's time; return false to stop
    /// the run (the caller then reports it as unfinished).
    using Progress = std::function<bool(Time now, std::uint64_t events)>;

    /// Runs until no event is left or `progress` stops it. Rethrows a model's exception with its
    /// type. \returns the WorldClock's time of the last event.
    ///
    /// SystemC looks for a module that goes from the first one on, and puts the last one in its
    /// place. Once run() has ended, the first two are gone: the kernel's own last module is then
    /// the first, and modules that go in the reverse order of their construction are each found
    /// second. In another order the 600,000 modules of a machine of 57,000 GPUs take a minute to
    /// go.
    Time run(const Progress& progress = {});

private:
    std::unique_ptr<sc_core::sc_simcontext> context_;
    std::array<std::unique_ptr<sc_core::sc_module>, 2> first_;
    std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace switchfold
