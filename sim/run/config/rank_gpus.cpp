// SPDX-License-Identifier: Apache-2.0
#include "sim/run/config/rank_gpus.h"

#include "sim/core/params_reader.h"
#include "sim/core/params_writer.h"
#include "sim/run/config/parameter_units.h"
#include "sim/run/machine/system_queries.h"

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
    system_(&system) {
    RankGpus all(system);
    for (std::uint32_t rank = 0; rank < places.size(); ++rank)
        if (const std::uint32_t kind = all.kind(places[rank]); kind != 0)
            kind_[rank] = kind;
    kinds_ = std::move(all.kinds_);
}

std::uint32_t RankGpus::of_a_machine() const {
    return system_ == nullptr ? 1 : gpus_of_machine(*system_);
}

bool any_clock_drop(const SystemParams& system) {
    const RankGpus gpus(system);
    return std::any_of(gpus.kinds().begin(), gpus.kinds().end(), [](const GpuParams* gpu) {
        return gpu->clock_drop > 0;
    });
}

std::set<std::uint32_t> RankGpus::used(std::uint32_t ranks) const {
    std::set<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        found.insert(kind(rank));
    return found;
}

}  // namespace switchfold
