// SPDX-License-Identifier: Apache-2.0
#include "core/params_reader.h"
#include "validation/harness/data.h"
#include "validation/harness/suite_jobs.h"
#include "validation/memory/memory_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kMemoryMap = "validation/maps/memory.json";

/// How a verdict's rows are summed up.
enum class Summed { kShareOfWrong, kLargestError, kLargestPoints };

struct PromisedVerdict {
    MemoryVerdict verdict;
    const char* what;
    Summed summed;
    double limit;
};
/// In the order in which they are told.
constexpr PromisedVerdict kPromised[]{
    {MemoryVerdict::kTimeline, "one buffer of gradients, simulated: largest difference of a share",
     Summed::kLargestPoints, 0.001},
    {MemoryVerdict::kHostCopies, "rates of host copies: largest error", Summed::kLargestError, 0.1},
    {MemoryVerdict::kExactPins,
     "{} rows of pins by the exact programme: share of those that differ", Summed::kShareOfWrong,
     0},
    {MemoryVerdict::kGreedyPins, "{} rows of pins by GeePS's rule: share of those that differ",
     Summed::kShareOfWrong, 0},
    {MemoryVerdict::kGradients, "{} rows of memory for gradients: largest difference of a share",
     Summed::kLargestPoints, 0.001},
    {MemoryVerdict::kShapes, "{} rows from shapes: largest error", Summed::kLargestError, 0.03},
    // Agrees to the table's last digit.
    {MemoryVerdict::kLargestLayer, "largest layer of SuperNeurons' AlexNet: error",
     Summed::kLargestError, 1e-5},
    {MemoryVerdict::kStates, "{} rows of bytes a parameter: share of those that differ",
     Summed::kShareOfWrong, 0},
    {MemoryVerdict::kSources, "{} rows from their sources' rules: largest error",
     Summed::kLargestError, 0.05}};

using CasesByVerdict = std::map<MemoryVerdict, std::vector<Case>>;

double summed_up(const std::vector<Case>& cases, Summed summed) {
    double sum = 0;
    double most = 0;
    for (const Case& c : cases) {
        sum += c.simulated == c.measured ? 0 : 1;
        most = std::max(
            most,
            std::abs(
                summed == Summed::kLargestError ? c.error() : (c.simulated - c.measured) / 100));
    }
    return summed == Summed::kShareOfWrong ? sum / static_cast<double>(cases.size()) : most;
}

/// A row and the rule that is asked of it; null if none is known.
struct AskedRow {
    const MemoryRow* row;
    MemoryRule rule;
    std::string id;
};

/// Rows, those that are simulated first.
std::vector<AskedRow> asked_of(const std::vector<MemoryRow>& rows) {
    std::vector<AskedRow> asked;
    for (const MemoryRow& row : rows)
        if (simulates_gradients(row))
            asked.push_back({&row, simulated_gradients, row.id + "/simulated"});
    const auto timeline = static_cast<std::ptrdiff_t>(asked.size());
    for (const MemoryRow& row : rows)
        asked.push_back({&row, row.known ? memory_rule(row.rule) : nullptr, row.id});
    std::stable_partition(asked.begin() + timeline, asked.end(), [](const AskedRow& one) {
        return one.rule != nullptr && one.row->values.find("/system") != nullptr;
    });
    return asked;
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
    const std::vector<MemoryRow> rows = read_memory_rows(
        *data, read_params_file<TableMap>(options.root / kMemoryMap), &result.unmatched);
    const std::vector<AskedRow> asked = asked_of(rows);
    std::vector<Job> jobs;
    for (const AskedRow& one : asked)
        if (one.rule != nullptr)
            jobs.push_back({one.id, [&](const JobProgress&) {
                                return value_bytes(one.rule(*one.row, options));
                            }});
    const auto answers = values_of_suite<MemoryAnswer>(jobs, options);
    CasesByVerdict by_verdict;
    std::size_t next = 0;
    for (const AskedRow& one : asked) {
        const MemoryRow& row = *one.row;
        const MemoryAnswer answer = one.rule == nullptr
                                        ? MemoryAnswer{{}, row.known ? row.why : "has no value"}
                                        : answers[next++];
        if (!answer.value) {
            result.unmatched.push_back({one.id, answer.how});
            continue;
        }
        Case c;
        c.id = one.id;
        const bool from_shapes = answer.group.empty() && row.is_derived();
        c.group = !answer.group.empty() ? answer.group
                  : from_shapes         ? "bytes and shares from shapes"
                                        : "published beside ours";
        c.quantity = row.quantity;
        c.unit = row.unit;
        c.measured = row.value;
        c.simulated = *answer.value;
        c.fitted = answer.fitted;
        c.how = answer.how;
        if (from_shapes)
            by_verdict[MemoryVerdict::kShapes].push_back(c);
        if (from_shapes || !answer.group.empty())
            by_verdict[answer.verdict].push_back(c);
        result.cases.push_back(std::move(c));
    }
    for (const PromisedVerdict& promised : kPromised)
        if (const auto& cases = by_verdict[promised.verdict]; !cases.empty())
            result.verdicts.push_back(
                {fmt::format(fmt::runtime(promised.what), cases.size()),
                 summed_up(cases, promised.summed), promised.limit});
    result.notes.push_back(fmt::format(
        "{} of {} rows are answered; the others are listed with the reason",
        rows.size() - result.unmatched.size(), rows.size()));
    for (const auto& [why, many] : by_reason(result.unmatched))
        result.notes.push_back(fmt::format("{} rows: {}", many, why));
    return result;
}

}  // namespace switchfold::validation
