// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/units.h"

#include <algorithm>

namespace switchfold {

/// A host thread that several ranks share: it serves them one after the other, in order of arrival.
class HostThread {
public:
    /// \returns when work that arrives at `now`, no earlier than all before it, is done.
    Time serve(Time now, Time duration) {
        free_ = std::max(free_, now) + duration;
        return free_;
    }

private:
    Time free_;
};

}  // namespace switchfold
