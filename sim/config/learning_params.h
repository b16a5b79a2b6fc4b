// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "training/learning/task/task.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<learning::NetworkKind> {
    static constexpr std::array<std::pair<learning::NetworkKind, std::string_view>, 4> kNames{
        {{learning::NetworkKind::kMlp, "mlp"},
         {learning::NetworkKind::kResidual, "residual"},
         {learning::NetworkKind::kTransformer, "transformer"},
         {learning::NetworkKind::kQuadratic, "quadratic"}}};
};
template <>
struct EnumNames<learning::DataKind> {
    static constexpr std::array<std::pair<learning::DataKind, std::string_view>, 6> kNames{
        {{learning::DataKind::kTeacher, "teacher"},
         {learning::DataKind::kSpirals, "spirals"},
         {learning::DataKind::kNoise, "noise"},
         {learning::DataKind::kText, "text"},
         {learning::DataKind::kCsv, "csv"},
         {learning::DataKind::kFashionMnist, "fashion_mnist"}}};
};
template <>
struct EnumNames<learning::OptimizerRule> {
    static constexpr std::array<std::pair<learning::OptimizerRule, std::string_view>, 4> kNames{
        {{learning::OptimizerRule::kAveragedMomentum, "averaged_momentum"},
         {learning::OptimizerRule::kMomentum, "momentum"},
         {learning::OptimizerRule::kAdam, "adam"},
         {learning::OptimizerRule::kAdamW, "adamw"}}};
};
template <>
struct EnumNames<learning::Ahead> {
    static constexpr std::array<std::pair<learning::Ahead, std::string_view>, 2> kNames{
        {{learning::Ahead::kFormula, "formula"}, {learning::Ahead::kTimeline, "timeline"}}};
};
template <>
struct EnumNames<learning::AveragingRule> {
    static constexpr std::array<std::pair<learning::AveragingRule, std::string_view>, 9> kNames{
        {{learning::AveragingRule::kNone, "none"},
         {learning::AveragingRule::kPeriodic, "periodic"},
         {learning::AveragingRule::kPostLocal, "post_local"},
         {learning::AveragingRule::kOneShot, "one_shot"},
         {learning::AveragingRule::kAdaptive, "adaptive"},
         {learning::AveragingRule::kElastic, "elastic"},
         {learning::AveragingRule::kElasticAsync, "elastic_async"},
         {learning::AveragingRule::kModelAveraging, "model_averaging"},
         {learning::AveragingRule::kBlockMomentum, "block_momentum"}}};
};

struct LearningNetworkParams : learning::NetworkShape {
    static constexpr auto fields() {
        using P = LearningNetworkParams;
        return list_of(
            field(
                "type", &P::kind,
                "mlp; residual, blocks of two linear maps; transformer; quadratic, a quadratic "
                "loss with noisy gradients."),
            field(
                "depth", &P::depth,
                "Number of consecutive pieces, including input and output, divided evenly over the "
                "stages.",
                1U, 1024U),
            field(
                "width", &P::width, "Neurons of a layer; quadratic: parameters of a piece.", 1U,
                4096U),
            field("inside", &P::inside, "Neurons within a block; 0: the width.", 0U, 4096U),
            field("heads", &P::heads, "transformer: heads of attention.", 1U, 64U),
            field(
                "tokens", &P::tokens,
                "transformer: tokens into which a sample's features are divided; text: characters "
                "from which the next one is predicted.",
                1U, 1024U),
            field("curvature", &P::curvature, "quadratic: value for every parameter.", 0.0, 1e6),
            field("start", &P::start, "quadratic: value for every parameter.", -1e6, 1e6));
    }
};

struct LearningDataParams : learning::DataSpec {
    static constexpr auto fields() {
        using P = LearningDataParams;
        return list_of(
            field(
                "type", &P::kind,
                "teacher, a network with fixed weights; spirals, two of them; noise, for a "
                "quadratic network; text, the next character of it; csv; fashion_mnist, of "
                "Debian's "
                "package."),
            field("samples", &P::samples, "Limit on training samples.", 1U, 1U << 20U),
            field("held_out", &P::held_out, "Samples for measuring the loss.", 1U, 1U << 20U),
            field("features", &P::features, "teacher: size of an input.", 1U, 4096U),
            field("outputs", &P::outputs, "teacher: size of an output.", 1U, 4096U),
            field(
                "noise", &P::noise,
                "Standard deviation of noise, added to the teacher's outputs or the spirals' "
                "points, or forming the data of type noise.",
                0.0, 1e6),
            field(
                "file", &P::file,
                "csv: a header, then numbers, the last column the target; text: any, without it "
                "sentences of a grammar; fashion_mnist: another folder. Relative to this file."),
            field("classes", &P::classes, "csv: the target is a class, from 0 on."));
    }
    void check(ParamChecker& checker) const {
        if (kind == learning::DataKind::kCsv && file.empty())
            checker.error("/file", "is missing; expected the path of a CSV file");
    }
};

struct LearningOptimizerParams : learning::OptimizerSpec {
    static constexpr auto fields() {
        using P = LearningOptimizerParams;
        constexpr double kBelowOne = 0.999999;
        return list_of(
            field(
                "type", &P::rule,
                "averaged_momentum, v = m v + (1 - m) g; momentum, v = m v + g (PyTorch); adam; "
                "adamw."),
            field("momentum", &P::momentum, "m; Adam's beta 1.", 0.0, kBelowOne),
            field("second", &P::second, "Adam's beta 2.", 0.0, kBelowOne),
            field("epsilon", &P::epsilon, "Adam's epsilon.", 0.0, 1.0),
            field("decay", &P::decay, "Weight decay.", 0.0, 1.0));
    }
};

struct LearningAveragingParams : learning::AveragingSpec {
    static constexpr auto fields() {
        using P = LearningAveragingParams;
        return list_of(
            field(
                "type", &P::rule,
                "Averaging of data-parallel replicas: none, gradients are summed in every step; "
                "periodic (local SGD); post_local; one_shot; adaptive (AdaComm); elastic (EASGD); "
                "elastic_async, each replica meets the centre at its own time; model_averaging "
                "(SMA); block_momentum (BMUF)."),
            field("every", &P::every, "Steps between averages; adaptive: at first.", 1U, 1U << 20U),
            field(
                "strength", &P::strength,
                "elastic, elastic_async, model_averaging: strength of the pull to the centre; 0: "
                "0.9 / replicas.",
                0.0, 2.0),
            field(
                "centre_momentum", &P::centre_momentum, "model_averaging: momentum of the centre.",
                0.0, 0.999999),
            field(
                "block_momentum", &P::block_momentum,
                "block_momentum: momentum of the centre; below 0: 1 - 1 / replicas.", -1.0,
                0.999999),
            field(
                "every_step_until", &P::every_step_until,
                "post_local: step until which replicas average after every step; 0: half of the "
                "steps.",
                0U, 1U << 24U),
            field(
                "keep_momentum", &P::keep_momentum,
                "Replicas keep their momentum after an average."));
    }
};

struct LearningMemberParams : learning::MemberChange {
    static constexpr auto fields() {
        using P = LearningMemberParams;
        constexpr std::uint32_t kMostSteps = 1U << 24U;
        constexpr std::uint32_t kMostMembers = 1U << 16U;
        return list_of(
            field("at", &P::at, "Step after which the change takes effect.", 0U, kMostSteps)
                .required(),
            field(
                "add", &P::add,
                "Number of replicas that join; they receive weights and moments during the next "
                "step.",
                0U, kMostMembers),
            field(
                "remove", &P::remove, "Number of replicas that leave: the last ones.", 0U,
                kMostMembers));
    }
    void check(ParamChecker& checker) const {
        if ((add > 0) == (remove > 0))
            checker.error("", "has both or neither of add and remove; expected one of them");
    }
};

/// Training of a small network along the simulated time; docs/learning.md.
struct LearningParams {
    LearningNetworkParams network;
    LearningDataParams data;
    LearningOptimizerParams optimizer;
    LearningAveragingParams averaging;
    std::vector<std::uint32_t> shares;
    std::vector<LearningMemberParams> members;
    std::string compared_with;
    std::string gap_of;
    double learning_rate = 0.1;
    std::uint32_t batch = 16;
    std::uint32_t steps = 400;
    std::uint32_t evaluate_every = 10;
    std::optional<double> target;
    std::uint32_t seeds = 5;
    std::uint64_t seed = 1;
    learning::Ahead ahead = learning::Ahead::kFormula;
    double pipemare_decay = 0.5;
    std::uint32_t pipemare_steps = 0;

    [[nodiscard]] learning::Task task() const {
        learning::Task made;
        made.network = network;
        made.data = data;
        made.optimizer = optimizer;
        made.optimizer.rate = learning_rate;
        made.averaging = averaging;
        made.shares = shares;
        made.members.assign(members.begin(), members.end());
        made.batch = batch;
        made.steps = steps;
        made.evaluate_every = evaluate_every;
        made.ahead = ahead;
        made.pipemare_decay = pipemare_decay;
        made.pipemare_steps = pipemare_steps;
        return made;
    }
    static constexpr auto fields() {
        using P = LearningParams;
        constexpr std::uint32_t kMostSteps = 1U << 24U;
        return list_of(
            field("network", &P::network, "The small network that is trained."),
            field("data", &P::data, "What it is trained with."),
            field("optimizer", &P::optimizer, "How weights are updated."),
            field("averaging", &P::averaging, "How data-parallel replicas average their weights."),
            field(
                "shares", &P::shares,
                "Relative shares of the batch of the data-parallel replicas; absent: equal shares.",
                1U, 1U << 16U),
            field(
                "members", &P::members,
                "Joins and leaves of data-parallel replicas, in the order of steps."),
            field(
                "compared_with", &P::compared_with,
                "Scenario with which the others are compared, seed by seed; absent: the first that "
                "trains."),
            field(
                "gap_of", &P::gap_of,
                "Scenario whose difference in final loss from compared_with is the gap; results "
                "show the share of it that each other scenario closes."),
            field("learning_rate", &P::learning_rate, "The same for all scenarios.", 0.0, 1e9),
            field(
                "batch", &P::batch,
                "Samples of a step, of all micro-batches and replicas together.", 1U, 1U << 20U),
            field("steps", &P::steps, "Steps of `batch` samples.", 1U, kMostSteps),
            field(
                "evaluate_every", &P::evaluate_every, "Steps between measurements of the loss.", 1U,
                kMostSteps),
            field(
                "target", &P::target,
                "Loss to reach; results contain the steps and seconds to it."),
            field("seeds", &P::seeds, "Number of trainings, each with its own seed.", 1U, 1000U),
            field("seed", &P::seed, "The first seed; the others follow consecutively."),
            field(
                "ahead", &P::ahead,
                "Distance of weight predictions: by the formula of their papers, or from the "
                "simulated times."),
            field(
                "pipemare_decay", &P::pipemare_decay,
                "PipeMare's D: decay of its average of updates from a forward pass to its backward "
                "pass.",
                1e-6, 0.999999),
            field(
                "pipemare_steps", &P::pipemare_steps,
                "PipeMare's K: steps with rescaled learning rates; 0: a quarter of all.", 0U,
                kMostSteps));
    }
};

}  // namespace switchfold
