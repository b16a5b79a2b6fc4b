// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"
#include "training/plan/schedule/pipeline_schedule.h"
#include "training/plan/step/launch_times.h"
#include "training/plan/step/product_recipe.h"
#include "workloads/graph/execution_graph.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchfold {

/// What data-parallel ranks shard instead of replicating (Rajbhandari et al., ZeRO, 2020); each
/// value includes the previous ones.
enum class Sharding : std::uint8_t { kNone, kOptimizer, kGradients, kParameters };

/// What backward recomputes instead of keeping it (Korthikanti et al. 2022).
enum class Recompute : std::uint8_t {
    kNone,
    kSelective,  ///< attention scores and what is computed from them
    kFull,       ///< whole blocks from their inputs; all layers in a network without blocks
    kExact,      ///< segments of blocks that a plan of memory chooses
};

/// Weights that a pass of a pipeline without flush uses.
enum class WeightPolicy : std::uint8_t {
    kLatest,          ///< the current ones, in both passes
    kStash,           ///< backward: those of its forward (PipeDream)
    kVerticalSync,    ///< all stages: the version current when the mini-batch entered
    kDoubleBuffered,  ///< the version before the current one, in both (PipeDream-2BW)
    kPredict,         ///< predicted separately for both passes (SpecTrain)
    kPredictOnce,     ///< backward: the prediction of its forward (PipeOptim)
    kPipeMare,        ///< the current ones; backward corrects them by an average of updates
    kXpipe,           ///< predicted once per update for all its micro-batches, for both passes
};

/// How stages exchange activations.
enum class Messages : std::uint8_t {
    kOverlapped,  ///< sent beside later computation; received when the pass that needs them is next
    kAhead,  ///< a receive is posted one pass ahead: its kernel waits on the GPU beside that pass
    /// A device continues only after its sends and receives are done, and its host issues no call
    /// until then (Megatron-LM's 1F1B: batch_p2p_sync).
    kBlocking,
};

enum class OptimizerKind : std::uint8_t { kAdam, kMomentum };

/// How gradients of micro-batches are summed.
enum class GradientSums : std::uint8_t {
    kFused,     ///< the product that computes them accumulates into the sum
    kSeparate,  ///< one kernel per layer and micro-batch reads both and writes the sum
};

/// How attention is computed.
enum class AttentionKernels : std::uint8_t {
    kFused,    ///< one kernel; scores never leave the SMs (FlashAttention for the GPU)
    kFlash2,   ///< the same by FlashAttention-2, on any GPU
    kUnfused,  ///< scores, softmax, dropout and values as kernels through memory
};

/// How the loss over a vocabulary is computed.
enum class LossKernels : std::uint8_t {
    kFused,    ///< one kernel forward and one backward, on 16-bit data in memory
    kUnfused,  ///< operator by operator in 32 bits, as in Megatron-LM's
               ///< vocab_parallel_cross_entropy
    kEager,    ///< in 32 bits by PyTorch's operators: log_softmax and nll_loss
};

/// How layer norms are computed.
enum class NormKernels : std::uint8_t {
    kOnePass,  ///< statistics and result in one pass over memory
    kApex,     ///< Apex's FusedLayerNorm, which its instructions hold up
};

/// What the backward pass of a norm reads.
enum class NormKeeps : std::uint8_t {
    kEither,  ///< not stated: memory is counted as with kInput
    kInput,   ///< (PyTorch, Transformer Engine)
    kOutput,  ///< which the product behind it keeps anyway (Apex's memory_efficient norms)
};

/// 32-bit copies of 16-bit weights that an update adds to.
enum class MasterWeights : std::uint8_t {
    kWhole,
    kRemainder,  ///< the lower 16 bits: the upper ones are the weights (Apex's
                 ///< DistributedFusedAdam)
};

/// How the gate of a gated feed-forward layer (SwiGLU) is applied.
enum class GateKernels : std::uint8_t {
    kUnfused,  ///< a kernel for the gate's function and one for the product, which keeps its output
    kFused,    ///< one kernel per direction; backward computes the function again
};

/// Who exchanges what a piece of a product reads or makes.
enum class PieceExchange : std::uint8_t {
    kRing,   ///< a message to the next rank, a piece a rank
    kGroup,  ///< a gather or a scatter of all ranks
};

/// How weights are updated.
enum class UpdateKernels : std::uint8_t {
    kFused,    ///< one kernel reads gradients and state and writes weights
    kUnfused,  ///< a kernel for each operator, as in Megatron-LM's optimizer
};

/// How a network is trained on many GPUs. A rank is one GPU; ranks = data x context x tensor x
/// pipeline.
struct ParallelPlan {
    std::uint32_t data = 1;      ///< replicas of the whole network
    std::uint32_t context = 1;   ///< ranks that divide the tokens of a sample
    std::uint32_t tensor = 1;    ///< ranks that divide each layer
    std::uint32_t pipeline = 1;  ///< devices in sequence
    std::uint32_t expert = 1;    ///< data-parallel ranks that divide a layer's experts
    bool sequence = false;       ///< tensor-parallel ranks also divide activations between their
                                 ///< products (sequence parallelism)
    /// With `sequence`: products run piece by piece beside the messages that bring their inputs or
    /// take their sums, one piece a tensor-parallel rank (Transformer Engine's userbuffers,
    /// PyTorch's asynchronous tensor parallelism).
    bool tensor_overlap = false;
    PieceExchange tensor_exchange = PieceExchange::kRing;
    /// With PieceExchange::kGroup: pieces of a product, each of some waves of its thread blocks; 0:
    /// a piece a wave.
    std::uint32_t tensor_pieces = 0;
    Sharding sharding = Sharding::kNone;
    /// Sharding::kParameters: least bytes of weights that are gathered together, in whole layers,
    /// whose gradients are scattered together (FullyShardedDataParallel's units); 0: weights are
    /// gathered by block and gradients scattered by bucket.
    Bytes unit;
    std::uint32_t micro_batch = 1;  ///< samples
    std::uint32_t accumulate = 1;   ///< micro-batches per step and replica
    std::uint32_t last_micro_batch =
        0;  ///< samples of the last micro-batch; 0: as many as the others
    /// Samples of a step by replica, if they are not micro_batch x accumulate for all; a replica
    /// without samples does not take part. Empty: equal for all.
    std::vector<std::uint32_t> samples;
    GradientSums accumulation = GradientSums::kFused;
    /// For a schedule without flush: mini-batches simulated, and mini-batches per update.
    std::uint32_t mini_batches = 32;
    std::uint32_t update_every = 1;
    /// Devices of each stage, for schedules with replicated stages; empty: one each.
    std::vector<std::uint32_t> replicas;
    Recompute recompute = Recompute::kNone;
    /// Recompute::kFull: consecutive blocks that are repeated together, from the first one's inputs
    /// (Chen et al. 2016).
    std::uint32_t recompute_every = 1;
    /// Recompute::kFull: the last of so many blocks is recomputed, the others are kept.
    std::uint32_t recompute_one_in = 1;
    /// Recompute::kFull: the first blocks of each stage that are recomputed; 0: all.
    std::uint32_t recompute_blocks = 0;
    std::string schedule = "1f1b";
    std::shared_ptr<const PipelineSchedule>
        given;                 ///< read from a file; replaces the named schedule
    std::uint32_t chunks = 1;  ///< stages per device, if the schedule leaves it open
    /// The first layer of each stage, ascending from 0; empty: balanced by time.
    std::vector<std::uint32_t> partition;
    WeightPolicy weights = WeightPolicy::kLatest;
    Messages messages = Messages::kOverlapped;
    AttentionKernels attention = AttentionKernels::kFused;
    bool attention_dropout = true;  ///< AttentionKernels::kUnfused drops out part of the scores
    LossKernels loss = LossKernels::kFused;
    NormKernels norm = NormKernels::kOnePass;
    GateKernels gate = GateKernels::kFused;
    UpdateKernels update = UpdateKernels::kFused;
    NormKeeps norm_keeps = NormKeeps::kEither;
    MasterWeights masters = MasterWeights::kWhole;
    /// Words that no text has are added, until rows of logits are multiples of 16 B.
    bool pad_vocabulary = true;
    /// Kernels that add to the residual stream drop out part of what they add.
    bool residual_dropout = false;
    /// Attention copies keys and values to the heads that share them, even if none do.
    bool repeat_keys = false;
    bool overlap_gradients = true;        ///< reduced beside the last backward
    bool gradient_as_bucket_view = true;  ///< otherwise they are copied to buckets and held twice
    Bytes bucket = mebibytes(25);         ///< gradients reduced together
    Bytes first_bucket = mebibytes(1);
    Datatype datatype = Datatype::kBfloat16;  ///< of weights and activations
    Datatype gradient = Datatype::kFloat32;   ///< of gradients in collectives
    bool tf32 = false;                        ///< 32-bit products round their operands to TF32
    ProductRecipe products = ProductRecipe::kNone;  ///< how they round 16-bit operands to 8 bits
    /// ProductRecipe: the optimizer writes weights of 8 bits, and these are gathered; no copy of 16
    /// bits exists.
    bool float8_weights = false;
    bool float8_dispatch = false;  ///< tokens travel to experts with 8 bits
    /// Nodes over which a token's experts are spread at most; it crosses the network once for each
    /// that it goes to. 0: once for each expert.
    std::uint32_t expert_nodes = 0;
    /// Ranks of a node, consecutive and as many in each; 0: they do not lie so.
    std::uint32_t node_ranks = 0;
    Datatype moments = Datatype::kFloat32;  ///< of the optimizer
    OptimizerKind optimizer = OptimizerKind::kAdam;
    LaunchTimes launch_times;
};

[[nodiscard]] constexpr std::uint32_t ranks_of(const ParallelPlan& plan) {
    return plan.data * plan.context * plan.tensor * plan.pipeline;
}

/// Nodes over which the ranks that hold a layer's experts are spread. \pre problems_of() has none
[[nodiscard]] constexpr std::uint32_t nodes_of_experts(const ParallelPlan& plan) {
    const std::uint32_t ranks = plan.expert * plan.context * plan.tensor;
    return plan.node_ranks == 0 || ranks <= plan.node_ranks ? 1 : ranks / plan.node_ranks;
}

/// Number of replicas that take part in a step.
[[nodiscard]] inline std::uint32_t replicas_at_work(const ParallelPlan& plan) {
    return plan.samples.empty()
               ? plan.data
               : static_cast<std::uint32_t>(
                     plan.data - std::count(plan.samples.begin(), plan.samples.end(), 0U));
}

/// Bytes that attention keeps of each score for its backward: the output of softmax, and with
/// dropout its output and mask too; 0: it is fused.
[[nodiscard]] constexpr std::uint64_t kept_of_score(const ParallelPlan& plan) {
    if (plan.attention != AttentionKernels::kUnfused)
        return 0;
    const std::uint64_t element = size_of(plan.datatype).count();
    return plan.attention_dropout ? 2 * element + 1 : element;
}

/// Bytes of `parameters` where ranks that share them gather them; `rounded` of them have 8 bits in
/// products.
[[nodiscard]] inline double
gathered_bytes(const ParallelPlan& plan, double parameters, double rounded) {
    const double element = element_bytes(plan.datatype);
    const double less = plan.float8_weights ? element - rounded_bytes(plan.products) : 0;
    return parameters * element - rounded * less;
}

/// Bytes per parameter that an update reads and writes beside weights and gradients: moments, and
/// what 16-bit weights lack of 32 bits, or the whole copy of 32 bits.
[[nodiscard]] inline double optimizer_state_bytes(const ParallelPlan& plan) {
    const double moments = plan.optimizer == OptimizerKind::kAdam ? 2 : 1;
    return moments * element_bytes(plan.moments) +
           (element_bytes(plan.datatype) == kSingleBytes ? 0
            : plan.masters == MasterWeights::kWhole      ? kSingleBytes
                                                    : kSingleBytes - element_bytes(plan.datatype));
}

}  // namespace switchfold
