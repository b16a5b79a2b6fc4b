// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/memory_step.h"

#include "core/error.h"
#include "training/memory/step/memory_writer.h"
#include "training/plan/step/rank_writer.h"

namespace switchfold {

ExecutionGraph memory_step(const TrainingStep& step, const StepMemory& planned) {
    PlannedMemories memories;
    memories.emplace(&step, planned);
    return memory_step(std::vector<const TrainingStep*>(ranks_of(step.plan()), &step), memories);
}

ExecutionGraph
memory_step(const std::vector<const TrainingStep*>& by_rank, const PlannedMemories& memories) {
    std::map<const TrainingStep*, MemoryStepParts> parts;
    for (const auto& [step, planned] : memories) {
        SWITCHFOLD_CHECK(
            planned.plan.refusal.empty(), "a plan that is none: {}", planned.plan.refusal);
        parts.try_emplace(step, *step, planned);
    }
    Communicators groups;
    NameTable names;
    std::vector<RankGraph> ranks(by_rank.size());
    for (std::uint32_t rank = 0; rank < by_rank.size(); ++rank)
        if (by_rank[rank] != nullptr)
            ranks[rank] = MemoryWriter(parts.at(by_rank[rank]), rank, groups, names).write();
    return graph_of(by_rank, std::move(ranks), std::move(groups), std::move(names));
}

}  // namespace switchfold
