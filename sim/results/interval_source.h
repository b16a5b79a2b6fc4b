// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

namespace switchfold {

namespace intervals {
class Residuals;
}

/// What the intervals of results are drawn from.
struct IntervalSource {
    std::shared_ptr<const intervals::Residuals> residuals;  ///< null: results have no intervals
    std::string why_none;  ///< a note of results without; empty if nobody asked for intervals
};

}  // namespace switchfold
