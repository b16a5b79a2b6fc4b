// SPDX-License-Identifier: Apache-2.0
#include "training/memory/update/update_policy.h"

#include "core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace switchfold {

namespace {

class Replay {
public:
    Replay(
        const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups,
        const UpdateOptions& options) :
        layers_(layers),
        groups_(groups),
        options_(options),
        opens_(layers.size()),
        completes_(layers.size()) {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            opens_[groups[g].layers.front()].push_back(g);
            completes_[groups[g].layers.back()].push_back(g);
        }
    }

    UpdateReplay run() {
        set_ring();
        if (!result_.refusal.empty())
            return result_;
        for (std::size_t i = layers_.size(); i-- > 0;) {
            const UpdateLayer& layer = layers_[i];
            if (options_.policy == UpdatePolicy::kOverlapped) {
                weight_gradient(i);
                work(UpdateEvent::Kind::kInputGradient, i, layer.input_gradient);
            } else {
                work(UpdateEvent::Kind::kInputGradient, i, layer.input_gradient);
                weight_gradient(i);
            }
        }
        result_.seconds = now_;
        if (options_.policy == UpdatePolicy::kBatch) {
            updated_ = std::max(now_, reduced_);
            for (const std::size_t group : waiting_)
                update(group, updated_);
        }
        result_.seconds = std::max(result_.seconds, updated_);
        sum_up();
        return result_;
    }

private:
    void set_ring() {
        if (options_.policy == UpdatePolicy::kBatch) {
            ring_ = sum_of_bytes(groups_);
            result_.reserved = ring_;
            return;
        }
        const std::uint64_t least = least_ring(layers_, groups_);
        ring_ = options_.ring;
        if (options_.policy == UpdatePolicy::kOverlapped) {
            for (const UpdateLayer& layer : layers_)
                result_.shadow = std::max(result_.shadow, layer.weights);
            if (ring_ == 0)
                ring_ = std::max(least, largest_pair(groups_));
        } else if (ring_ == 0) {
            ring_ = least;
        }
        if (options_.fixed_buffers > 0)
            ring_ = options_.fixed_buffers * largest(groups_);
        if (ring_ < least)
            result_.refusal = fmt::format(
                "a ring of {} bytes does not hold the gradients that are open at the same time; "
                "expected {} or more",
                ring_, least);
        result_.reserved = ring_;
    }

    /// Appends work to the gradient stream.
    void work(UpdateEvent::Kind kind, std::size_t layer, double seconds) {
        result_.events.push_back({kind, static_cast<std::uint32_t>(layer), now_, now_ + seconds});
        now_ += seconds;
    }

    void weight_gradient(std::size_t i) {
        for (const std::size_t group : opens_[i])
            take(group);
        work(UpdateEvent::Kind::kWeightGradient, i, layers_[i].weight_gradient);
        for (const std::size_t group : completes_[i])
            complete(group);
    }

    /// Waits until the ring has room for the group, or a buffer is free.
    void take(std::size_t group) {
        const double before = now_;
        const bool batch = options_.policy == UpdatePolicy::kBatch;
        const bool buffers = options_.fixed_buffers > 0;
        const auto full = [&] {
            return buffers ? in_use_ >= options_.fixed_buffers
                           : used_ + groups_[group].bytes > ring_;
        };
        while (!batch && (full() || (!freed_.empty() && freed_.begin()->first <= now_))) {
            SWITCHFOLD_CHECK(!freed_.empty(), "backward waits for a gradient that nobody updates");
            now_ = std::max(now_, freed_.begin()->first);
            used_ -= freed_.begin()->second;
            --in_use_;
            freed_.erase(freed_.begin());
        }
        result_.stall += now_ - before;
        used_ += groups_[group].bytes;
        ++in_use_;
        changes_.emplace(now_, static_cast<std::int64_t>(groups_[group].bytes));
    }

    void complete(std::size_t group) {
        double ready = now_;
        const double reduce =
            options_.reduce_latency +
            options_.reduce_seconds_a_byte * static_cast<double>(groups_[group].bytes);
        if (reduce > 0)
            ready = reduced_ = std::max(reduced_, now_) + reduce;
        if (options_.policy == UpdatePolicy::kBatch) {
            waiting_.push_back(group);
            return;
        }
        update(group, ready);
        if (options_.policy == UpdatePolicy::kImmediate)
            now_ = updated_;
    }

    void update(std::size_t group, double ready) {
        const double begin = std::max(updated_, ready);
        updated_ = begin + groups_[group].update;
        result_.events.push_back(
            {UpdateEvent::Kind::kUpdate, static_cast<std::uint32_t>(group), begin, updated_});
        freed_.emplace(updated_, groups_[group].bytes);
        changes_.emplace(updated_, -static_cast<std::int64_t>(groups_[group].bytes));
    }

    void sum_up() {
        std::int64_t live = 0;
        for (auto at = changes_.begin(); at != changes_.end();) {
            const double when = at->first;
            // Room that is freed and taken again at the same time counts once.
            for (; at != changes_.end() && at->first == when; ++at)
                live += at->second;
            result_.live.push_back({when, static_cast<std::uint64_t>(live)});
            result_.peak = std::max(result_.peak, result_.live.back().bytes);
        }
        SWITCHFOLD_CHECK(live == 0, "{} bytes of gradients were never updated", live);
    }

    const std::vector<UpdateLayer>& layers_;
    const std::vector<GradientGroup>& groups_;
    const UpdateOptions& options_;
    std::vector<std::vector<std::size_t>> opens_;      ///< groups, by layer
    std::vector<std::vector<std::size_t>> completes_;  ///< groups, by layer
    std::vector<std::size_t> waiting_;                 ///< groups of the batch that wait
    std::uint64_t ring_ = 0;
    std::uint64_t used_ = 0;
    std::uint32_t in_use_ = 0;
    double now_ = 0;      ///< time of the gradient stream
    double reduced_ = 0;  ///< end of the last all-reduce
    double updated_ = 0;  ///< end of the last update
    std::multimap<double, std::uint64_t> freed_;
    std::multimap<double, std::int64_t> changes_;
    UpdateReplay result_;
};

}  // namespace

std::string_view name_of(UpdatePolicy policy) {
    for (const auto& [value, name] : kUpdatePolicyNames)
        if (value == policy)
            return name;
    return {};
}

std::string refusal_of(UpdatePolicy policy, const GradientUses& uses) {
    if (policy == UpdatePolicy::kBatch)
        return {};
    const char* why = nullptr;
    if (uses.accumulate > 1)
        why = "gradients of several micro-batches add up before the update";
    else if (uses.clip_by_global_norm)
        why = "the norm that clips is of all gradients";
    else if (uses.check_loss_scale)
        why = "an overflow in any gradient skips all updates";
    if (why == nullptr)
        return {};
    return fmt::format("is {}, and {}; expected batch", name_of(policy), why);
}

UpdateReplay replay_update(
    const std::vector<UpdateLayer>& layers, const std::vector<GradientGroup>& groups,
    const UpdateOptions& options) {
    return Replay(layers, groups, options).run();
}

}  // namespace switchfold
