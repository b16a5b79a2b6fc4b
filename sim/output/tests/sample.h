// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/output/result.h"

namespace switchfold {

/// A result with something in every list.
inline ExperimentResult sample_result() {
    ExperimentResult r;
    r.experiment = "sample";
    r.version = "1.2.3";
    r.config_digest = "00ff";
    r.workload.type = "trace";
    r.workload.source = "trace.json";
    r.workload.ranks = 8;
    r.workload.traced_ranks = 1;
    r.workload.steps = 2;
    r.workload.used["kernels"] = 10;
    ScenarioResult serial;
    serial.name = "serial";
    serial.overlap = false;
    serial.iteration_us = 45'151.863625;
    serial.forward_us = 9'000;
    serial.backward_us = 26'231.608312999997;
    serial.exposed_communication_us = 607.68110575;
    serial.communication_blocks = 2.25;
    serial.jumped_us = 1234.5;
    r.scenarios.push_back(serial);
    ScenarioResult ring = serial;
    ring.name = "ring";
    ring.overlap = true;
    ring.backward_slowdown = 0.189;
    ring.waiting_us = 12.5;
    ring.exposed_waiting_us = 7.25;
    ring.together = TogetherResult{44'000, 500, 0.05};
    ring.peak_memory = PeakMemoryResult{1, 12.5, "BW0@0", {}};
    ring.peak_memory->bytes[MemoryClass::kActivations] = 4096;
    ring.peak_memory->bytes[MemoryClass::kBuckets] = 512;
    ring.causes = SlowdownByCause{0.1, 0.02, 0.04, 0.02, 0, 0, 0.009};
    ring.forward_slowdown = 0.031;
    ring.forward_causes = SlowdownByCause{0.02, 0, 0.006, 0.001, 0, 0, 0.004};
    ring.kernel_classes.push_back({"norm", 16, 500, 0.25, ring.causes});
    ring.worst_kernels.push_back({"batch_norm_backward", "norm", 16, 500, 125});
    ring.collectives.push_back(
        {"world all_reduce 0", "ring", "simple", 24, 8, 1U << 20U, 1, 2, 40, 26.2144, 45.8752, ""});
    const StatisticTable links{
        "links",
        "A link.",
        {{"wire_bytes", Unit::kBytes, "Carried."},
         {"busy_us", Unit::kMicroseconds, "In use."},
         {"a_share", Unit::kShare, "Of the run."}},
        {}};
    const StatisticTable units{
        "reduction_units", "A unit.", {{"reductions", Unit::kCount, "Finished."}}, {}};
    r.scenarios[0].statistics = {links, units};
    ring.statistics = {links, units};
    ring.statistics[0].rows.push_back({"gpu0_to_switch0", {120, 1.25, 0.5}});
    ring.statistics[1].rows.push_back({"switch0", {5}});
    ring.notes = {"a note"};
    r.scenarios.push_back(ring);
    r.host = {1.5, 1024, 99};
    return r;
}

/// The same with intervals of its second scenario.
inline ExperimentResult sample_with_intervals() {
    ExperimentResult r = sample_result();
    ScenarioResult& ring = r.scenarios[1];
    ring.intervals["iteration_us"] = {
        43'000.5, 47'250, true, "12 to 80 measured collectives on 3 kinds of machine"};
    ring.intervals["backward_slowdown"] = {0.15, 0.25, true, "40 measured slowdowns"};
    ring.intervals["exposed_copies_us"] = {{}, {}, false, "unmeasured: no copies with hosts"};
    return r;
}

}  // namespace switchfold
