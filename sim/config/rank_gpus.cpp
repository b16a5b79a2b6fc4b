// SPDX-License-Identifier: Apache-2.0
#include "sim/config/rank_gpus.h"

#include "core/params_reader.h"
#include "core/params_writer.h"
#include "sim/config/parameter_units.h"
#include "sim/machine/system_queries.h"

#include <algorithm>
#include <string>
#include <utility>

namespace switchfold {

RankGpus::RankGpus(const SystemParams& system) : system_(&system), kinds_{&*system.gpu} {
    if (system.gpus.empty())
        return;
    std::vector<std::string> texts{write_value(*system.gpu).dump()};
    for (const GpuKindParams& entry : system.gpus) {
        const std::string text = write_value(*entry.gpu).dump();
        const auto found = std::find(texts.begin(), texts.end(), text);
        const auto kind = static_cast<std::uint32_t>(found - texts.begin());
        if (found == texts.end()) {
            texts.push_back(text);
            kinds_.push_back(&*entry.gpu);
        }
        for (const std::uint32_t rank : entry.ranks.ranks)
            kind_[rank] = kind;
    }
}

RankGpus::RankGpus(const SystemParams& system, const std::vector<std::uint32_t>& places) :
    system_(&system), places_(places) {
    RankGpus all(system);
    for (std::uint32_t rank = 0; rank < places.size(); ++rank)
        if (const std::uint32_t kind = all.kind(places[rank]); kind != 0)
            kind_[rank] = kind;
    kinds_ = std::move(all.kinds_);
}

std::uint32_t RankGpus::of_a_machine() const {
    return system_ == nullptr ? 1 : gpus_of_machine(*system_);
}

std::uint32_t RankGpus::in_order_on_machines() const {
    const std::uint32_t gpus = of_a_machine();
    if (places_.empty())
        return gpus;
    std::vector<std::uint32_t> ranks;  // of each machine, in order
    std::set<std::uint32_t> machines;
    for (std::size_t rank = 0; rank < places_.size(); ++rank) {
        const std::uint32_t machine = places_[rank] / gpus;
        if (rank > 0 && machine == places_[rank - 1] / gpus)
            ++ranks.back();
        else if (machines.insert(machine).second)
            ranks.push_back(1);
        else
            return 0;
    }
    return std::ranges::all_of(ranks, [&](std::uint32_t n) { return n == ranks.front(); })
               ? ranks.front()
               : 0;
}

namespace {
bool waits_at_completion(const GpuParams& gpu) {
    return gpu.completion_wait > Time() || gpu.exchange_accesses > 0;
}
}  // namespace

Contention contention_of(const SystemParams& system) {
    Contention there;
    there.completion = there.clock = false;
    const RankGpus gpus(system);
    for (const GpuParams* gpu : gpus.kinds()) {
        there.completion = there.completion || waits_at_completion(*gpu);
        there.clock = there.clock || gpu->clock_drop > 0 || gpu->power_drop > 0;
    }
    return there;
}

std::set<std::string> unmeasured_completions(const SystemParams& system) {
    std::set<std::string> names;
    const RankGpus gpus(system);
    for (const GpuParams* gpu : gpus.kinds())
        if (waits_at_completion(*gpu) && !gpu->completion_measured)
            names.insert(gpu->name);
    return names;
}

std::set<std::uint32_t> RankGpus::used(std::uint32_t ranks) const {
    std::set<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        found.insert(kind(rank));
    return found;
}

}  // namespace switchfold
