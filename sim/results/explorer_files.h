// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/config/experiment.h"
#include "sim/results/run_files.h"

#include <cstddef>
#include <vector>

namespace switchfold {

/// Whether a run writes the files of the report's map and timelines: by itself if it has fewer than
/// 300,000 operations, of all ranks and scenarios together.
[[nodiscard]] bool explored(bool timeline, std::size_t operations);
/// Of all ranks, without what hosts do.
[[nodiscard]] std::size_t operations_of(const ExecutionGraph& graph);

/// Stages communication.csv if any rank communicates or copies: a row a collective, send, receive
/// or copy of each rank.
void write_communication(ResultFolder& folder, const std::vector<RanScenario>& scenarios);

/// A scenario's machine.
struct RanMachine {
    RanScenario scenario;
    const SystemParams& system;
};

/// Stages links.json if loads were recorded: the machines' nodes and links, and the load of each
/// link over time.
void write_links(ResultFolder& folder, const std::vector<RanMachine>& scenarios);

}  // namespace switchfold
