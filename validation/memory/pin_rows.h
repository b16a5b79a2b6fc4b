// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

namespace switchfold::validation {

/// Bytes (MiB) that planners pin in chains of layers with parameters.
class PinRows {
public:
    explicit PinRows(FindTable find_table) : find_table_(std::move(find_table)) {}
    /// Fills in the case. \returns why it cannot be compared; empty if it can.
    [[nodiscard]] std::string answer(const MemoryRow& row, Case& c);
    void verdicts(SuiteResult& result) const;

private:
    FindTable find_table_;
    std::size_t greedy_ = 0;
    std::size_t greedy_wrong_ = 0;
    std::size_t exact_ = 0;
    std::size_t exact_wrong_ = 0;
};

}  // namespace switchfold::validation
