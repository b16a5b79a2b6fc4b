// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/mapped_suite.h"
#include "validation/experts/knees.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace switchfold::validation {

std::uint32_t knee_of(const TimeBySms& times) {
    constexpr double kGain = 1.1;
    double best = times.rbegin()->second;
    for (const auto& [sms, us] : times)
        best = std::min(best, us);
    for (const auto& [sms, us] : times)
        if (us <= best * kGain)
            return sms;
    return times.rbegin()->first;
}

namespace {

constexpr std::uint32_t kCurveFrom = 1024;  ///< tokens; start-up time dominates below
constexpr std::size_t kFewestPoints = 3;

std::uint32_t count_of(const MeasuredExperiment& row, const char* pointer) {
    const Json* const value = row.values.find(pointer);
    return value == nullptr ? 0 : value->get<std::uint32_t>();
}

/// SMs at which measured and simulated curves of time over SMs become flat.
std::vector<Case>
knee_cases(const std::vector<MeasuredExperiment>& rows, const std::vector<Case>& times) {
    struct Curve {
        TimeBySms measured;
        TimeBySms simulated;
        bool fitted = false;
    };
    std::map<std::string, const MeasuredExperiment*> row_of;
    for (const MeasuredExperiment& row : rows)
        row_of.emplace(row.id, &row);
    std::map<std::pair<std::string, std::uint32_t>, Curve> curves;
    std::vector<std::pair<std::string, std::uint32_t>> order;
    for (const Case& time : times) {
        const MeasuredExperiment& row = *row_of.at(time.id);
        const std::uint32_t tokens = count_of(row, "/workload/tokens");
        const std::uint32_t sms = count_of(row, "/scenarios/0/collectives/experts/sms");
        if (sms == 0 || tokens < kCurveFrom)
            continue;
        const std::pair key(row.group, tokens);
        const auto [at, fresh] = curves.try_emplace(key);
        if (fresh)
            order.push_back(key);
        at->second.measured[sms] = time.measured;
        at->second.simulated[sms] = time.simulated;
        at->second.fitted = at->second.fitted || time.fitted;
    }
    std::vector<Case> cases;
    for (const auto& key : order) {
        const Curve& curve = curves.at(key);
        if (curve.measured.size() < kFewestPoints)
            continue;
        Case c;
        c.id = fmt::format("{}/{}/knee", key.first, key.second);
        c.group = "knees";
        c.quantity = "knee";
        c.unit = "SMs";
        c.measured = knee_of(curve.measured);
        c.simulated = knee_of(curve.simulated);
        c.fitted = curve.fitted;
        cases.push_back(std::move(c));
    }
    return cases;
}

}  // namespace

SuiteResult run_experts(const SuiteOptions& options) {
    std::vector<MeasuredExperiment> rows;
    // The repository keeps its part of such rows in a separate file.
    SuiteResult result = run_mapped(
        suite_named("experts"),
        {"validation/maps/experts.json", "reference/expert_exchanges.csv", true}, options, &rows);
    const std::vector<Case> knees = knee_cases(rows, result.cases);
    const auto right =
        std::ranges::count_if(knees, [](const Case& c) { return c.measured == c.simulated; });
    if (!knees.empty())
        result.notes.push_back(fmt::format(
            "knees (fewest SMs within 10 % of the best time, from {} tokens on): {} of {} curves "
            "have the measured one",
            kCurveFrom, right, knees.size()));
    result.cases.insert(result.cases.end(), knees.begin(), knees.end());
    return result;
}

}  // namespace switchfold::validation
