// SPDX-License-Identifier: Apache-2.0
#include "workloads/learning/train/averaging.h"

#include "sim/core/error.h"
#include "workloads/learning/data/samples.h"
#include "workloads/learning/network/network.h"
#include "workloads/learning/optimizer/optimizer.h"
#include "workloads/learning/train/measure.h"

#include <utility>
#include <vector>

namespace switchfold::learning {

namespace {

class Replicas {
public:
    Replicas(const Task& task, const ReplicaTimes& times, Samples& samples, std::uint64_t seed) :
        task_(task),
        rule_(task.averaging),
        times_(times),
        samples_(samples),
        network_(task.network, samples.features(), samples.outputs()),
        net_(network_.cut(1)) {
        SWITCHFOLD_CHECK(
            task.batch >= times.replicas, "{} samples for {}", task.batch, times.replicas);
        centre_ = net_.front().initial_weights(seed);
        shift_ = Vector::Zero(centre_.size());
        ahead_ = centre_;
        for (std::uint32_t r = 0; r < times.replicas; ++r)
            own_.push_back(initial_version(task.optimizer, centre_));
    }

    TrainingRun run() {
        evaluate(0);
        for (std::uint32_t step = 1; step <= task_.steps && !run_.diverged; ++step) {
            for (std::uint32_t r = 0; r < times_.replicas; ++r)
                train(step - 1, r);
            seconds_ += times_.step;
            if (exchanges_after(step)) {
                combine();
                seconds_ += times_.exchange;
            }
            if (step % task_.evaluate_every == 0 || step == task_.steps)
                evaluate(step);
        }
        run_.digest = digest_of({model()});
        return std::move(run_);
    }

private:
    [[nodiscard]] bool exchanges_after(std::uint32_t step) const {
        switch (rule_.rule) {
        case AveragingRule::kNone:
        case AveragingRule::kPeriodic:
        case AveragingRule::kElastic:
        case AveragingRule::kBlockMomentum:
            break;
        case AveragingRule::kPostLocal:
            if (step <= (rule_.every_step_until > 0 ? rule_.every_step_until : task_.steps / 2))
                return true;
            break;
        case AveragingRule::kOneShot:
            return step == task_.steps;
        }
        return step % rule_.every == 0;
    }

    void train(std::uint32_t step, std::uint32_t replica) {
        const std::uint64_t begin = std::uint64_t{replica} * task_.batch / times_.replicas;
        const std::uint64_t end = (std::uint64_t{replica} + 1) * task_.batch / times_.replicas;
        const Batch batch = samples_.batch(
            std::uint64_t{step} * task_.batch + begin, static_cast<std::uint32_t>(end - begin));
        const Stage& net = net_.front();
        std::vector<Tape> tapes;
        Version& version = own_[replica];
        const Matrix output = net.forward(version.weights, batch.inputs, tapes);
        const Loss loss = loss_of(samples_.loss(), output, batch.targets, 1);
        (void)net.backward(version.weights, loss.gradient, tapes);
        Vector gradient = Vector::Zero(net.parameters());
        net.add_gradients(tapes, gradient);
        gradient /= static_cast<double>(end - begin);
        version = updated(task_.optimizer, version, std::move(gradient));
    }

    /// Of all replicas, each by its part of the batch.
    [[nodiscard]] Vector mean() const {
        Vector sum = own_.front().weights;
        for (std::size_t r = 1; r < own_.size(); ++r)
            sum += own_[r].weights;
        return sum / static_cast<double>(own_.size());
    }

    void go_on_from(const Vector& weights) {
        for (Version& version : own_) {
            version.weights = weights;
            if (!rule_.keep_momentum)
                version.first.setZero();
        }
    }

    void combine() {
        const auto count = static_cast<double>(own_.size());
        if (rule_.rule == AveragingRule::kElastic) {
            constexpr double kSum = 0.9;  // of all pulls: stable up to 1
            const double pull = rule_.strength > 0 ? rule_.strength : kSum / count;
            Vector to_centre = Vector::Zero(centre_.size());
            for (Version& version : own_) {
                const Vector part = pull * (version.weights - centre_);
                version.weights -= part;
                to_centre += part;
            }
            centre_ += to_centre;
        } else if (rule_.rule == AveragingRule::kBlockMomentum) {
            const double keep = rule_.block_momentum < 0 ? 1 - 1 / count : rule_.block_momentum;
            shift_ = keep * shift_ + (mean() - ahead_);
            centre_ += shift_;
            ahead_ = centre_ + keep * shift_;  // Nesterov's form
            go_on_from(ahead_);
        } else {
            go_on_from(mean());
        }
    }

    [[nodiscard]] Vector model() const {
        const bool has_centre =
            rule_.rule == AveragingRule::kElastic || rule_.rule == AveragingRule::kBlockMomentum;
        return has_centre ? centre_ : mean();
    }

    void evaluate(std::uint32_t step) {
        const bool just_now = step == 0 || exchanges_after(step);
        measure(
            run_,
            {step, seconds_ + (just_now ? 0 : times_.exchange), 0},
            samples_,
            net_,
            {model()});
    }

    const Task& task_;
    const AveragingSpec& rule_;
    const ReplicaTimes& times_;
    Samples& samples_;
    Network network_;
    std::vector<Stage> net_;
    std::vector<Version> own_;
    Vector centre_;
    Vector shift_;  ///< block momentum's last step
    Vector ahead_;  ///< where replicas went on from
    double seconds_ = 0;
    TrainingRun run_;
};

}  // namespace

TrainingRun learn_averaged(
    const Task& task,
    const ReplicaTimes& times,
    std::uint64_t seed,
    const std::filesystem::path& folder) {
    const auto samples = make_samples(task, seed, folder);
    return Replicas(task, times, *samples, seed).run();
}

}  // namespace switchfold::learning
