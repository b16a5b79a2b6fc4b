// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

#include <string_view>

namespace switchfold::validation {

inline constexpr std::string_view kModelsGroup = "models";

/// A data-parallel training step of published networks on 8 GPUs of two kinds, with ring
/// all-reduces beside the backward pass. Adds the mean and the largest slowdown of the step's
/// kernels, to be compared with published ones (arXiv 2507.03114: 18.9 % mean, 40 % at most, over
/// other models and machines). Adds a note for each network with the causes of the slowdown, and
/// with what remains of it with in-switch all-reduces if the machine supports them.
void add_models(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
