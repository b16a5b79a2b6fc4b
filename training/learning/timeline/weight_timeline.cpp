// SPDX-License-Identifier: Apache-2.0
#include "training/learning/timeline/weight_timeline.h"

#include "core/error.h"

#include <algorithm>
#include <utility>

namespace switchfold::learning {

WeightTimeline::WeightTimeline(RanPasses ran, const Watch& watch) : ran_(std::move(ran)) {
    for (const RanPass& pass : ran_.passes)
        holders_ = std::max(holders_, pass.holder + 1);
    order(watch);
    find_gradients(watch);
    count_versions(watch);
    ran_.passes = {};
}

void WeightTimeline::order(const Watch& watch) {
    for (const RanPass& ran : ran_.passes)
        events_.push_back(
            {ran.pass.kind == PassKind::kUpdate ? ran.end : ran.begin, ran.pass, ran.holder, 0});
    watch.look();
    // An update that ends when a pass begins is visible to it; passes of zero duration still follow
    // what they depend on.
    const auto place = [&](const Event& event) -> std::uint32_t {
        switch (event.pass.kind) {
        case PassKind::kUpdate:
            return 0;
        case PassKind::kForward:
            return 1 + event.pass.stage;
        case PassKind::kWeightGradient:
            return 2 * ran_.stages + 1;
        case PassKind::kBackward:
        case PassKind::kInputGradient:
            break;
        }
        return 2 * ran_.stages - event.pass.stage;
    };
    std::stable_sort(events_.begin(), events_.end(), [&](const Event& a, const Event& b) {
        return std::pair(a.time, place(a)) < std::pair(b.time, place(b));
    });
}

/// An update applies the gradients of its holder's backwards since the previous one; holders of a
/// stage sum theirs.
void WeightTimeline::find_gradients(const Watch& watch) {
    // A backward that ends when the update begins is included.
    const auto moment = [](const RanPass& ran) {
        const bool update = ran.pass.kind == PassKind::kUpdate;
        return std::pair(update ? ran.begin : ran.end, update);
    };
    std::stable_sort(
        ran_.passes.begin(), ran_.passes.end(),
        [&](const RanPass& a, const RanPass& b) { return moment(a) < moment(b); });
    goes_into_.resize(ran_.stages);
    const auto at = [&](const RanPass& ran) {
        return std::size_t{ran.holder} * ran_.stages + ran.pass.stage;
    };
    std::vector<std::vector<std::uint32_t>> waiting(std::size_t{holders_} * ran_.stages);
    std::vector<std::uint32_t> updates(waiting.size(), 0);
    for (const RanPass& ran : ran_.passes) {
        watch.look();
        if (ran.pass.kind == PassKind::kBackward || ran.pass.kind == PassKind::kWeightGradient) {
            waiting[at(ran)].push_back(ran.pass.micro_batch);
        } else if (ran.pass.kind == PassKind::kUpdate) {
            auto& all = goes_into_[ran.pass.stage];
            const std::uint32_t number = updates[at(ran)]++;
            if (all.size() <= number)
                all.resize(number + 1);
            auto& taken = waiting[at(ran)];
            all[number].insert(all[number].end(), taken.begin(), taken.end());
            taken.clear();
        }
    }
    for (auto& stage : goes_into_) {
        std::vector<std::uint32_t>& latest = latest_.emplace_back();
        for (auto& update : stage) {
            std::sort(update.begin(), update.end());
            const std::uint32_t last = update.empty() ? 0 : update.back();
            latest.push_back(latest.empty() ? last : std::max(latest.back(), last));
        }
    }
}

void WeightTimeline::count_versions(const Watch& watch) {
    const std::vector<std::uint32_t> none(ran_.micro_batches, 0);
    at_forward_.assign(ran_.stages, none);
    at_backward_ = at_round_trip_ = at_forward_;
    std::vector<std::uint32_t> made(std::size_t{holders_} * ran_.stages, 0);
    // Holder of a micro-batch on a stage; known from its forward on.
    std::vector<std::vector<std::uint32_t>> holder(ran_.stages, none);
    for (Event& event : events_) {
        watch.look();
        const Pass& pass = event.pass;
        std::uint32_t& version = made[std::size_t{event.holder} * ran_.stages + pass.stage];
        event.version = version;
        if (pass.kind == PassKind::kForward) {
            at_forward_[pass.stage][pass.micro_batch] = version;
            holder[pass.stage][pass.micro_batch] = event.holder;
        } else if (is_backward(pass.kind)) {
            at_backward_[pass.stage][pass.micro_batch] = version;
            if (pass.stage == 0)
                for (std::uint32_t s = 0; s < ran_.stages; ++s)
                    at_round_trip_[s][pass.micro_batch] =
                        made[std::size_t{holder[s][pass.micro_batch]} * ran_.stages + s];
        } else if (pass.kind == PassKind::kUpdate) {
            ++version;
        }
    }
}

std::uint32_t
WeightTimeline::updates_by_earlier(std::uint32_t stage, std::uint32_t micro_batch) const {
    const std::vector<std::uint32_t>& latest = latest_[stage];
    return static_cast<std::uint32_t>(
        std::lower_bound(latest.begin(), latest.end(), micro_batch) - latest.begin());
}

}  // namespace switchfold::learning
