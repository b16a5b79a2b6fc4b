// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "core/params_cursor.h"
#include "core/params_schema.h"
#include "core/units.h"
#include "sim/config/average_params.h"
#include "sim/config/launch_params.h"
#include "sim/config/memory_choice_params.h"
#include "sim/config/placement_params.h"
#include "training/plan/step/parallel_plan.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold {

template <>
struct EnumNames<Sharding> {
    static constexpr std::array<std::pair<Sharding, std::string_view>, 4> kNames{
        {{Sharding::kNone, "none"},
         {Sharding::kOptimizer, "optimizer"},
         {Sharding::kGradients, "gradients"},
         {Sharding::kParameters, "parameters"}}};
};
template <>
struct EnumNames<Recompute> {
    static constexpr std::array<std::pair<Recompute, std::string_view>, 4> kNames{
        {{Recompute::kNone, "none"},
         {Recompute::kSelective, "selective"},
         {Recompute::kFull, "full"},
         {Recompute::kExact, "exact"}}};
};
template <>
struct EnumNames<WeightPolicy> {
    static constexpr std::array<std::pair<WeightPolicy, std::string_view>, 8> kNames{
        {{WeightPolicy::kLatest, "latest"},
         {WeightPolicy::kStash, "stash"},
         {WeightPolicy::kVerticalSync, "vertical_sync"},
         {WeightPolicy::kDoubleBuffered, "double_buffered"},
         {WeightPolicy::kPredict, "predict"},
         {WeightPolicy::kPredictOnce, "predict_once"},
         {WeightPolicy::kPipeMare, "pipemare"},
         {WeightPolicy::kXpipe, "xpipe"}}};
};
template <>
struct EnumNames<PieceExchange> {
    static constexpr std::array<std::pair<PieceExchange, std::string_view>, 2> kNames{
        {{PieceExchange::kRing, "ring"}, {PieceExchange::kGroup, "group"}}};
};
template <>
struct EnumNames<Messages> {
    static constexpr std::array<std::pair<Messages, std::string_view>, 3> kNames{
        {{Messages::kOverlapped, "overlapped"},
         {Messages::kAhead, "ahead"},
         {Messages::kBlocking, "blocking"}}};
};
template <>
struct EnumNames<AttentionKernels> {
    static constexpr std::array<std::pair<AttentionKernels, std::string_view>, 3> kNames{
        {{AttentionKernels::kFused, "fused"},
         {AttentionKernels::kFlash2, "flash_2"},
         {AttentionKernels::kUnfused, "unfused"}}};
};
template <>
struct EnumNames<LossKernels> {
    static constexpr std::array<std::pair<LossKernels, std::string_view>, 3> kNames{
        {{LossKernels::kFused, "fused"},
         {LossKernels::kUnfused, "unfused"},
         {LossKernels::kEager, "eager"}}};
};
template <>
struct EnumNames<NormKernels> {
    static constexpr std::array<std::pair<NormKernels, std::string_view>, 2> kNames{
        {{NormKernels::kOnePass, "one_pass"}, {NormKernels::kApex, "apex"}}};
};
template <>
struct EnumNames<NormKeeps> {
    static constexpr std::array<std::pair<NormKeeps, std::string_view>, 3> kNames{
        {{NormKeeps::kEither, "either"},
         {NormKeeps::kInput, "input"},
         {NormKeeps::kOutput, "output"}}};
};
template <>
struct EnumNames<MasterWeights> {
    static constexpr std::array<std::pair<MasterWeights, std::string_view>, 2> kNames{
        {{MasterWeights::kWhole, "whole"}, {MasterWeights::kRemainder, "remainder"}}};
};
template <>
struct EnumNames<GateKernels> {
    static constexpr std::array<std::pair<GateKernels, std::string_view>, 2> kNames{
        {{GateKernels::kUnfused, "unfused"}, {GateKernels::kFused, "fused"}}};
};
template <>
struct EnumNames<UpdateKernels> {
    static constexpr std::array<std::pair<UpdateKernels, std::string_view>, 2> kNames{
        {{UpdateKernels::kFused, "fused"}, {UpdateKernels::kUnfused, "unfused"}}};
};
template <>
struct EnumNames<OptimizerKind> {
    static constexpr std::array<std::pair<OptimizerKind, std::string_view>, 2> kNames{
        {{OptimizerKind::kAdam, "adam"}, {OptimizerKind::kMomentum, "momentum"}}};
};

template <>
struct EnumNames<GradientSums> {
    static constexpr std::array<std::pair<GradientSums, std::string_view>, 2> kNames{
        {{GradientSums::kFused, "fused"}, {GradientSums::kSeparate, "separate"}}};
};

/// How replicas divide a global batch.
struct DivisionParams {
    bool balanced = false;
    std::vector<std::uint32_t> samples;  ///< by replica; empty: by the method
};
void read_value(const Cursor& c, DivisionParams& out);
[[nodiscard]] OrderedJson write_value(const DivisionParams& value);
template <>
struct SchemaOf<DivisionParams> {
    static OrderedJson make();
};

/// A pipeline's partition: the first layer of each stage, by name or number, or a method that finds
/// them.
struct PartitionParams {
    std::vector<std::string> first;  ///< empty: found by a method
    bool equal = false;
    bool planner = false;
    bool replicated = false;  ///< the planner also chooses the replicas of stages
};
void read_value(const Cursor& c, PartitionParams& out);
[[nodiscard]] OrderedJson write_value(const PartitionParams& value);
template <>
struct SchemaOf<PartitionParams> {
    static OrderedJson make();
};

/// How a network is trained on the ranks of a workload; docs/plans.md. Excludes settings that the
/// workload has for all strategies (precision, buckets).
struct PlanParams : ParallelPlan {
    std::optional<bool> fold;  ///< equal ranks are simulated once; absent: of many
    PartitionParams partition;
    std::uint32_t global_batch = 0;
    DivisionParams division;
    Bandwidth link_bandwidth = gigabytes_per_second(10);
    std::optional<MemoryChoiceParams>
        memory;  ///< none: everything stays, and updates follow the passes
    PathOr<LaunchParams> launches;
    std::optional<AverageParams> average;      ///< none: gradients are summed in every step
    std::optional<PlacementParams> placement;  ///< none: stages are sequential
    static constexpr auto fields() {
        constexpr std::uint32_t kMost = 65'536;
        return list_of(
            field("data", &PlanParams::data, "Data-parallel replicas.", 1U, kMost),
            field(
                "context", &PlanParams::context,
                "Ranks over which the tokens of a sample are divided.", 1U, kMost),
            field(
                "tensor", &PlanParams::tensor,
                "Consecutive ranks over which each layer is divided.", 1U, kMost),
            field("pipeline", &PlanParams::pipeline, "Devices of a pipeline.", 1U, kMost),
            field(
                "expert", &PlanParams::expert,
                "Data-parallel ranks over which a layer's experts are divided.", 1U, kMost),
            field(
                "sequence", &PlanParams::sequence,
                "Tensor-parallel ranks also divide the operations between their products (sequence "
                "parallelism): reduce-scatters and all-gathers instead of all-reduces."),
            field(
                "sharding", &PlanParams::sharding,
                "State that data-parallel ranks shard: none, optimizer (ZeRO 1), gradients (ZeRO "
                "2), parameters (ZeRO 3)."),
            field(
                "unit", &PlanParams::unit,
                "With sharding parameters: least size of a unit, layers whose weights are gathered "
                "and whose gradients are scattered together (FSDP); 0: weights by block, gradients "
                "by bucket.",
                Bytes(0), Bytes(1ULL << 40U)),
            field(
                "micro_batch", &PlanParams::micro_batch, "Samples of a micro-batch.", 1U,
                1U << 20U),
            field(
                "accumulate", &PlanParams::accumulate, "Micro-batches per step and replica.", 1U,
                1U << 20U),
            field(
                "global_batch", &PlanParams::global_batch,
                "Samples per step of all replicas, instead of accumulate: replicas take as many "
                "micro-batches of at most micro_batch samples as needed; 0: data x micro_batch x "
                "accumulate.",
                0U, 1U << 20U),
            field(
                "division", &PlanParams::division,
                "global_batch: \"equal\", shares that differ by at most one sample; \"balanced\", "
                "so that the slowest replica's step is shortest; or the samples of each replica "
                "(docs/plans.md#unequal-gpus)."),
            field(
                "accumulation", &PlanParams::accumulation,
                "Gradients of micro-batches are accumulated by the kernels that compute them "
                "(fused) or by separate kernels (separate)."),
            field(
                "recompute", &PlanParams::recompute,
                "Recomputed in the backward pass: none, selective (attention), full (all but the "
                "inputs of blocks), exact (beside memory: the blocks that cost least time)."),
            field(
                "recompute_every", &PlanParams::recompute_every,
                "recompute full: consecutive blocks that keep one input and are recomputed "
                "together.",
                1U, kMost),
            field(
                "recompute_one_in", &PlanParams::recompute_one_in,
                "recompute full: the last of so many blocks is recomputed and the others are kept "
                "(2: torchtitan's selective checkpoints of every second layer).",
                1U, kMost),
            field(
                "recompute_blocks", &PlanParams::recompute_blocks,
                "recompute full: the first blocks of each stage that are recomputed "
                "(Megatron-LM's method block); 0: all.",
                0U, kMost),
            field("schedule", &PlanParams::schedule, "Order of passes; docs/plans.md names them."),
            field(
                "chunks", &PlanParams::chunks, "interleaved_1f1b: stages that a device holds.", 1U,
                1024U),
            field(
                "partition", &PlanParams::partition,
                "\"auto\", the best of a few by an estimate of the step; \"equal\", equal numbers "
                "of "
                "blocks; "
                "\"planner\", PipeDream's, which also weighs messages over link_bandwidth; "
                "\"replicated\", the same with the best number of devices per stage; or the first "
                "layer of each stage by name or number."),
            field(
                "link_bandwidth", &PlanParams::link_bandwidth,
                "Rate of a message, for partition planner and for the choice of a cut.",
                Bandwidth(1), gigabytes_per_second(100'000)),
            field(
                "replicas", &PlanParams::replicas,
                "1f1b_async: number of devices per stage, which take its mini-batches in turn; "
                "empty: one per stage.",
                1U, kMost),
            field(
                "mini_batches", &PlanParams::mini_batches,
                "Schedules without flush: number of simulated mini-batches.", 1U, 1U << 20U),
            field(
                "update_every", &PlanParams::update_every,
                "Schedules without flush: mini-batches per update.", 1U, 1U << 20U),
            field(
                "weights", &PlanParams::weights,
                "Schedules without flush: weight version that a pass sees."),
            field(
                "messages", &PlanParams::messages,
                "Messages between stages: overlapped, sent beside the next computation; ahead, "
                "also received one pass ahead; blocking, like Megatron-LM's plain 1F1B."),
            field(
                "attention", &PlanParams::attention,
                "One fused kernel (FlashAttention), or separate kernels for scores, softmax, "
                "dropout and values, each from memory to memory."),
            field(
                "attention_dropout", &PlanParams::attention_dropout,
                "Unfused attention drops out part of the scores, as Megatron-LM's does unless told "
                "otherwise."),
            field(
                "loss", &PlanParams::loss,
                "fused: one kernel per direction; unfused: one per operator in 32 bits "
                "(Megatron-LM's default cross entropy); eager: PyTorch's cross_entropy of logits "
                "in "
                "32 bits, whose backward pass has two more tensors of them."),
            field(
                "norm", &PlanParams::norm,
                "Layer norms: statistics and result in one pass over memory, or Apex's "
                "FusedLayerNorm, which its instructions hold up (Megatron-LM until 2022; "
                "docs/contention.md#a-kernel-alone)."),
            field(
                "norm_keeps", &PlanParams::norm_keeps,
                "What the backward pass of a norm reads: its input (PyTorch, Transformer Engine), "
                "or "
                "its output, which the product behind it keeps anyway (Apex's memory_efficient "
                "norms); either: not known. Counted as input, but a plan that would fit with "
                "output "
                "is not refused."),
            field(
                "gate", &PlanParams::gate,
                "Gated feed-forward layers (SwiGLU): one fused kernel per direction, which does "
                "not "
                "keep the function's output (Megatron-LM's bias_swiglu_fusion, compiled code), or "
                "a kernel for the gate's function and one for the product, as in eager PyTorch. "
                "A placement takes two kernels."),
            field(
                "update", &PlanParams::update,
                "Updates of weights: one fused kernel, or one per operator as in Megatron-LM's "
                "optimizer: gradients to 32 bits, unscaled, their norm, Adam, weights to 16 bits, "
                "gradients to zero."),
            field(
                "pad_vocabulary", &PlanParams::pad_vocabulary,
                "Words are added until rows of 16-bit logits are multiples of 16 B, as Megatron-LM "
                "does; false: products copy them in smaller pieces if they are not "
                "(docs/contention.md#a-kernel-alone)."),
            field(
                "residual_dropout", &PlanParams::residual_dropout,
                "The kernels that add to the residual stream drop out part of what they add, as "
                "Megatron-LM's do unless told otherwise: random numbers, a mask of a byte an "
                "element, and a kernel of the backward pass (docs/contention.md#a-kernel-alone). "
                "Plans of "
                "memory do not count the masks."),
            field(
                "repeat_keys", &PlanParams::repeat_keys,
                "Attention copies keys and values to the heads that share them, even where each "
                "head has its own, and the host waits for the GPU before each copy, as in "
                "Megatron-LM from July to October 2023 (docs/plans.md)."),
            field(
                "overlap_gradients", &PlanParams::overlap_gradients,
                "Gradients are exchanged beside the last backward pass; false: after it."),
            field(
                "gradient_as_bucket_view", &PlanParams::gradient_as_bucket_view,
                "Gradients are views into the communicated buckets; false: they are copied there "
                "and held twice (default of PyTorch's DistributedDataParallel)."),
            field("optimizer", &PlanParams::optimizer, "adam, or SGD with momentum."),
            field(
                "masters", &PlanParams::masters,
                "What the optimizer keeps of 16-bit weights: a whole copy of 32 bits, or the "
                "remainder, the lower 16 bits (store_param_remainders of Apex's "
                "DistributedFusedAdam, which NeMo 1 sets)."),
            field(
                "tensor_overlap", &PlanParams::tensor_overlap,
                "With sequence: products run piece by piece beside the messages that bring their "
                "inputs or take their sums, a piece a tensor-parallel rank (Transformer Engine's "
                "userbuffers, PyTorch's asynchronous tensor parallelism)."),
            field(
                "tensor_exchange", &PlanParams::tensor_exchange,
                "With tensor_overlap: ring (a message to the next rank) or group (a gather or a "
                "scatter of all ranks for each piece, by the scenario's policies; pieces are waves "
                "of one kernel)."),
            field(
                "tensor_pieces", &PlanParams::tensor_pieces,
                "With tensor_exchange group: pieces of a product, no more than it has waves of "
                "thread blocks; 0: a piece a wave.",
                0U, 4096U),
            field(
                "moments", &PlanParams::moments,
                "Type of the optimizer's moments: float32, float16 or bfloat16 (DeepSeek-V3)."),
            field(
                "float8_weights", &PlanParams::float8_weights,
                "With a precision of 8 bits: the optimizer writes weights of 8 bits, ranks that "
                "share them gather these, and there is no copy of 16 bits (Megatron-LM's "
                "fp8_param_gather)."),
            field(
                "float8_dispatch", &PlanParams::float8_dispatch,
                "Tokens travel to experts, and gradients of their results, with 8 bits and a scale "
                "for 128 elements (DeepSeek-V3); results travel back with 16."),
            field(
                "expert_nodes", &PlanParams::expert_nodes,
                "A token's experts are spread over at most so many nodes. It crosses the network "
                "once for each, to the GPU at its own place there, which passes it on "
                "(node-limited routing and DeepEP, DeepSeek-V3); results come back alike. 0: it is "
                "sent to each expert's rank.",
                0U, kMost),
            field(
                "launches", &PlanParams::launches,
                "Host times to launch a kernel or call a collective, or the file with them "
                "(configs/launches). Absent: the GPU never waits for the host, as with CUDA "
                "graphs."),
            field(
                "placement", &PlanParams::placement,
                "Division by layers and branches into parts, not necessarily contiguous, instead "
                "of pipeline stages (docs/plans.md#layers-and-branches). Ranks = data x "
                "gpus of the placement.")
                .was("cut"),
            field(
                "memory", &PlanParams::memory,
                "Tensors that stay on the GPU or are offloaded to the host, and when weights are "
                "updated (docs/memory_plans.md). Absent: all stay."),
            field(
                "average", &PlanParams::average,
                "Data-parallel replicas take local steps and exchange weights periodically "
                "(docs/learning.md#averaging-replicas). Absent: gradients are summed in every "
                "step."),
            field(
                "fold", &PlanParams::fold,
                "Simulate ranks with identical work once: hundreds of GPUs in seconds; "
                "docs/plans.md says when that is exact. Default: true from 33 ranks on, unless "
                "fidelity is exact."));
    }
};

}  // namespace switchfold
