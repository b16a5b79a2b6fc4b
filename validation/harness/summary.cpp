// SPDX-License-Identifier: Apache-2.0
#include "sim/intervals/effects.h"
#include "validation/harness/suite.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace switchfold::validation {

double Case::error_beyond_interval() const {
    const bool within = low && high && simulated >= *low && simulated <= *high;
    return within ? 0 : std::abs(error());
}

bool Case::tells() const {
    if (!low || !high)
        return true;
    constexpr double kHalf = 0.5;
    const auto holds = [&](double value) { return *low <= value && value <= *high; };
    return !holds(nothing) && !holds(kHalf * measured) && !holds(2 * measured);
}

std::optional<double> log_ratio_of(const Case& c) {
    if (c.like.kind.empty() || !c.tells() || !(c.measured > 0) || !(c.simulated > 0))
        return {};
    if (c.like.kind == "overlap")
        return intervals::log_ratio_of_shares(c.measured - c.nothing, c.simulated - c.nothing);
    const double ratio = std::log(c.measured / c.simulated);
    const bool rate = c.unit.find('/') != std::string::npos || c.quantity.starts_with("speed-up");
    return rate ? -ratio : ratio;
}

std::string_view standing_word(Standing standing) {
    switch (standing) {
    case Standing::kUnseen:
        return "unseen";
    case Standing::kChosen:
        return "chosen";
    case Standing::kFitted:
        break;
    }
    return "fitted";
}

void append(SuiteResult part, SuiteResult& suite) {
    std::ranges::move(part.cases, std::back_inserter(suite.cases));
    std::ranges::move(part.unmatched, std::back_inserter(suite.unmatched));
    std::ranges::move(part.notes, std::back_inserter(suite.notes));
}

double mape(std::span<const Case* const> cases) {
    if (cases.empty())
        return 0;
    double sum = 0;
    for (const Case* c : cases)
        sum += std::abs(c->error());
    return sum / static_cast<double>(cases.size());
}

double mape(const std::vector<Case>& cases) {
    std::vector<const Case*> all;
    for (const Case& c : cases)
        all.push_back(&c);
    return mape(all);
}

std::vector<GroupSummary> summarise_groups(const std::vector<Case>& cases) {
    std::vector<GroupSummary> groups;
    std::map<std::string_view, std::size_t> index;
    std::vector<std::vector<const Case*>> members;
    for (const Case& c : cases) {
        const auto [at, fresh] = index.try_emplace(c.group, groups.size());
        if (fresh) {
            groups.push_back({c.group, 0, 0, false});
            members.emplace_back();
        }
        members[at->second].push_back(&c);
        groups[at->second].fitted |= c.fitted;
    }
    for (std::size_t i = 0; i < groups.size(); ++i) {
        groups[i].mape = mape(members[i]);
        groups[i].cases = members[i].size();
    }
    return groups;
}

ExitCode exit_code_of(std::span<const SuiteResult> results) {
    const auto good = [](const SuiteResult& result) {
        return !result.skipped.empty() ||
               (!result.cases.empty() && std::ranges::all_of(result.verdicts, &Verdict::kept) &&
                std::ranges::all_of(result.groups, &GroupVerdict::kept));
    };
    return std::all_of(results.begin(), results.end(), good) ? ExitCode::kDone
                                                             : ExitCode::kOutOfTolerance;
}

}  // namespace switchfold::validation
