// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace switchfold::learning {

enum class NetworkKind : std::uint8_t { kMlp, kResidual, kTransformer, kQuadratic };

/// A small network that is trained in place of the simulated one. It is a chain of `depth` units,
/// which can be divided into stages; the first takes the inputs, the last produces the outputs.
struct NetworkShape {
    NetworkKind kind = NetworkKind::kMlp;
    std::uint32_t depth = 8;
    std::uint32_t width = 16;
    std::uint32_t inside = 0;  ///< width inside residual and transformer blocks; 0: `width`
    std::uint32_t heads = 2;   ///< of a transformer
    /// Transformer: number of tokens into which the features are divided. Text: characters before
    /// the predicted one.
    std::uint32_t tokens = 4;
    double curvature = 1;  ///< of a quadratic, whose units have `width` parameters each
    double start = 1;      ///< initial value of every parameter of a quadratic
};

enum class DataKind : std::uint8_t { kTeacher, kSpirals, kNoise, kText, kCsv, kFashionMnist };

struct DataSpec {
    DataKind kind = DataKind::kTeacher;
    std::uint32_t samples = 2048;  ///< for training; each epoch has its own order
    std::uint32_t held_out = 256;
    std::uint32_t features = 8;  ///< of the teacher
    std::uint32_t outputs = 4;   ///< of the teacher
    /// Standard deviation of the noise: added to the teacher's outputs or the spirals' points, or
    /// of each number of `noise` samples.
    double noise = 0.05;
    /// CSV: a header, then numbers; the last column is the target. Text: any file; empty: sentences
    /// of a grammar.
    std::string file;
    bool classes = false;  ///< CSV: the target is a class, counted from 0
};

enum class OptimizerRule : std::uint8_t {
    /// v = m v + (1 - m) g; w -= rate v. An average of gradients, as in SpecTrain.
    kAveragedMomentum,
    /// v = m v + g; w -= rate v. As in PyTorch: 1/(1 - m) times the step of the above.
    kMomentum,
    kAdam,   ///< decay is added to the gradient
    kAdamW,  ///< decay is applied to the weights directly (Loshchilov and Hutter 2019)
};

struct OptimizerSpec {
    OptimizerRule rule = OptimizerRule::kAveragedMomentum;
    double rate = 0.1;
    double momentum = 0.9;  ///< Adam's beta 1
    double second = 0.999;  ///< Adam's beta 2
    double epsilon = 1e-8;
    double decay = 0;
};

/// How far ahead predictions look.
enum class Ahead : std::uint8_t {
    kFormula,   ///< as in the methods' papers, for equal stages
    kTimeline,  ///< as measured on the timeline
};

/// How replicas combine their weights. With all rules but none, replicas train independently in
/// between.
enum class AveragingRule : std::uint8_t {
    kNone,       ///< gradients are summed in every step
    kPeriodic,   ///< all continue from the mean every few steps (local SGD, model averaging)
    kPostLocal,  ///< every step at first, then every few steps
    kOneShot,    ///< once, at the end
    /// Less often as the loss falls (Wang and Joshi, AdaComm, 2019).
    kAdaptive,
    /// Replicas and a centre attract each other (Zhang et al., EASGD, 2015).
    kElastic,
    /// The same, but each replica exchanges with the centre when it arrives.
    kElasticAsync,
    /// Replicas are pulled towards a centre with momentum (Koliousis et al., Crossbow, 2019).
    kModelAveraging,
    /// The centre moves by the mean's step with momentum (Chen and Huo, BMUF, 2016).
    kBlockMomentum,
};

struct AveragingSpec {
    AveragingRule rule = AveragingRule::kNone;
    std::uint32_t every = 1;             ///< steps between exchanges
    double strength = 0;                 ///< of the pull to a centre; 0: 0.9 / replicas
    double centre_momentum = 0.9;        ///< for synchronous model averaging
    double block_momentum = -1;          ///< for block momentum; below 0: 1 - 1 / replicas
    std::uint32_t every_step_until = 0;  ///< post-local: last such step; 0: half of all steps
    bool keep_momentum = false;  ///< replicas keep their velocity when they continue from a mean
};

/// Data-parallel replicas that join or leave between two steps. A joining replica receives weights
/// and moments while the next step runs, contributes a zero gradient of weight 0 to its all-reduce,
/// and is a full member afterwards.
struct MemberChange {
    std::uint32_t at = 0;  ///< takes effect after this step
    std::uint32_t add = 0;
    std::uint32_t remove = 0;  ///< removes the last ones
};

/// How the gradients of replicas that sum them in every step are added, where not exactly: a switch
/// that keeps 8-bit numbers rounds what is sent, what is added so far, or the sum.
struct GradientSums {
    using Rounds = std::function<void(std::span<float>)>;
    std::uint32_t replicas = 1;  ///< micro-batch j is of replica j mod replicas
    Rounds sent;
    Rounds added;     ///< after each addition
    Rounds received;  ///< the whole sum
    [[nodiscard]] bool exact() const { return !sent && !added && !received; }
};

/// What is trained, independent of the schedule.
struct Task {
    NetworkShape network;
    DataSpec data;
    OptimizerSpec optimizer;
    AveragingSpec averaging;
    GradientSums sums;
    /// Relative parts of a batch, by replica; empty: even.
    std::vector<std::uint32_t> shares;
    std::vector<MemberChange> members;  ///< ordered by step
    std::uint32_t batch = 16;           ///< samples per step, divided among its micro-batches
    std::uint32_t steps = 400;          ///< each of `batch` samples
    std::uint32_t evaluate_every = 10;
    std::uint64_t most_versions = 1U << 20U;  ///< number of passes whose versions are recorded
    Ahead ahead = Ahead::kFormula;
    double pipemare_decay = 0.5;       ///< D of PipeMare's running average of updates
    std::uint32_t pipemare_steps = 0;  ///< steps with rescaled rates; 0: a quarter of all
};

/// A problem of the task by itself, with a pointer into it: {"/network/depth", "..."}.
struct TaskProblem {
    std::string pointer;
    std::string message;
};
[[nodiscard]] std::vector<TaskProblem>
problems_of(const Task& task, std::uint32_t stages, std::uint32_t micro_batches_a_step);
/// Problems of its membership changes, starting with `replicas` replicas.
[[nodiscard]] std::vector<TaskProblem>
problems_of_members(const Task& task, std::uint32_t replicas);

}  // namespace switchfold::learning
