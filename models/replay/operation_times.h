// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

namespace switchfold {

/// Begin and end of an operation, since the start of the run.
struct OperationTimes {
    Time start;
    Time end;
    bool operator==(const OperationTimes&) const = default;
};

}  // namespace switchfold
