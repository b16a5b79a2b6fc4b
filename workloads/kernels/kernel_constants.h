// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold::kernel_constants {

// Constants common to all GPUs, types and sizes. Unless another source is named, they were fitted
// to half of the measured kernels of an A100 and an H100 and rounded; the other half checks them
// (docs/contention.md#a-kernel-alone).

/// Prologue of a kernel or tile until its first operands arrive (address arithmetic, memory, shared
/// memory), in memory latencies (L2 misses).
inline constexpr double kFill = 1.6;
/// Epilogue of a tile without its bytes, in memory latencies.
inline constexpr double kEpilogue = 0.8;
/// Share of the L2 bandwidth available to tiles that store results.
inline constexpr double kStoreShare = 0.37;
/// Share of a tile's epilogue that a persistent block does not hide behind the next tile.
inline constexpr double kPersistentEnd = 0.5;
/// Latency of one step along k, in memory latencies, to be divided by the steps in flight.
inline constexpr double kStepLatency = 1.3;
/// Kernel that adds up split-k partial sums, in memory latencies.
inline constexpr double kSplitSum = 6;
/// Share of the streaming read bandwidth that products reach.
inline constexpr double kOperandShare = 0.8;
/// Bytes touched since an operand's last use, as shares of the L2's capacity: up to the first the
/// operand is fully cached, from the second on not at all.
inline constexpr double kL2Kept = 0.5;
inline constexpr double kL2Lost = 0.9;
/// Exponent of the norm that combines arithmetic and memory time.
inline constexpr double kSharpness = 5;
/// Rate before the power limit takes effect, relative to that of long products.
inline constexpr double kBoost = 1.08;
/// Time (s) until the power limit takes effect.
inline constexpr double kBoostSeconds = 1e-3;

/// Vector operations per attention score: scale, maximum, exponential, sum, conversion.
inline constexpr double kScoreOperations = 11;
/// The same for backward, in which FlashAttention-2 reaches 63 % of an A100's peak (arXiv
/// 2307.08691).
inline constexpr double kScoreOperationsBack = 42;
/// What matrix instructions of single warps (mma.sync) reach on Hopper of what those of warp groups
/// do: 62.9 % of the peak (Luo et al., arXiv 2402.13499). Taken for Blackwell too, unmeasured.
inline constexpr double kSingleWarpMatrixShare = 0.629;
/// Prologue and epilogue of an attention tile, in memory latencies: scheduling, lengths, queries,
/// first keys, result.
inline constexpr double kAttentionTile = 7.5;

// Instructions of PyTorch's and Megatron-LM's own kernels at the GPU's integer rate: their times
// over those of the bytes. Unless another source is named, from a profile of Megatron-LM on eight
// A100 (docs/contention.md#a-kernel-alone).

/// Per element of an element-wise kernel that computes the places of its elements: two copies with
/// exchanged axes, a bias added to rows, a mask, all of 16-bit numbers, within 4 %.
inline constexpr double kPlaceOfElement = 43;
/// Per score of Megatron-LM's softmax of masked scores: conversion, scale, mask, exponential,
/// division; half of the scores are masked and take as many.
inline constexpr double kMaskedScore = 31;
/// Per random number of dropout: Philox 4x32-10 (Salmon et al. 2011), conversion, comparison, use.
/// From PyTorch's dropout of 8 to 34 million 16-bit numbers on a V100, 6.8 ps each (xformers#14);
/// the ten rounds alone are 20 operations a number.
inline constexpr double kRandomNumber = 46;
/// Per element of Apex's layer norm forward, by the same profile. Of 16,384 x 1,024 elements it
/// makes 73 us, measured 75 (apex#1037).
inline constexpr double kApexNorm = 39;
/// The same for backward, both of its kernels: 176 us for those elements (apex#1037).
inline constexpr double kApexNormBack = 95;
/// Per piece of an operand whose rows do not begin at multiples of 16 B: its address, its bounds,
/// its way to shared memory. From two kernels (docs/contention.md#a-kernel-alone): 19 would fit a
/// product on an H100, 23 the least that is said of one with an odd side.
inline constexpr double kPieceOfOperand = 22;

}  // namespace switchfold::kernel_constants
