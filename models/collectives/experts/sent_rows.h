// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

#include <cstdint>

namespace switchfold {

/// What NCCL's sends and receives carry: a row for each chosen expert, at a combine back.
[[nodiscard]] UnevenExchange
sent_rows(const ExpertExchange& exchange, std::uint32_t ranks, CollectiveKind kind);

/// The largest elements of which a row consists.
[[nodiscard]] Datatype element_of_row(const ExpertExchange& exchange, CollectiveKind kind);

}  // namespace switchfold
