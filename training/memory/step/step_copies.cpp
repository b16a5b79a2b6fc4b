// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/step_copies.h"

#include <algorithm>
#include <utility>

namespace switchfold {

StepCopies::Indices StepCopies::prefetch(Phase phase) {
    Indices room;
    if (planned_.waits[at()])
        room = given_back_[*planned_.waits[at()]];
    std::optional<Index> last;
    for (const std::uint32_t item : planned_.moves[at()].prefetch) {
        const MemoryItem& fetched = planned_.memory.schedule.items[item];
        last = writer_.host_copy(
            "prefetch " + fetched.name, CopyKind::kHostToDevice, Bytes(fetched.bytes), phase,
            std::exchange(room, {}));
        fetched_[{at(), item}] = *last;
    }
    return last ? Indices{*last} : room;
}

void StepCopies::laid(Index first, const Indices& ended) {
    const Index end = ended.empty() ? 0 : *std::max_element(ended.begin(), ended.end());
    const bool has_operations = writer_.next() > first;
    laid_.push_back({has_operations ? first : end, !has_operations, end});
}

void StepCopies::offload(const Indices& ended, Indices freeing, Phase phase) {
    const std::size_t step = at() - 1;
    for (const std::uint32_t item : planned_.moves[step].offload) {
        const MemoryItem& kept = planned_.memory.schedule.items[item];
        last_keep_ = writer_.host_copy(
            "offload " + kept.name, CopyKind::kDeviceToHost, Bytes(kept.bytes), phase, ended);
        kept_[{step, item}] = *last_keep_;
    }
    if (last_keep_)
        freeing.push_back(*last_keep_);
    given_back_.push_back(std::move(freeing));
}

MemoryBytes StepCopies::held() const {
    const StepMemory& planned = planned_.memory;
    MemoryBytes held;
    held[MemoryClass::kWeights] =
        static_cast<double>(planned.schedule.resident_bytes - planned.gradients - planned.shadow);
    held[MemoryClass::kWorkspace] = static_cast<double>(planned.shadow);
    for (std::size_t i = 0; i < planned.schedule.items.size(); ++i) {
        const MemoryItem& item = planned.schedule.items[i];
        if (item.persistent && planned.plan.retained[i])
            held[item.kind] += static_cast<double>(item.bytes);
    }
    return held;
}

void StepCopies::memory(const MemoryBytes& more) {
    const StepMemory& planned = planned_.memory;
    MemoryBytes all_along = held();
    for (const MemoryClassText& one : kMemoryClasses)
        all_along[one.value] += more[one.value];
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    std::map<std::uint32_t, Range> retained;  // by item: range of access steps
    for (const Stay& stay : stays_of(planned.schedule)) {
        const MemoryItem& item = planned.schedule.items[stay.item];
        const auto bytes = static_cast<std::int64_t>(item.bytes);
        if (planned.plan.retained[stay.item]) {
            Range& steps =
                retained.try_emplace(stay.item, Range{stay.first, stay.last}).first->second;
            steps.first = std::min(steps.first, stay.first);
            steps.last = std::max(steps.last, stay.last);
            continue;
        }
        const MemoryClass what = item.candidate() ? MemoryClass::kStaging : item.kind;
        const auto fetched = fetched_.find({stay.first, stay.item});
        const auto kept = kept_.find({stay.last, stay.item});
        const Laid& begins = laid_[stay.first];
        const bool is_fetched = fetched != fetched_.end();
        const Index end = kept != kept_.end() ? kept->second : laid_[stay.last].last;
        writer_.memory(
            what, bytes, is_fetched ? fetched->second : begins.first,
            !is_fetched && begins.first_at_end);
        writer_.memory(what, -bytes, end, true);
        if (stay.first > stay.last)
            all_along[what] += static_cast<double>(item.bytes);
    }
    for (const auto& [i, steps] : retained) {
        const MemoryItem& item = planned.schedule.items[i];
        if (item.persistent)
            continue;
        const auto bytes = static_cast<std::int64_t>(item.bytes);
        const Laid& begins = laid_[steps.first];
        writer_.memory(item.kind, bytes, begins.first, begins.first_at_end);
        writer_.memory(item.kind, -bytes, laid_[steps.last].last, true);
    }
    writer_.hold(all_along);
}

}  // namespace switchfold
