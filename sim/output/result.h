// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "sim/output/component_result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold {

// What one experiment gives. These are plain values: sim/run fills them, the writers of this folder
// print them. An empty optional means "does not apply here" and is written as null.
// docs/results.md says what each field means.

struct ScenarioResult {
    std::string name;
    bool overlap = true;
    std::string algorithm;  ///< as asked for: "auto", "ring", "in_switch", ...
    std::uint32_t ranks = 0;
    std::uint32_t steps = 1;
    Time makespan;   ///< all steps, first event to last
    Time iteration;  ///< mean over the steps and the slowest rank of each; so are the next three
    std::optional<Time> forward;
    std::optional<Time> backward;
    std::optional<Time> exposed_communication;  ///< collectives running while no kernel does
    std::optional<double> backward_slowdown;    ///< of kernels, over serial; 0.16 is 16 %
    std::optional<SlowdownByCause> slowdown_by_cause;
    std::optional<double>
        mean_kernel_slowdown;  ///< overlapped kernels, duration / isolated - 1, weighted by time
    std::vector<CollectiveResult> collectives;
    std::vector<LinkResult> links;
    std::vector<ReductionUnitResult> reduction_units;
    std::vector<MemoryResult> memory;
    std::vector<std::string> notes;  ///< what a reader must know: fall-backs, clipped bytes, ...
    std::uint64_t events = 0;        ///< simulated; host section
    double wall_s = 0;               ///< host section
    std::vector<std::string> names;  ///< what the rows below refer to
    std::vector<KernelRow> kernels;
    std::vector<TimelineSlice> slices;  ///< empty unless a timeline was asked for
    std::vector<TimelineTrack> tracks;
    std::vector<TimelinePoint> points;
    bool operator==(const ScenarioResult&) const = default;
};

/// How many of something, and where they came from.
using Counts = std::map<std::string, std::uint64_t>;

/// Where the workload comes from and what was assumed in reading it.
struct ProvenanceResult {
    std::string source;      ///< files or generator
    std::string gpu_name;    ///< of the run that was traced
    bool synthetic = false;  ///< no real run behind it
    std::uint32_t traced_ranks = 0;
    std::uint32_t simulated_ranks = 0;
    bool one_rank_stands_for_all = false;
    std::optional<Time> measured_iteration;
    Counts kernel_durations;  ///< kernels by where the isolated duration came from
    Counts kernel_bytes;      ///< kernels by where their bytes came from
    Counts collective_sizes;  ///< collectives by where their size came from
    Counts used;              ///< trace events used, by kind
    Counts dropped;           ///< trace events left out, by reason
    std::vector<std::string> notes;
    bool operator==(const ProvenanceResult&) const = default;
};

/// The only part of a result that differs between two runs of the same input.
struct HostResult {
    double wall_s = 0;
    std::uint64_t peak_rss_bytes = 0;
    std::uint64_t events = 0;
    std::uint32_t jobs = 1;
};

inline constexpr int kResultSchema = 1;

struct ExperimentResult {
    int schema = kResultSchema;
    std::string experiment;
    std::string version;
    std::string config_digest;     ///< of effective_config
    std::string effective_config;  ///< JSON text: every parameter with its value
    std::optional<ProvenanceResult> provenance;
    std::vector<ScenarioResult> scenarios;
    HostResult host;
};

}  // namespace switchfold
