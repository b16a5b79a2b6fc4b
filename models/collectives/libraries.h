// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace switchfold {

class CommunicationLibrary;

/// Signature of a row of libraries.cpp.
using LibraryRow = const CommunicationLibrary&();

/// NCCL's rings, trees, sends and receives, and reductions by switches (NVLS, CollNet).
[[nodiscard]] LibraryRow nccl_library;
[[nodiscard]] LibraryRow programs_library;
/// A deep learning framework's own copies, between GPUs and to the host.
[[nodiscard]] LibraryRow framework_library;
/// NCCL's kernels on symmetric memory.
[[nodiscard]] LibraryRow nccl_symmetric_library;
/// NCCL's collectives by copy engines.
[[nodiscard]] LibraryRow copy_engine_library;
/// Reduce-scatters and all-gathers by the stores of a product's tiles.
[[nodiscard]] LibraryRow tile_stores_library;
/// Dispatches and combines of mixture-of-experts layers.
[[nodiscard]] LibraryRow experts_library;

}  // namespace switchfold
