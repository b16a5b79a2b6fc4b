// SPDX-License-Identifier: Apache-2.0
#include "validation/averaging/averaging_row.h"
#include "validation/averaging/compound_rows.h"
#include "validation/averaging/coprocessor_rows.h"
#include "validation/averaging/exchange_rows.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace switchfold::validation {

namespace {

/// Rows that are compared together and form one line of output.
struct RowGroup {
    bool (*takes)(const AveragingRow& row);
    void (*compare)(
        const std::vector<AveragingRow>& rows, const SuiteOptions& options, SuiteResult& result);
};
constexpr std::array kGroups{
    RowGroup{is_of_coprocessor, compare_coprocessor}, RowGroup{is_of_exchange, compare_exchange},
    RowGroup{is_of_compound, compare_compound}};

constexpr std::string_view kExchanges = "reference/training/exchange_pcie.csv";

}  // namespace

SuiteResult run_averaging(const SuiteOptions& options) {
    const Suite& suite = suite_named("averaging");
    const auto data = data_of(suite, options);
    SuiteResult result;
    result.name = suite.name;
    std::vector<AveragingRow> rows;
    if (data)
        rows = read_averaging_rows(*data);
    // Adds more runs of one row's configuration, unless the user names a table.
    if (!options.data || std::filesystem::is_directory(*options.data))
        for (AveragingRow& row : read_averaging_rows(options.root / kShippedData / kExchanges))
            rows.push_back(std::move(row));
    for (const RowGroup& group : kGroups) {
        const auto rest = std::ranges::stable_partition(rows, group.takes);
        group.compare({rows.begin(), rest.begin()}, options, result);
        rows.erase(rows.begin(), rest.begin());
    }
    for (const AveragingRow& row : rows)
        result.unmatched.push_back({row.id, "no simulation answers it here"});
    return result;
}

}  // namespace switchfold::validation
