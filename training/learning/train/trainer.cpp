// SPDX-License-Identifier: Apache-2.0
#include "training/learning/train/trainer.h"

#include "core/error.h"
#include "training/learning/network/network.h"
#include "training/learning/replicas/gradient_sums.h"
#include "training/learning/train/measure.h"
#include "training/learning/train/stage_weights.h"
#include "training/learning/train/weight_choice.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace switchfold::learning {

namespace {

class Trainer {
public:
    Trainer(
        const Task& task, WeightPolicy policy, const WeightTimeline& timeline, Samples& samples,
        std::uint64_t seed, const Watch& watch) :
        task_(task),
        timeline_(timeline),
        samples_(samples),
        watch_(watch),
        network_(task.network, samples.features(), samples.outputs()),
        stages_(network_.cut(timeline.stages(), &watch_)),
        choice_(task, policy, timeline),
        held_(stages_.size()),
        targets_(stages_.size()),
        measured_(stages_.size()),
        requested_(stages_.size(), std::vector<std::uint32_t>(timeline.holders(), 0)) {
        SWITCHFOLD_CHECK(
            timeline.micro_batches() >= std::uint64_t{task.steps} * timeline.a_step(),
            "{} micro-batches for {} steps", timeline.micro_batches(), task.steps);
        for (const Stage& stage : stages_)
            weights_.emplace_back(task.optimizer, stage.initial_weights(seed));
        run_.stages.resize(stages_.size());
        for (std::uint32_t s = 0; s < timeline.stages(); ++s) {
            run_.stages[s].parameters = static_cast<std::uint64_t>(stages_[s].parameters());
            run_.stages[s].moments =
                moments_of(task.optimizer) + (choice_.keep_of_average(s) > 0 ? 1 : 0);
        }
        for (std::uint32_t step = 0; step <= task.steps; ++step)
            if (step % task.evaluate_every == 0 || step == task.steps)
                add_evaluation(step);
    }

    TrainingRun run() {
        for (std::size_t s = 0; s < stages_.size(); ++s)
            reach(static_cast<std::uint32_t>(s), 0);
        const auto all = static_cast<double>(timeline_.events().size());
        double seen = 0;
        for (const WeightTimeline::Event& event : timeline_.events()) {
            if (evaluations_.empty() || run_.diverged)
                break;
            watch_.reached(seen++ / all);
            if (event.pass.kind == PassKind::kUpdate)
                update(event);
            else if (event.pass.kind == PassKind::kForward)
                forward(event);
            else
                backward(event);
        }
        SWITCHFOLD_CHECK(
            evaluations_.empty() || run_.diverged, "the timeline ends before the steps do");
        finish();
        return std::move(run_);
    }

private:
    /// A forward that waits for its backward, or whose gradients wait for an update.
    struct Flight {
        std::vector<Tape> tapes;
        Chosen read;
        bool complete = false;  ///< its gradients are computed
    };
    using Key = std::pair<std::uint32_t, std::uint32_t>;  ///< micro-batch, stage

    /// Weights of all stages after the same number of steps.
    struct Evaluation {
        std::uint32_t step = 0;
        double time = 0;
        std::vector<std::uint32_t> versions;  ///< by stage
        std::vector<StageWeights::Shared> weights;
    };
    void add_evaluation(std::uint32_t step) {
        Evaluation evaluation{step, 0, {}, std::vector<StageWeights::Shared>(stages_.size())};
        for (std::uint32_t s = 0; s < timeline_.stages(); ++s)
            evaluation.versions.push_back(
                timeline_.updates_by_earlier(s, step * timeline_.a_step()));
        evaluations_.push_back(std::move(evaluation));
    }

    [[nodiscard]] std::pair<std::uint64_t, std::uint32_t> samples_of(std::uint32_t j) const {
        const std::uint64_t a_step = timeline_.a_step();
        const std::uint64_t begin = (j % a_step) * task_.batch / a_step;
        const std::uint64_t end = (j % a_step + 1) * task_.batch / a_step;
        return {j / a_step * task_.batch + begin, static_cast<std::uint32_t>(end - begin)};
    }
    /// Excludes the first passes, which fill the pipeline and miss fewer updates.
    [[nodiscard]] bool is_steady(std::uint32_t j) const {
        return j >= 2 * timeline_.stages() * timeline_.a_step();
    }

    void forward(const WeightTimeline::Event& event) {
        const Pass& pass = event.pass;
        const std::uint32_t j = pass.micro_batch;
        Matrix input;
        if (pass.stage == 0) {
            const auto [first, count] = samples_of(j);
            Batch batch = samples_.batch(first, count);
            input = std::move(batch.inputs);
            wanted_[j] = std::move(batch.targets);
        } else {
            input = take(activations_, {j, pass.stage});
        }
        Flight& flight = flights_[{j, pass.stage}];
        const std::uint32_t version = held_by(event);
        flight.read = choice_.forward(pass, version, weights_[pass.stage]);
        note(pass, flight.read);
        Matrix output =
            stages_[pass.stage].forward(*flight.read.weights, std::move(input), flight.tapes);
        if (pass.stage + 1 < timeline_.stages()) {
            activations_[{j, pass.stage + 1}] = std::move(output);
        } else {
            Loss loss = loss_of(samples_.loss(), output, take(wanted_, j), 1);
            if (!std::isfinite(loss.sum))
                run_.diverged = {j / timeline_.a_step(), loss.sum};
            gradients_[{j, pass.stage}] = std::move(loss.gradient);
        }
        if (choice_.keeps_forward())
            held_[pass.stage].insert(j);
        count_copies(pass.stage, version);
    }

    void backward(const WeightTimeline::Event& event) {
        const Pass& pass = event.pass;
        const std::uint32_t j = pass.micro_batch;
        Flight& flight = flights_.at({j, pass.stage});
        if (pass.kind != PassKind::kWeightGradient) {
            const std::uint32_t version = held_by(event);
            const Chosen read = choice_.backward(pass, version, weights_[pass.stage], flight.read);
            note(pass, read);
            Matrix gradient = stages_[pass.stage].backward(
                *read.weights, take(gradients_, {j, pass.stage}), flight.tapes);
            if (pass.stage > 0)
                gradients_[{j, pass.stage - 1}] = std::move(gradient);
            held_[pass.stage].erase(j);
            flight.read = {};
        }
        flight.complete = pass.kind != PassKind::kInputGradient;
        if (flight.complete) {
            if (++done_[j] == timeline_.stages())
                forget();
            make(pass.stage, event.time);
        }
    }

    /// A holder of a stage has the updated weights once all gradients are available, from itself
    /// and from the stage's other holders.
    void update(const WeightTimeline::Event& event) {
        ++requested_[event.pass.stage][event.holder];
        make(event.pass.stage, event.time);
    }

    void make(std::uint32_t stage, double time) {
        StageWeights& weights = weights_[stage];
        const std::uint32_t wanted =
            *std::max_element(requested_[stage].begin(), requested_[stage].end());
        while (weights.made() < wanted) {
            const std::uint32_t number = weights.made();
            const std::vector<std::uint32_t>& from = timeline_.gradients_of(stage, number);
            const bool all = std::all_of(from.begin(), from.end(), [&](std::uint32_t j) {
                const auto found = flights_.find({j, stage});
                return found != flights_.end() && found->second.complete;
            });
            if (!all)
                return;
            // One sum of all, or one for each replica.
            const GradientSums& sums = task_.sums;
            std::vector<Vector> parts(
                sums.exact() ? 1 : sums.replicas, Vector::Zero(stages_[stage].parameters()));
            std::uint64_t samples = 0;
            for (const std::uint32_t j : from) {
                const auto flight = flights_.find({j, stage});
                stages_[stage].add_gradients(flight->second.tapes, parts[j % parts.size()]);
                flights_.erase(flight);
                samples += samples_of(j).second;
            }
            Vector gradient = sums.exact() ? std::move(parts.front()) : rounded_sum(sums, parts);
            if (samples > 0)
                gradient /= static_cast<double>(samples);
            weights.update(
                std::move(gradient), choice_.rate_scale(stage, number),
                choice_.keep_of_average(stage));
            targets_[stage].made(weights);
            reach(stage, time);
        }
    }

    [[nodiscard]] std::uint32_t held_by(const WeightTimeline::Event& event) const {
        return std::min(
            requested_[event.pass.stage][event.holder], weights_[event.pass.stage].made());
    }

    /// Drops versions that are no longer read.
    void forget() {
        for (auto first = done_.begin();
             first != done_.end() && first->first == oldest_ && first->second == timeline_.stages();
             first = done_.begin()) {
            done_.erase(first);
            ++oldest_;
        }
        if (oldest_ >= timeline_.micro_batches())
            return;
        for (std::uint32_t s = 0; s < timeline_.stages(); ++s) {
            const std::uint32_t step = oldest_ / timeline_.a_step();
            const std::uint32_t oldest = std::min(
                {*std::min_element(requested_[s].begin(), requested_[s].end()),
                 timeline_.at_forward(0, oldest_), timeline_.updates_by_earlier(s, oldest_),
                 step - std::min(step, 1U)});
            weights_[s].forget_before(oldest);
        }
    }

    void note(const Pass& pass, const Chosen& read) {
        const bool forward = pass.kind == PassKind::kForward;
        const std::uint32_t s = pass.stage;
        const std::uint32_t in_order = timeline_.updates_by_earlier(s, pass.micro_batch);
        const std::uint32_t round_trip = timeline_.updates_at_round_trip(s, pass.micro_batch);
        const auto begun_with = static_cast<std::uint32_t>(read.begun_with->updates);
        ++run_.passes;
        if (run_.versions.size() < task_.most_versions)
            run_.versions.push_back(
                {pass.micro_batch, s, forward, begun_with, in_order, round_trip, read.ahead});
        if (!is_steady(pass.micro_batch))
            return;
        StageRun& stage = run_.stages[s];
        targets_[s].add(
            in_order, weights_[s], read.weights, read.begun_with,
            forward ? stage.forward_to_batch_order : stage.backward_to_batch_order);
        targets_[s].add(
            round_trip, weights_[s], read.weights, read.begun_with,
            forward ? stage.forward_to_round_trip : stage.backward_to_round_trip);
        const double missed = in_order - std::min(in_order, begun_with);
        if (forward) {
            stage.forward_missed += missed;
            ++measured_[s].first;
        } else {
            stage.backward_missed += missed;
            ++measured_[s].second;
        }
    }

    void count_copies(std::uint32_t stage, std::uint32_t version) {
        std::set<const void*> copies{&weights_[stage].version(version)->weights};
        for (const std::uint32_t j : held_[stage])
            copies.insert(flights_.at({j, stage}).read.weights.get());
        run_.stages[stage].most_copies =
            std::max(run_.stages[stage].most_copies, static_cast<std::uint32_t>(copies.size()));
    }

    /// Passes a new version to the evaluations that wait for it.
    void reach(std::uint32_t stage, double time) {
        for (Evaluation& evaluation : evaluations_) {
            if (evaluation.versions[stage] > weights_[stage].made())
                break;
            if (evaluation.versions[stage] < weights_[stage].made())
                continue;
            evaluation.weights[stage] = weights_[stage].version(weights_[stage].made());
            evaluation.time = std::max(evaluation.time, time);
        }
        while (!evaluations_.empty() && !run_.diverged &&
               std::all_of(
                   evaluations_.front().weights.begin(), evaluations_.front().weights.end(),
                   [](const auto& weights) { return weights != nullptr; })) {
            evaluate(evaluations_.front());
            evaluations_.pop_front();
        }
    }

    void evaluate(const Evaluation& evaluation) {
        std::vector<Vector> weights;
        for (const StageWeights::Shared& version : evaluation.weights)
            weights.push_back(version->weights);
        measure(run_, {evaluation.step, evaluation.time, 0}, samples_, stages_, weights);
    }

    void finish() {
        std::vector<Vector> last;
        for (std::size_t s = 0; s < stages_.size(); ++s) {
            StageRun& stage = run_.stages[s];
            const auto [forwards, backwards] = measured_[s];
            if (forwards > 0)
                stage.forward_missed /= static_cast<double>(forwards);
            if (backwards > 0)
                stage.backward_missed /= static_cast<double>(backwards);
            std::uint64_t passes = 0;
            for (std::uint32_t j = 0; j < task_.steps * timeline_.a_step(); ++j)
                if (is_steady(j)) {
                    const auto stage_number = static_cast<std::uint32_t>(s);
                    stage.between += timeline_.at_backward(stage_number, j);
                    stage.between -= timeline_.at_forward(stage_number, j);
                    ++passes;
                }
            if (passes > 0)
                stage.between /= static_cast<double>(passes);
            last.push_back(weights_[s].version(weights_[s].made())->weights);
        }
        run_.digest = digest_of(last);
    }

    template <class K, class V>
    static V take(std::map<K, V>& from, const K& key) {
        const auto found = from.find(key);
        SWITCHFOLD_CHECK(found != from.end(), "a pass comes before what it needs");
        V value = std::move(found->second);
        from.erase(found);
        return value;
    }

    const Task& task_;
    const WeightTimeline& timeline_;
    Samples& samples_;
    Watch watch_;
    Network network_;
    std::vector<Stage> stages_;
    WeightChoice choice_;
    std::vector<StageWeights> weights_;
    std::map<Key, Flight> flights_;
    std::map<Key, Matrix> activations_;  ///< inputs of a stage
    std::map<Key, Matrix> gradients_;    ///< of a stage's outputs
    std::map<std::uint32_t, Matrix> wanted_;
    std::map<std::uint32_t, std::uint32_t> done_;  ///< number of stages whose backward is done
    std::uint32_t oldest_ = 0;                     ///< first unfinished micro-batch
    std::vector<std::set<std::uint32_t>> held_;    ///< by stage: forwards whose weights are kept
    std::vector<Targets> targets_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> measured_;
    std::vector<std::vector<std::uint32_t>> requested_;  ///< [stage][holder]: updates
    std::deque<Evaluation> evaluations_;                 ///< by step
    TrainingRun run_;
};

}  // namespace

TrainingRun train(
    const Task& task, WeightPolicy policy, const WeightTimeline& timeline, Samples& samples,
    std::uint64_t seed, const Watch& watch) {
    return Trainer(task, policy, timeline, samples, seed, watch).run();
}

}  // namespace switchfold::learning
