// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/members.h"

#include "core/error.h"
#include "training/learning/optimizer/optimizer.h"
#include "training/learning/replicas/whole_network.h"
#include "training/learning/train/measure.h"

#include <algorithm>
#include <utility>

namespace switchfold::learning {

namespace {

class Members {
public:
    Members(
        const Task& task, std::uint32_t count, Samples& samples, std::uint64_t seed,
        const Watch& watch) :
        task_(task), watch_(watch), network_(task, samples, watch_) {
        for (std::uint32_t r = 0; r < count; ++r)
            own_.push_back(initial_version(task.optimizer, network_.initial_weights(seed)));
        run_.stages.resize(1);
        run_.stages[0].parameters = static_cast<std::uint64_t>(network_.parameters());
        run_.stages[0].moments = moments_of(task.optimizer);
    }

    TrainingRun run(const std::vector<double>& step_ends) {
        evaluate(0, 0);
        auto change = task_.members.begin();
        for (std::uint32_t done = 0; done < task_.steps && !run_.diverged; ++done) {
            watch_.reached(static_cast<double>(done) / task_.steps);
            std::uint32_t joining = 0;
            std::uint32_t left = 0;
            for (; change != task_.members.end() && change->at == done; ++change) {
                joining += change->add;
                left += change->remove;
            }
            SWITCHFOLD_CHECK(left < own_.size(), "{} leave, {} are there", left, own_.size());
            own_.resize(own_.size() - left);
            step(done, joining);
            if (joining + left > 0)
                run_.membership.push_back(
                    {done + 1, static_cast<std::uint32_t>(own_.size()), joining, left, same()});
            if ((done + 1) % task_.evaluate_every == 0 || done + 1 == task_.steps)
                evaluate(done + 1, step_ends[done]);
        }
        SWITCHFOLD_CHECK(run_.diverged || same(), "replicas differ");
        run_.digest = digest_of({own_.front().weights});
        return std::move(run_);
    }

private:
    /// A joining replica receives the state before this step's update while the members compute. It
    /// contributes a zero gradient of weight 0 to the all-reduce and applies the same update as
    /// all.
    void step(std::uint32_t done, std::uint32_t joining) {
        const auto computing = static_cast<std::uint32_t>(own_.size());
        for (std::uint32_t j = 0; j < joining; ++j)
            own_.push_back(own_.front());
        const std::vector<BatchPart> parts = parts_of(task_.batch, computing, task_.shares);
        Vector sum = Vector::Zero(network_.parameters());
        std::uint64_t samples = 0;
        for (std::uint32_t r = 0; r < own_.size(); ++r) {
            if (r >= computing) {
                sum += Vector::Zero(sum.size());
                continue;
            }
            network_.add_gradient(network_.pass(own_[r].weights, done, parts[r]), sum);
            samples += parts[r].count();
        }
        sum /= static_cast<double>(samples);
        for (Version& version : own_)
            version = updated(task_.optimizer, version, sum);
    }

    [[nodiscard]] bool same() const {
        return std::all_of(own_.begin(), own_.end(), [&](const Version& version) {
            return identical(version, own_.front());
        });
    }

    void evaluate(std::uint32_t step, double seconds) {
        measure(
            run_, {step, seconds, 0}, network_.samples(), network_.stages(),
            {own_.front().weights});
    }

    const Task& task_;
    Watch watch_;
    WholeNetwork network_;
    std::vector<Version> own_;
    TrainingRun run_;
};

}  // namespace

TrainingRun learn_with_members(
    const Task& task, std::uint32_t members, const std::vector<double>& step_ends,
    std::uint64_t seed, const std::filesystem::path& folder, const Watch& watch) {
    SWITCHFOLD_CHECK(
        step_ends.size() >= task.steps, "{} ends of {} steps", step_ends.size(), task.steps);
    const auto samples = make_samples(task, seed, folder);
    return Members(task, members, *samples, seed, watch).run(step_ends);
}

}  // namespace switchfold::learning
