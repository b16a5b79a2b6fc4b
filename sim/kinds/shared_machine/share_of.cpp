// SPDX-License-Identifier: Apache-2.0
#include "sim/kinds/shared_machine/share_of.h"

#include "models/collectives/engine.h"
#include "workloads/graph/join.h"

#include <algorithm>
#include <set>

namespace switchfold {

namespace {

bool works(const ExecutionGraph& graph, std::uint32_t rank) {
    return rank < graph.ranks.size() && !graph.ranks[rank]->operations.empty();
}

bool takes_part(const ExecutionGraph& part, const CollectiveRecord& record) {
    return works(
        part,
        record.sender != record.receiver ? record.sender : part.groups[record.group].ranks.front());
}

}  // namespace

std::vector<Time> ends_of_steps(const ExecutionGraph& part, const Outcome& outcome) {
    std::vector<Time> ends(part.steps);
    for (std::size_t r = 0; r < part.ranks.size(); ++r) {
        const auto& operations = part.ranks[r]->operations;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            Time& end = ends[operations[i].step];
            end = std::max(end, outcome.times[r][i].end);
        }
    }
    return ends;
}

ShareOfRun
share_of(const ExecutionGraph& part, const Outcome& whole, Time begin, std::uint32_t steps) {
    ShareOfRun share;
    share.graph = first_steps(part, steps);
    const Time end = ends_of_steps(part, whole)[steps - 1];
    share.outcome.times.resize(share.graph.ranks.size());
    for (std::size_t r = 0; r < share.graph.ranks.size(); ++r) {
        const std::size_t kept = share.graph.ranks[r]->operations.size();
        for (std::size_t i = 0; i < kept; ++i) {
            const OperationTimes& times = whole.times[r][i];
            share.outcome.times[r].push_back({times.start - begin, times.end - begin});
        }
    }
    for (CollectiveRecord record : whole.collectives)
        if (takes_part(part, record) && record.end <= end) {
            for (Time CollectiveRecord::*time :
                 {&CollectiveRecord::ready, &CollectiveRecord::stalled, &CollectiveRecord::start,
                  &CollectiveRecord::end})
                record.*time = record.*time - std::min(record.*time, begin);
            share.outcome.collectives.push_back(record);
        }
    share.outcome.end_ps = (end - begin).count();
    static_cast<SimulationFigures&>(share.outcome) = whole;
    return share;
}

}  // namespace switchfold
