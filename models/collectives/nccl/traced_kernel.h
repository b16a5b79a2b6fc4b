// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/graph/execution_graph.h"

namespace switchfold {

/// Whether the trace ran the collective with the kernel that rings, trees and direct exchanges
/// share, as far as it says: the blocks that it shows are then theirs.
[[nodiscard]] bool traced_with_rings(const CollectiveOperation& collective);

}  // namespace switchfold
