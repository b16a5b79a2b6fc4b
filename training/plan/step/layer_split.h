// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/layer.h"

namespace switchfold {

// How tensor- and expert-parallel ranks divide a layer.

[[nodiscard]] inline bool splits_by_columns(const Layer& layer) {
    return layer.split == TensorSplit::kColumns ||
           (layer.split == TensorSplit::kVocabulary && layer.type == "linear");
}

/// Whether every rank holds the full output as a partial sum, over a part of the input or of the
/// vocabulary.
[[nodiscard]] inline bool leaves_partial_sums(const Layer& layer) {
    return layer.split == TensorSplit::kRows ||
           (layer.split == TensorSplit::kVocabulary && layer.type == "embedding");
}

/// Whether a layer's experts are divided over ranks.
[[nodiscard]] inline bool of_experts(const Layer& layer) {
    return layer.split == TensorSplit::kExperts;
}

}  // namespace switchfold
