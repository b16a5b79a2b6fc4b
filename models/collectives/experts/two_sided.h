// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/collectives/running_collective.h"

#include <cstdint>
#include <memory>

namespace switchfold {

/// Thread blocks of TensorRT-LLM's two-sided exchange on a GPU with `sms` SMs: half of them.
[[nodiscard]] std::uint32_t two_sided_blocks(std::uint32_t sms);
/// Number of channels of `blocks` blocks for `ranks` ranks: two blocks serve eight channels.
[[nodiscard]] std::uint32_t two_sided_channels(std::uint32_t blocks, std::uint32_t ranks);

[[nodiscard]] std::unique_ptr<RunningCollective>
make_two_sided(const CollectiveEnvironment&, const CollectiveSpec&, MemberListener&);

}  // namespace switchfold
