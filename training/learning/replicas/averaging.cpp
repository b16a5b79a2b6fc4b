// SPDX-License-Identifier: Apache-2.0
#include "training/learning/replicas/averaging.h"

#include "core/error.h"
#include "training/learning/optimizer/optimizer.h"
#include "training/learning/replicas/exchange_steps.h"
#include "training/learning/replicas/meeting.h"
#include "training/learning/replicas/whole_network.h"
#include "training/learning/train/measure.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace switchfold::learning {

namespace {

/// Common part of both kinds of averaging.
class Replicas {
public:
    Replicas(
        const Task& task, const ReplicaTimes& times, Samples& samples, std::uint64_t seed,
        const Watch& watch) :
        task_(task),
        times_(times),
        watch_(watch),
        network_(task, samples, watch_),
        parts_(parts_of(task.batch, times.replicas(), task.shares)),
        meeting_(task.averaging, parts_, network_.initial_weights(seed)) {
        for (const BatchPart& part : parts_) {
            SWITCHFOLD_CHECK(part.count() > 0, "a replica without a sample");
            own_.push_back(initial_version(task.optimizer, network_.initial_weights(seed)));
        }
        run_.stages.resize(1);
        run_.stages[0].parameters = static_cast<std::uint64_t>(network_.parameters());
        run_.stages[0].moments = moments_of(task.optimizer);
    }

protected:
    /// \returns the sum of the samples' losses.
    double train(std::uint32_t step, std::uint32_t replica) {
        Version& version = own_[replica];
        const WholeNetwork::Pass pass = network_.pass(version.weights, step, parts_[replica]);
        version = updated(task_.optimizer, version, network_.mean_gradient(pass, parts_[replica]));
        return pass.loss;
    }

    void evaluate(std::uint32_t step, double seconds) {
        measure(
            run_, {step, seconds, 0}, network_.samples(), network_.stages(),
            {meeting_.model(own_)});
    }

    TrainingRun finished() {
        run_.digest = digest_of({meeting_.model(own_)});
        return std::move(run_);
    }

    const Task& task_;
    const ReplicaTimes& times_;
    Watch watch_;
    WholeNetwork network_;
    std::vector<BatchPart> parts_;
    Meeting meeting_;
    std::vector<Version> own_;
    TrainingRun run_;
};

/// All replicas exchange together, after the same step.
class TogetherReplicas : private Replicas {
public:
    using Replicas::Replicas;

    TrainingRun run() {
        const double slowest = *std::max_element(times_.step.begin(), times_.step.end());
        ExchangeSteps exchanges(task_);
        double seconds = 0;
        evaluate(0, 0);
        std::vector<Vector> before(own_.size());
        for (std::uint32_t step = 1; step <= task_.steps && !run_.diverged; ++step) {
            watch_.reached(static_cast<double>(step) / task_.steps);
            double loss = 0;
            for (std::uint32_t r = 0; r < own_.size(); ++r) {
                before[r] = own_[r].weights;
                loss += train(step - 1, r);
            }
            seconds += slowest;
            const bool now = exchanges.after(step, loss / task_.batch);
            if (now) {
                meeting_.all(own_, before);
                seconds += times_.exchange;
            }
            if (step % task_.evaluate_every == 0 || step == task_.steps)
                evaluate(step, seconds + (now ? 0 : times_.exchange));
        }
        return finished();
    }
};

/// Each replica exchanges with the centre when it arrives; the centre serves one at a time. Faster
/// replicas take more steps; training ends after the total number of steps of all replicas.
class OneByOneReplicas : private Replicas {
public:
    using Replicas::Replicas;

    TrainingRun run() {
        evaluate(0, 0);
        const std::uint64_t all = std::uint64_t{task_.steps} * own_.size();
        std::vector<std::uint32_t> steps(own_.size(), 0);
        std::vector<double> ends(times_.step);  // end of each replica's current step
        double centre_free = 0;
        for (std::uint64_t made = 1; made <= all && !run_.diverged; ++made) {
            const auto next = std::min_element(ends.begin(), ends.end());
            const auto r = static_cast<std::uint32_t>(next - ends.begin());
            double now = *next;
            (void)train(steps[r]++, r);
            if (steps[r] % task_.averaging.every == 0) {
                now = std::max(now, centre_free) + times_.with_centre;
                centre_free = now;
                meeting_.one(own_[r]);
            }
            ends[r] = now + times_.step[r];
            latest_ = std::max(latest_, now);
            watch_.reached(static_cast<double>(made) / static_cast<double>(all));
            if (made % own_.size() == 0)
                point(static_cast<std::uint32_t>(made / own_.size()));
        }
        return finished();
    }

private:
    void point(std::uint32_t step) {
        if (step % task_.evaluate_every == 0 || step == task_.steps)
            evaluate(step, latest_);
    }

    double latest_ = 0;  ///< end of the latest action
};

}  // namespace

TrainingRun learn_averaged(
    const Task& task, const ReplicaTimes& times, std::uint64_t seed,
    const std::filesystem::path& folder, const Watch& watch) {
    const auto samples = make_samples(task, seed, folder);
    if (task.averaging.rule == AveragingRule::kElasticAsync)
        return OneByOneReplicas(task, times, *samples, seed, watch).run();
    return TogetherReplicas(task, times, *samples, seed, watch).run();
}

}  // namespace switchfold::learning
