// SPDX-License-Identifier: Apache-2.0
#include "training/memory/step/gathers.h"

#include <algorithm>
#include <optional>

namespace switchfold {

double gathered_bytes(const StageWork& work, const std::set<std::uint32_t>& stages) {
    double largest = 0;
    for (const std::uint32_t stage : stages)
        for (const WorkItem& item : work.work(PassKind::kForward, stage))
            if (const auto* gather = std::get_if<GatherItem>(&item))
                largest = std::max(
                    largest, static_cast<double>((gather->bytes + gather->experts).count()));
    return 2 * largest;
}

Gathers gathers_of(const StageWork& work, const std::vector<LayerRange>& again) {
    Gathers gathers;
    const auto is_again = [&](std::uint32_t layer) {
        return std::any_of(again.begin(), again.end(), [&](const LayerRange& range) {
            return range.first <= layer && layer < range.end;
        });
    };
    for (const PassKind kind : {PassKind::kForward, PassKind::kBackward}) {
        std::optional<GatherItem> open;  // waits for the layer behind it
        for (const WorkItem& item : work.work(kind, 0)) {
            if (const auto* gather = std::get_if<GatherItem>(&item))
                open = *gather;
            const auto* layer = std::get_if<LayerItem>(&item);
            if (layer == nullptr || !open)
                continue;
            const UseKind step = kind == PassKind::kForward ? UseKind::kForward
                                 : is_again(layer->layer)   ? UseKind::kAgain
                                                            : UseKind::kBackward;
            gathers.emplace(std::pair{step, layer->layer}, *open);
            open.reset();
        }
    }
    return gathers;
}

}  // namespace switchfold
