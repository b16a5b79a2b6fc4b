// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/core/units.h"
#include "workloads/graph/execution_graph.h"
#include "workloads/plan/schedule/pipeline_schedule.h"
#include "workloads/plan/step/launch_times.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// What data-parallel ranks keep of a stage only in part (Rajbhandari et al., ZeRO, 2020); each
/// includes what stands before it.
enum class Sharding : std::uint8_t { kNone, kOptimizer, kGradients, kParameters };

/// What backward computes again instead of keeping it (Korthikanti et al. 2022).
enum class Recompute : std::uint8_t {
    kNone,
    kSelective,  ///< scores of the attention and what follows from them
    kFull,       ///< blocks, but for their inputs; all layers of a network without blocks
};

/// Which weights a pass of a pipeline without flush sees.
enum class WeightPolicy : std::uint8_t {
    kLatest,          ///< the current ones, in both passes
    kStash,           ///< backward: those of its forward (PipeDream)
    kVerticalSync,    ///< every stage: those of the version with which the mini-batch came in
    kDoubleBuffered,  ///< the version before the current one, in both (PipeDream-2BW)
    kPredict,         ///< predicted anew in both passes (SpecTrain)
    kPredictOnce,     ///< backward: what its forward predicted (PipeOptim)
    kPipeMare,        ///< the current ones; backward corrects its own by an average of updates
    kXpipe,           ///< predicted once an update for all its micro-batches, in both passes
};

/// How stages pass activations on.
enum class Messages : std::uint8_t {
    kOverlapped,  ///< sent beside what computes next; received when what needs them is next
    kAhead,  ///< a receive is posted a pass ahead: its kernel waits on the GPU beside that pass
    /// A device goes on once its sends and receives are done, and its host calls nothing before
    /// (Megatron-LM's 1F1B: batch_p2p_sync).
    kBlocking,
};

enum class OptimizerKind : std::uint8_t { kAdam, kMomentum };

/// How the gradients of micro-batches come together.
enum class GradientSums : std::uint8_t {
    kFused,     ///< the product that makes them adds to what is there
    kSeparate,  ///< a kernel a layer and micro-batch reads both and writes the sum
};

/// How attention is computed.
enum class AttentionKernels : std::uint8_t {
    kFused,    ///< one kernel, scores never leave the SMs (FlashAttention)
    kUnfused,  ///< scores, softmax, dropout and values, each from memory to memory
};

/// How the loss over a vocabulary is computed.
enum class LossKernels : std::uint8_t {
    kFused,    ///< a kernel forward and one backward, in 16 bits from memory to memory
    kUnfused,  ///< operator by operator in 32 bits, as Megatron-LM's vocab_parallel_cross_entropy
};

/// How a network is trained on many GPUs. A rank is one GPU; ranks = data x context x tensor x
/// pipeline.
struct ParallelPlan {
    std::uint32_t data = 1;      ///< replicas of the whole
    std::uint32_t context = 1;   ///< ranks that share the tokens of a sample
    std::uint32_t tensor = 1;    ///< ranks that share each layer
    std::uint32_t pipeline = 1;  ///< devices in a row
    std::uint32_t expert = 1;    ///< data-parallel ranks that share a layer's experts
    bool sequence = false;       ///< tensor ranks share what lies between their products too
    Sharding sharding = Sharding::kNone;
    std::uint32_t micro_batch = 1;       ///< samples
    std::uint32_t accumulate = 1;        ///< micro-batches of a step and replica
    std::uint32_t last_micro_batch = 0;  ///< samples of the last of them; 0: as many as the others
    /// Samples of a step by replica, where micro_batch x accumulate is not that of all; a replica
    /// without samples takes no part. Empty: all have as many.
    std::vector<std::uint32_t> samples;
    GradientSums accumulation = GradientSums::kFused;
    /// Of a schedule without flush: how many are simulated, and how many there are to an update.
    std::uint32_t mini_batches = 32;
    std::uint32_t update_every = 1;
    /// Devices of each stage, where a schedule lets stages be replicated; empty: one each.
    std::vector<std::uint32_t> replicas;
    Recompute recompute = Recompute::kNone;
    std::string schedule = "1f1b";
    std::shared_ptr<const PipelineSchedule> given;  ///< read from a file: instead of the name
    std::uint32_t chunks = 1;  ///< stages a device, where the schedule leaves it open
    /// The first layer of each stage, ascending from 0; empty: balanced by time.
    std::vector<std::uint32_t> partition;
    WeightPolicy weights = WeightPolicy::kLatest;
    Messages messages = Messages::kOverlapped;
    AttentionKernels attention = AttentionKernels::kFused;
    LossKernels loss = LossKernels::kFused;
    bool overlap_gradients = true;        ///< they travel beside the last backward
    bool gradient_as_bucket_view = true;  ///< else buckets hold them a second time
    Bytes bucket = mebibytes(25);         ///< of gradients that travel together
    Bytes first_bucket = mebibytes(1);
    Datatype datatype = Datatype::kBfloat16;  ///< of weights and activations
    Datatype gradient = Datatype::kFloat32;   ///< of gradients that travel
    bool tf32 = false;                        ///< 32-bit products round their operands
    OptimizerKind optimizer = OptimizerKind::kAdam;
    LaunchTimes launches;
};

[[nodiscard]] constexpr std::uint32_t ranks_of(const ParallelPlan& plan) {
    return plan.data * plan.context * plan.tensor * plan.pipeline;
}

/// Replicas that take part in a step.
[[nodiscard]] inline std::uint32_t replicas_at_work(const ParallelPlan& plan) {
    return plan.samples.empty()
               ? plan.data
               : static_cast<std::uint32_t>(
                     plan.data - std::count(plan.samples.begin(), plan.samples.end(), 0U));
}

/// Bytes a parameter that an update reads and writes beside weights and gradients: moments, and
/// the 32-bit copy of 16-bit weights.
[[nodiscard]] inline double optimizer_state_bytes(const ParallelPlan& plan) {
    const double moments = plan.optimizer == OptimizerKind::kAdam ? 2 : 1;
    return moments * kSingleBytes +
           (element_bytes(plan.datatype) < kSingleBytes ? kSingleBytes : 0);
}

}  // namespace switchfold
