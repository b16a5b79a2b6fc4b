// SPDX-License-Identifier: Apache-2.0
#include "sim/results/scenario_result.h"

#include "core/gibibytes.h"
#include "sim/results/memory_over_time.h"
#include "sim/results/training.h"

namespace switchfold {

ScenarioResult
measured_scenario(const ExecutionGraph& graph, const Outcome& outcome, const PhaseTimes& times) {
    ScenarioResult s;
    s.iteration_us = times.iteration;
    s.forward_us = times.forward;
    s.backward_us = times.backward;
    s.optimizer_us = times.optimizer;
    s.other_us = times.other;
    s.exposed_communication_us = times.exposed;
    s.waiting_us = times.waiting;
    s.exposed_waiting_us = times.exposed_waiting;
    s.exposed_copies_us = times.exposed_copies;
    s.communication_blocks = times.blocks;
    static_cast<SimulationFigures&>(s) = outcome;
    if (const auto pace = training_pace(graph, outcome)) {
        s.samples_per_s = pace->samples_per_s;
        s.tflops_per_gpu = pace->tflops_per_gpu;
        s.bubble_share = pace->bubble_share;
    }
    s.peak_memory = peak_memory(graph, outcome);
    if (s.peak_memory)
        s.peak_memory_gib = in_gibibytes(s.peak_memory->bytes.all());
    s.collectives = collective_results(graph, outcome);
    s.statistics = outcome.statistics;
    s.notes = outcome.notes;
    s.events = outcome.events;
    s.counters = outcome.counters;
    return s;
}

void tell_scenario(const ScenarioParams& scenario, ScenarioResult& out) {
    out.name = scenario.name;
    out.overlap = scenario.overlap;
    for (const auto& [pointer, value] : scenario.set)
        out.set[pointer] = value.json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace switchfold
