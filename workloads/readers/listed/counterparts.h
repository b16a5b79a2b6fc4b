// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/readers/listed/listed_run.h"

namespace switchfold {

/// Drops the operations that have no counterpart on a rank that should have one, counts them in
/// their rank's report, and gives collectives their group and sequence: the order of a
/// communicator's collectives is that of its first rank. Sorts the ranks.
void match_counterparts(ListedRun& run);

}  // namespace switchfold
