// SPDX-License-Identifier: Apache-2.0
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
#include <array>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

/// Reasons why rows of a source are not answered, by the beginning of their ids.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNotAnswered{
    {{"pcie_", "is of a machine, not of a plan: the rates of copies are parameters"},
     {"zero_infinity_", "is of a machine, or a range whose terms are not published"},
     {"dtr_", "recomputes by a heuristic while it runs; times of its GPU are not modelled"},
     {"autoswap_", "its networks for CIFAR-10 are not described layer by layer"},
     {"sn_", "counts tensors in place and workspaces by rules that are not published"},
     {"vdnn_", "hangs on workspaces of cuDNN's algorithms"},
     {"checkmate_", "is the largest batch of a graph that is not published"},
     {"g10_",
      "is of another simulator, of pages that move between a GPU and an SSD, which no plan here "
      "does"},
     {"flashneuron_", "is of networks that are not described layer by layer"},
     {"pt_bucket_", "is a whole process; what a view saves is one copy of the gradients"},
     {"zero_offload_", "is a time of a host's processors, or a largest model"}}};
constexpr std::string_view kOtherwise =
    "is the result of a whole framework: workspaces, in-place rules and kernels are not published";

std::string_view why_not_compared(const MemoryRow& row) {
    for (const auto& [prefix, why] : kNotAnswered)
        if (row.id.starts_with(prefix))
            return why;
    return kOtherwise;
}

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
    const std::vector<MemoryRow> rows = read_memory_rows(*data, &result.unmatched);
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
            const bool pin = row.id.starts_with("pin_");
            const bool gradient = row.id.starts_with("grad_");
            why = pin        ? pins.answer(row, c)
                  : gradient ? gradients.answer(row, c)
                             : accounting.answer(row, c);
            if (!why.empty() && !pin && !gradient) {
                why = published.answer(row, c);
                if (!why.empty() && !published.knows(row))
                    why = why_not_compared(row);
            }
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
