// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"

namespace switchfold::validation {

/// A data-parallel training step of published networks on 8 GPUs of two kinds, with ring
/// all-reduces beside the backward pass: a note for each network with the causes of its kernels'
/// slowdown, and with what remains of it with in-switch all-reduces if the machine supports them,
/// and one with the mean and the largest. Published ones (arXiv 2507.03114: 18.9 % mean, 40 % at
/// most) are of steps that are not described, so that no answer could be wrong: they are no cases.
void add_models(const SuiteOptions& options, SuiteResult& suite);

}  // namespace switchfold::validation
