// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "validation/harness/suite.h"
#include "validation/memory/memory_row.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// Rows that public inputs answer beside the row itself: another row of its table, shapes, a GPU's
/// memory bandwidth. They are shown beside the published value.
class PublishedRows {
public:
    explicit PublishedRows(const SuiteOptions& options);

    /// Fills in the case. \returns why it cannot be compared; empty if it can.
    [[nodiscard]] std::string answer(const MemoryRow& row, Case& c);
    void verdicts(SuiteResult& result) const;
    /// Whether there is a rule, though its inputs may be missing.
    [[nodiscard]] bool knows(const MemoryRow& row) const { return rules_.contains(row.rule); }

private:
    struct Answer {
        std::optional<double> value;
        std::string how;  ///< or why there is none
    };
    using Rule = std::function<Answer(const MemoryRow& row)>;

    [[nodiscard]] Answer unfused_adam(double parameters) const;

    const SuiteOptions& options_;
    std::map<std::string, Rule, std::less<>> rules_;
    std::size_t accounted_ = 0;
    double worst_ = 0;  ///< share
};

}  // namespace switchfold::validation
