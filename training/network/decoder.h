// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "training/network/gpt_shape.h"
#include "training/network/llama_shape.h"
#include "training/network/mixture_shape.h"
#include "training/network/network.h"

#include <string>

namespace switchfold {

// Decoders by their shape. A sample is one sequence. Layers have the module names of the published
// implementations.

[[nodiscard]] Network decoder(std::string name, const GptShape& shape);
[[nodiscard]] Network decoder(std::string name, const LlamaShape& shape);
/// Experts are assumed to receive equally many tokens.
[[nodiscard]] Network decoder(std::string name, const MixtureShape& shape);

}  // namespace switchfold
