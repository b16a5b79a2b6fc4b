// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold::kernel_constants {

// What all GPUs share: the same numbers for every GPU, type and size. Where no other source is
// named they were chosen on half of the measured kernels of an A100 and an H100, then rounded, and
// are checked on the other half (docs/kernel_times.md).

/// A kernel's or tile's first operands: address arithmetic, then memory, then shared memory; in
/// accesses that miss the L2.
inline constexpr double kFill = 1.6;
/// A tile's end beside its bytes, in such accesses.
inline constexpr double kEpilogue = 0.8;
/// Share of the L2's bandwidth at which tiles store their results.
inline constexpr double kStoreShare = 0.37;
/// Share of a tile's end that a persistent block does not hide behind the next tile.
inline constexpr double kPersistentEnd = 0.5;
/// Memory's latency that one step of the sum waits for, before it is divided by the steps in
/// flight.
inline constexpr double kStepLatency = 1.3;
/// A second kernel that adds up partial sums, in accesses that miss the L2.
inline constexpr double kSplitSum = 6;
/// Products reach this share of what streaming reads do.
inline constexpr double kOperandShare = 0.8;
/// An operand is all in the L2 up to the first share of its capacity touched since, all gone from
/// the second on.
inline constexpr double kL2Kept = 0.5;
inline constexpr double kL2Lost = 0.9;
/// Exponent with which arithmetic and memory overlap.
inline constexpr double kSharpness = 5;
/// Rate before the power limit sets in, over the rate of long products.
inline constexpr double kBoost = 1.08;
/// How long it takes to set in.
inline constexpr double kBoostSeconds = 1e-3;

/// Operations on the vector units for each score of attention: scale, maximum, exponential, sum,
/// conversion.
inline constexpr double kScoreOperations = 11;
/// The same on the way back: FlashAttention-2 reaches 63 % of an A100's peak there (arXiv
/// 2307.08691).
inline constexpr double kScoreOperationsBack = 42;
/// A tile of attention begins and ends, in accesses that miss the L2: scheduling, lengths, queries,
/// first keys, result.
inline constexpr double kAttentionTile = 7.5;

}  // namespace switchfold::kernel_constants
