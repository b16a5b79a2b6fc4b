// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/error.h"
#include "workloads/graph/execution_graph.h"

#include <string>

namespace switchfold {

/// The ranks' collectives and messages wait for each other, in whatever order each rank takes its
/// own.
class NoCommonOrder : public SimulationError {
public:
    /// `why` names some that wait.
    explicit NoCommonOrder(const std::string& why);
    /// The same for a note.
    [[nodiscard]] const std::string& note() const { return note_; }

private:
    std::string note_;
};

/// The same operations, ordered so that no collective runs beside another GPU operation of its
/// rank. Messages between two ranks keep their place. Compute goes first: a collective starts when
/// everything that can run without it has ended, and later work waits for it. Collectives keep
/// each rank's launch order where all ranks run through with it. Otherwise the ranks share one
/// order, in which a collective is taken when all its ranks can take it. Gaps and host delays are
/// kept; a pause (a gap longer than a launch) goes by while its operation waits for others. Ranks
/// that share a graph go on sharing. Throws NoCommonOrder.
[[nodiscard]] ExecutionGraph without_overlap(const ExecutionGraph& graph);

}  // namespace switchfold
