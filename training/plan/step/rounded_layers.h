// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/network.h"
#include "training/plan/step/product_recipe.h"

#include <vector>

namespace switchfold {

/// What of a layer a recipe rounds to 8 bits.
struct RoundedLayer {
    bool product = false;  ///< the operands of its products
    bool input = false;    ///< it is the first whose products read its input so
    bool norm = false;     ///< it is a norm that writes 8 bits itself
};

/// By layer. Products of linear layers read 8 bits, except the head over a vocabulary, routers, and
/// layers with a side that is no multiple of 16 (Transformer Engine) or unknown. With scales known
/// beforehand a norm that only such products read writes 8 bits itself.
[[nodiscard]] std::vector<RoundedLayer>
rounded_layers(const Network& network, ProductRecipe recipe);

}  // namespace switchfold
