// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

namespace switchfold::validation {

/// Bytes that follow from a network's shapes, and formulas of published systems. Each source has
/// its own accounting rule; a row is answered only if its rule is known.
class AccountingRows {
public:
    /// Whether the row's rule is one of these.
    [[nodiscard]] static bool knows(const MemoryRow& row);
    /// Fills in the case. \returns why it cannot be compared; empty if it can.
    [[nodiscard]] std::string answer(const MemoryRow& row, Case& c);
    void verdicts(SuiteResult& result) const;

private:
    double worst_derived_ = 0;  ///< share
    std::size_t derived_ = 0;
    std::size_t states_ = 0;
    std::size_t states_wrong_ = 0;
    double largest_layer_ = 0;  ///< share
};

}  // namespace switchfold::validation
