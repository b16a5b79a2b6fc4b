// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/memory_step.h"

#include "core/error.h"
#include "training/memory/step/memory_writer.h"
#include "training/plan/step/rank_writer.h"

namespace switchfold {

ExecutionGraph memory_step(const PlannedStep& step, const PlannedMemory& planned) {
    SWITCHFOLD_CHECK(planned.plan.refusal.empty(), "a plan that is none: {}", planned.plan.refusal);
    const MemoryStepParts parts(step, planned);
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks;
    for (std::uint32_t rank = 0; rank < parts.map.ranks(); ++rank)
        ranks.push_back(MemoryWriter(parts, rank, groups, names).write());
    return graph_of(step, std::move(ranks), std::move(groups), std::move(names));
}

}  // namespace switchfold
