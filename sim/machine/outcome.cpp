// SPDX-License-Identifier: Apache-2.0
#include "sim/machine/outcome.h"

#include "models/collectives/engine.h"

namespace switchfold {

Outcome::Outcome() = default;
Outcome::~Outcome() = default;
Outcome::Outcome(Outcome&& other) noexcept = default;
Outcome& Outcome::operator=(Outcome&& other) noexcept = default;

}  // namespace switchfold
