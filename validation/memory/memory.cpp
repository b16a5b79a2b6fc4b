// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "validation/harness/data.h"
#include "validation/harness/suite.h"
#include "validation/memory/accounting_rows.h"
#include "validation/memory/gradient_rows.h"
#include "validation/memory/host_copy_rows.h"
#include "validation/memory/memory_row.h"
#include "validation/memory/pin_rows.h"
#include "validation/memory/published_rows.h"
#include "validation/memory/simulated_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kMemoryMap = "validation/maps/memory.json";

/// Numbers of rows by reason, most first.
std::vector<std::pair<std::string, std::size_t>>
by_reason(const std::vector<Unmatched>& unmatched) {
    std::vector<std::pair<std::string, std::size_t>> reasons;
    for (const Unmatched& row : unmatched) {
        const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) {
            return reason.first == row.why;
        });
        if (found == reasons.end())
            reasons.emplace_back(row.why, 1);
        else
            ++found->second;
    }
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) {
        return a.second > b.second;
    });
    return reasons;
}

}  // namespace

SuiteResult run_memory(const SuiteOptions& options) {
    const Suite& suite = suite_named("memory");
    const auto data = data_of(suite, options);
    if (!data)
        return skipped(suite);
    SuiteResult result;
    result.name = suite.name;
    const FindTable find_table = [&](const std::string& name) {
        return find_data(options, fmt::format("models/{}.csv", name));
    };
    PinRows pins(find_table);
    GradientRows gradients(find_table);
    AccountingRows accounting;
    const std::vector<MemoryRow> rows = read_memory_rows(
        *data, read_params_file<TableMap>(options.root / kMemoryMap), &result.unmatched);
    PublishedRows published(options);
    compare_simulated_gradients(rows, options, result);
    const std::vector<std::string> copies = compare_host_copies(rows, options, result);
    for (const MemoryRow& row : rows) {
        if (std::find(copies.begin(), copies.end(), row.id) != copies.end())
            continue;
        Case c;
        c.id = row.id;
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        std::string why = "has no value";
        if (row.known) {
            if (row.rule == "pin")
                why = pins.answer(row, c);
            else if (row.rule == "gradient")
                why = gradients.answer(row, c);
            else if (accounting.knows(row))
                why = accounting.answer(row, c);
            else
                why = published.knows(row) ? published.answer(row, c) : row.why;
        }
        if (why.empty())
            result.cases.push_back(std::move(c));
        else
            result.unmatched.push_back({row.id, std::move(why)});
    }
    pins.verdicts(result);
    gradients.verdicts(result);
    accounting.verdicts(result);
    published.verdicts(result);
    result.notes.push_back(fmt::format(
        "{} of {} rows are answered; the others are listed with the reason",
        rows.size() - result.unmatched.size(), rows.size()));
    for (const auto& [why, many] : by_reason(result.unmatched))
        result.notes.push_back(fmt::format("{} rows: {}", many, why));
    return result;
}

}  // namespace switchfold::validation
