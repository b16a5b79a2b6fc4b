// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace switchfold::learning {

enum class NetworkKind : std::uint8_t { kMlp, kResidual, kTransformer, kQuadratic };

/// A small network that stands for the simulated one in its numbers. `depth` pieces in a row can be
/// shared out to stages; the first takes the inputs, the last makes the outputs.
struct NetworkShape {
    NetworkKind kind = NetworkKind::kMlp;
    std::uint32_t depth = 8;
    std::uint32_t width = 16;
    std::uint32_t inside = 0;  ///< of residual and transformer blocks; 0: the width
    std::uint32_t heads = 2;   ///< of a transformer
    /// Of a transformer: into so many the features are cut. Of text: characters before the next
    /// one.
    std::uint32_t tokens = 4;
    double curvature = 1;  ///< of a quadratic, each of whose pieces has `width` parameters
    double start = 1;      ///< of every parameter of a quadratic
};

enum class DataKind : std::uint8_t { kTeacher, kSpirals, kNoise, kText, kCsv, kFashionMnist };

struct DataSpec {
    DataKind kind = DataKind::kTeacher;
    std::uint32_t samples = 2048;  ///< to train with; each epoch in an order of its own
    std::uint32_t held_out = 256;
    std::uint32_t features = 8;  ///< of the teacher
    std::uint32_t outputs = 4;   ///< of the teacher
    /// Standard deviation that is added to the teacher's outputs, to the spirals' points, or of
    /// each number of noise.
    double noise = 0.05;
    /// CSV: a header, then numbers; the last column is the target. Text: any; empty: sentences of a
    /// grammar.
    std::string file;
    bool classes = false;  ///< CSV: the target is a class from 0 on
};

enum class OptimizerRule : std::uint8_t {
    /// v = m v + (1 - m) g; w -= rate v. An average of gradients, as SpecTrain has it.
    kAveragedMomentum,
    /// v = m v + g; w -= rate v. As PyTorch has it: 1/(1 - m) times the step.
    kMomentum,
    kAdam,   ///< decay is added to the gradient
    kAdamW,  ///< decay is taken off the weights (Loshchilov and Hutter 2019)
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
    kFormula,   ///< as the methods' papers count it, for equal stages
    kTimeline,  ///< as the timeline shows it
};

/// What replicas do with each other's weights. All but none train on their own in between.
enum class AveragingRule : std::uint8_t {
    kNone,       ///< gradients of every step are added up
    kPeriodic,   ///< all go on from the mean every so many steps (local SGD, model averaging)
    kPostLocal,  ///< every step at first, then every so many
    kOneShot,    ///< once, at the end
    /// Less and less rarely, as the loss falls (Wang and Joshi, AdaComm, 2019).
    kAdaptive,
    /// Replicas and a centre pull each other (Zhang et al., EASGD, 2015).
    kElastic,
    /// The same, but each replica meets the centre when it gets there.
    kElasticAsync,
    /// Replicas are pulled to a centre that has momentum (Koliousis et al., Crossbow, 2019).
    kModelAveraging,
    /// The centre's own step is the mean's with momentum (Chen and Huo, BMUF, 2016).
    kBlockMomentum,
};

struct AveragingSpec {
    AveragingRule rule = AveragingRule::kNone;
    std::uint32_t every = 1;             ///< steps
    double strength = 0;                 ///< of the pull to a centre; 0: 0.9 / replicas
    double centre_momentum = 0.9;        ///< of synchronous model averaging
    double block_momentum = -1;          ///< of block momentum; below 0: 1 - 1 / replicas
    std::uint32_t every_step_until = 0;  ///< of post-local: step; 0: half of the steps
    bool keep_momentum = false;  ///< replicas keep their velocity when they go on from a mean
};

/// Data-parallel replicas that come or go between two steps. Who comes receives weights and moments
/// while the next step runs, enters its all-reduce with a zero gradient of weight 0, and then is
/// like the others.
struct MemberChange {
    std::uint32_t at = 0;  ///< step after which
    std::uint32_t add = 0;
    std::uint32_t remove = 0;  ///< the last ones go
};

/// What is trained, whatever the schedule.
struct Task {
    NetworkShape network;
    DataSpec data;
    OptimizerSpec optimizer;
    AveragingSpec averaging;
    /// Parts of a batch that replicas take, relative to each other; empty: even ones.
    std::vector<std::uint32_t> shares;
    std::vector<MemberChange> members;  ///< in the order of steps
    std::uint32_t batch = 16;           ///< samples of a step, shared out to its micro-batches
    std::uint32_t steps = 400;          ///< of `batch` samples each
    std::uint32_t evaluate_every = 10;
    std::uint64_t most_versions = 1U << 20U;  ///< passes whose versions are noted
    Ahead ahead = Ahead::kFormula;
    double pipemare_decay = 0.5;       ///< D of PipeMare's average of updates
    std::uint32_t pipemare_steps = 0;  ///< with rescaled rates; 0: a quarter of the steps
};

/// What is wrong with the task by itself, with pointers into it: {"/network/depth", "..."}.
struct TaskProblem {
    std::string pointer;
    std::string message;
};
[[nodiscard]] std::vector<TaskProblem>
problems_of(const Task& task, std::uint32_t stages, std::uint32_t micro_batches_a_step);
/// What is wrong with its changes of so many replicas at first.
[[nodiscard]] std::vector<TaskProblem>
problems_of_members(const Task& task, std::uint32_t replicas);

}  // namespace switchfold::learning
