// SPDX-License-Identifier: Apache-2.0
#include "training/learning/timeline/ran_passes.h"

#include "core/error.h"
#include "training/plan/schedule/pass_needs.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace switchfold::learning {

namespace {

/// Ends of a schedule's passes by kind, micro-batch and stage, as far as they ran.
class Ends {
public:
    explicit Ends(const PipelineSchedule& schedule) :
        stages_(schedule.stages()), each_(std::size_t{schedule.micro_batches} * stages_) {}

    void put(const Pass& pass, double end) {
        std::vector<double>& all = ends_[static_cast<std::size_t>(pass.kind)];
        all.resize(each_, kNotYet);
        all[at(pass)] = end;
    }
    /// Below 0 if it has not run.
    [[nodiscard]] double of(const Pass& pass) const {
        const std::vector<double>& all = ends_[static_cast<std::size_t>(pass.kind)];
        return all.empty() ? kNotYet : all[at(pass)];
    }

private:
    static constexpr double kNotYet = -1;
    static constexpr std::size_t kKinds = static_cast<std::size_t>(PassKind::kUpdate) + 1;
    [[nodiscard]] std::size_t at(const Pass& pass) const {
        return std::size_t{pass.micro_batch} * stages_ + pass.stage;
    }
    std::size_t stages_;
    std::size_t each_;
    std::array<std::vector<double>, kKinds> ends_;
};

using Key = std::tuple<PassKind, std::uint32_t, std::uint32_t, std::uint32_t>;
Key key_of(const Pass& pass, std::uint32_t holder) {
    return {pass.kind, pass.micro_batch, pass.stage, holder};
}

/// Maps a mini-batch of the longer run to the corresponding one of the short run, with the shift in
/// time.
class Repetition {
public:
    Repetition(const RanPasses& run, std::uint32_t all, std::uint32_t filling, std::uint32_t turn) :
        run_(run), all_(all) {
        head_ = (filling + turn - 1) / turn * turn;
        const std::uint32_t rest =
            run.micro_batches > 2 * head_ ? run.micro_batches - 2 * head_ : 0;
        window_ = rest / turn * turn;
        tail_ = run.micro_batches - head_ - window_;
    }
    [[nodiscard]] bool possible() const {
        return head_ > 0 && window_ > 0 && all_ >= run_.micro_batches;
    }
    void measure() {
        double from = 0;
        double until = 0;
        for (const RanPass& ran : run_.passes) {
            if (ran.pass.micro_batch + 1 <= head_)
                from = std::max(from, ran.end);
            if (ran.pass.micro_batch + 1 <= head_ + window_)
                until = std::max(until, ran.end);
        }
        pace_ = (until - from) / window_;
    }
    [[nodiscard]] double pace() const { return pace_; }
    [[nodiscard]] std::uint32_t like(std::uint32_t j) const {
        if (j < head_)
            return j;
        return j >= all_ - tail_ ? j - (all_ - run_.micro_batches) : head_ + (j - head_) % window_;
    }

private:
    const RanPasses& run_;
    std::uint32_t all_;
    std::uint32_t head_ = 0;
    std::uint32_t window_ = 0;
    std::uint32_t tail_ = 0;
    double pace_ = 0;
};

}  // namespace

RanPasses ran_passes(const PipelineSchedule& schedule, const Replay& replay, std::uint32_t a_step) {
    RanPasses ran{schedule.stages(), schedule.micro_batches, a_step, {}};
    for (std::uint32_t device = 0; device < schedule.devices(); ++device)
        for (std::size_t k = 0; k < schedule.order[device].size(); ++k)
            for_each_pass(schedule.order[device][k], [&](const Pass& pass) {
                const ListSchedule::Times& interval = replay.slots[device][k];
                ran.passes.push_back({pass, device, interval.begin, interval.end});
            });
    return ran;
}

RanPasses side_by_side(std::vector<RanPasses> replicas, bool asynchronous) {
    RanPasses all = std::move(replicas.front());
    const auto count = static_cast<std::uint32_t>(replicas.size());
    const std::uint32_t own = all.micro_batches;
    std::uint32_t holders = 0;
    for (const RanPass& ran : all.passes)
        holders = std::max(holders, ran.holder + 1);
    const auto number = [&](std::uint32_t replica, std::uint32_t j) {
        return asynchronous ? j * count + replica : replica * own + j;
    };
    for (RanPass& ran : all.passes)
        ran.pass.micro_batch = number(0, ran.pass.micro_batch);
    for (std::uint32_t r = 1; r < count; ++r) {
        SWITCHFOLD_CHECK(replicas[r].micro_batches == own, "replicas of different length");
        for (RanPass ran : replicas[r].passes) {
            ran.pass.micro_batch = number(r, ran.pass.micro_batch);
            ran.holder += r * holders;
            all.passes.push_back(ran);
        }
    }
    all.micro_batches *= count;
    all.a_step *= count;
    return all;
}

RanPasses repeated(const RanPasses& step, std::uint32_t steps, double seconds, const Watch& watch) {
    RanPasses all{step.stages, step.micro_batches * steps, step.a_step, {}};
    all.passes.reserve(step.passes.size() * steps);
    double before = 0;  // end of the previous step: sums of times are rounded
    double last = 0;
    for (std::uint32_t n = 0; n < steps; ++n) {
        watch.look();
        for (RanPass ran : step.passes) {
            ran.pass.micro_batch += n * step.micro_batches;
            ran.begin = std::max(ran.begin + n * seconds, before);
            ran.end = std::max(ran.end + n * seconds, ran.begin);
            last = std::max(last, ran.end);
            all.passes.push_back(ran);
        }
        before = last;
    }
    return all;
}

std::optional<Extended> extended(
    const RanPasses& run, const PipelineSchedule& longer, std::uint32_t filling, std::uint32_t turn,
    const Watch& watch) {
    Repetition repetition(run, longer.micro_batches, filling, turn);
    if (!repetition.possible())
        return {};
    repetition.measure();
    std::map<Key, const RanPass*> known;
    for (const RanPass& ran : run.passes)
        known[key_of(ran.pass, ran.holder)] = &ran;
    Extended result{{run.stages, longer.micro_batches, run.a_step, {}}, 0, repetition.pace()};
    std::vector<double> free(longer.devices(), 0);
    Ends ends(longer);
    const bool ended = walk(longer, [&](const PassTable&, std::uint32_t device, std::size_t k) {
        watch.look();
        const Slot& slot = longer.order[device][k];
        double until = free[device];
        for_each_pass(slot, [&](const Pass& pass) {
            Pass like = pass;
            like.micro_batch = repetition.like(pass.micro_batch);
            const auto found = known.find(key_of(like, device));
            SWITCHFOLD_CHECK(
                found != known.end(), "{} did not run on device {}", to_string(like), device);
            const RanPass& ran = *found->second;
            const double planned =
                ran.begin + (pass.micro_batch - like.micro_batch) * repetition.pace();
            // Times vary slightly between mini-batches; if shifted passes overlap, the schedule's
            // order decides.
            double begin = std::max(planned, free[device]);
            for_each_need(longer, pass, [&](const Pass& need) {
                Pass whole = need;
                if (need.kind == PassKind::kInputGradient)
                    whole.kind = PassKind::kBackward;
                for (const Pass& known_as : {need, whole})
                    begin = std::max(begin, ends.of(known_as));
            });
            result.moved = std::max(result.moved, begin - planned);
            const double end = begin + (ran.end - ran.begin);
            ends.put(pass, end);
            until = std::max(until, end);
            result.passes.passes.push_back({pass, device, begin, end});
        });
        free[device] = until;
    });
    SWITCHFOLD_CHECK(ended, "{} deadlocks", longer.name);
    return result;
}

}  // namespace switchfold::learning
