// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/params.h"
#include "workloads/learning/task/task.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

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
    static constexpr std::array<std::pair<learning::DataKind, std::string_view>, 5> kNames{
        {{learning::DataKind::kTeacher, "teacher"},
         {learning::DataKind::kSpirals, "spirals"},
         {learning::DataKind::kNoise, "noise"},
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
    static constexpr std::array<std::pair<learning::AveragingRule, std::string_view>, 6> kNames{
        {{learning::AveragingRule::kNone, "none"},
         {learning::AveragingRule::kPeriodic, "periodic"},
         {learning::AveragingRule::kPostLocal, "post_local"},
         {learning::AveragingRule::kOneShot, "one_shot"},
         {learning::AveragingRule::kElastic, "elastic"},
         {learning::AveragingRule::kBlockMomentum, "block_momentum"}}};
};

struct LearningNetworkParams : learning::NetworkShape {
    static constexpr auto fields() {
        using P = LearningNetworkParams;
        return std::tuple{
            field(
                "type",
                &P::kind,
                "mlp; residual, blocks of two maps; transformer; quadratic, a bowl whose gradient "
                "has noise."),
            field(
                "depth",
                &P::depth,
                "Pieces in a row, which stages share evenly, input and output among them.",
                1U,
                1024U),
            field("width", &P::width, "Neurons; quadratic: parameters of a piece.", 1U, 4096U),
            field("inside", &P::inside, "Neurons within a block; 0: the width.", 0U, 4096U),
            field("heads", &P::heads, "transformer: heads of attention.", 1U, 64U),
            field(
                "tokens",
                &P::tokens,
                "transformer: tokens into which a sample's features are cut.",
                1U,
                1024U),
            field("curvature", &P::curvature, "quadratic: of every parameter.", 0.0, 1e6),
            field("start", &P::start, "quadratic: of every parameter.", -1e6, 1e6)};
    }
};

struct LearningDataParams : learning::DataSpec {
    static constexpr auto fields() {
        using P = LearningDataParams;
        return std::tuple{
            field(
                "type",
                &P::kind,
                "teacher, a network with fixed weights; spirals, two of them; noise, for a "
                "quadratic network; csv; fashion_mnist, of Debian's package."),
            field("samples", &P::samples, "To train with, at most.", 1U, 1U << 20U),
            field("held_out", &P::held_out, "To measure the loss with.", 1U, 1U << 20U),
            field("features", &P::features, "teacher: numbers of an input.", 1U, 4096U),
            field("outputs", &P::outputs, "teacher: numbers of an output.", 1U, 4096U),
            field(
                "noise",
                &P::noise,
                "Standard deviation: added to the teacher's outputs or the spirals' points, or of "
                "noise itself.",
                0.0,
                1e6),
            field(
                "file",
                &P::file,
                "csv: a header, then numbers, the last column the target; fashion_mnist: another "
                "folder. Relative to this file."),
            field("classes", &P::classes, "csv: the target is a class, from 0 on.")};
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
        return std::tuple{
            field(
                "type",
                &P::rule,
                "averaged_momentum, v = m v + (1 - m) g; momentum, v = m v + g (PyTorch); adam; "
                "adamw."),
            field("momentum", &P::momentum, "m; Adam's beta 1.", 0.0, kBelowOne),
            field("second", &P::second, "Adam's beta 2.", 0.0, kBelowOne),
            field("epsilon", &P::epsilon, "Adam's.", 0.0, 1.0),
            field("decay", &P::decay, "Of weights.", 0.0, 1.0)};
    }
};

struct LearningAveragingParams : learning::AveragingSpec {
    static constexpr auto fields() {
        using P = LearningAveragingParams;
        return std::tuple{
            field(
                "type",
                &P::rule,
                "Of data-parallel replicas: none, gradients are added up in every step; periodic "
                "(local SGD); post_local; one_shot; elastic (EASGD); block_momentum (BMUF)."),
            field("every", &P::every, "Steps between averages.", 1U, 1U << 20U),
            field("strength", &P::strength, "elastic: of the pull; 0: 0.9 / replicas.", 0.0, 2.0),
            field(
                "block_momentum",
                &P::block_momentum,
                "block_momentum: of the centre; below 0: 1 - 1 / replicas.",
                -1.0,
                0.999999),
            field(
                "every_step_until",
                &P::every_step_until,
                "post_local: step; 0: half of the steps.",
                0U,
                1U << 24U),
            field(
                "keep_momentum",
                &P::keep_momentum,
                "Replicas keep their velocity when they go on from an average.")};
    }
};

/// Numbers that are trained along the simulated time; docs/learning.md.
struct LearningParams {
    LearningNetworkParams network;
    LearningDataParams data;
    LearningOptimizerParams optimizer;
    LearningAveragingParams averaging;
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
        return std::tuple{
            field("network", &P::network, "The small network that is trained."),
            field("data", &P::data, "What it is trained with."),
            field("optimizer", &P::optimizer, "How weights are updated."),
            field(
                "averaging",
                &P::averaging,
                "What data-parallel replicas do with each other's weights."),
            field("learning_rate", &P::learning_rate, "The same for all scenarios.", 0.0, 1e9),
            field(
                "batch",
                &P::batch,
                "Samples of a step, of all micro-batches and replicas together.",
                1U,
                1U << 20U),
            field("steps", &P::steps, "Steps of `batch` samples.", 1U, kMostSteps),
            field(
                "evaluate_every",
                &P::evaluate_every,
                "Steps from one measurement of the loss to the next.",
                1U,
                kMostSteps),
            field("target", &P::target, "Loss to be reached: steps and seconds to it are results."),
            field("seeds", &P::seeds, "Trainings, each from a seed of its own.", 1U, 1000U),
            field("seed", &P::seed, "The first; the others follow it."),
            field(
                "ahead",
                &P::ahead,
                "How far predictions look: by the formula of their papers, or as the simulated "
                "times show it."),
            field(
                "pipemare_decay",
                &P::pipemare_decay,
                "PipeMare's D: what stays of its average of updates from a forward to its "
                "backward.",
                1e-6,
                0.999999),
            field(
                "pipemare_steps",
                &P::pipemare_steps,
                "PipeMare's K: steps with rescaled learning rates; 0: a quarter of all.",
                0U,
                kMostSteps)};
    }
};

}  // namespace switchfold
