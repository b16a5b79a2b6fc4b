// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

namespace switchfold::validation {

/// Memory for gradients under update policies, in percent of all gradients: the
/// peak in a replay of the backward pass.
class GradientRows {
public:
    explicit GradientRows(FindTable find_table) : find_table_(std::move(find_table)) {}
    /// Fills in the case. \returns why it cannot be compared; empty if it can.
    [[nodiscard]] std::string answer(const MemoryRow& row, Case& c);
    void verdicts(SuiteResult& result) const;

private:
    FindTable find_table_;
    std::size_t compared_ = 0;
    double worst_ = 0;  ///< percentage points
};

}  // namespace switchfold::validation
