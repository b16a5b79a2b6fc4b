// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/step_alone.h"

#include "training/memory/step/memory_step.h"

#include <variant>

namespace switchfold {

Schedule step_alone(const ExecutionGraph& graph, const CopyRates& rates, Time collective) {
    return evaluate(*graph.ranks[0], [&](std::uint32_t, const Operation& operation) {
        if (const auto* kernel = std::get_if<KernelOperation>(&operation.body))
            return kernel->isolated;
        if (const auto* copy = std::get_if<CopyOperation>(&operation.body)) {
            constexpr double kPicoseconds = 1e12;
            const double rate = copy->kind == CopyKind::kHostToDevice ? rates.in : rates.out;
            return Time(static_cast<std::uint64_t>(
                static_cast<double>(copy->bytes.count()) / rate * kPicoseconds));
        }
        if (const auto* delay = std::get_if<HostDelayOperation>(&operation.body))
            return delay->duration;
        return collective;
    });
}

std::optional<ComparedUpdates>
compare_with_batch(const TrainingStep& step, const StepMemory& planned) {
    if (planned.choice.updates == UpdatePolicy::kBatch ||
        planned.choice.updater == Updater::kHost || planned.plan.moved_bytes() == 0 ||
        ranks_of(step.plan()) > 1)
        return {};
    const StepMemory batch = with_batch_updates(planned);
    if (!batch.plan.refusal.empty())
        return {};
    const CopyRates& rates = planned.choice.rates;
    return ComparedUpdates{
        step_alone(memory_step(step, planned), rates).makespan,
        step_alone(memory_step(step, batch), rates).makespan};
}

}  // namespace switchfold
