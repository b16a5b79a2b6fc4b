// SPDX-License-Identifier: Apache-2.0
#include "validation/harness/judging.h"

#include "core/csv.h"
#include "core/params_reader.h"
#include "validation/harness/csv_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace switchfold::validation {

namespace {

constexpr std::string_view kJudging = "validation/data/judging.json";
constexpr std::string_view kFirst = "validation/data/first_comparisons.csv";

const GroupRemark*
remark_on(const std::vector<GroupRemark>& remarks, std::string_view suite, std::string_view group) {
    for (const GroupRemark& remark : remarks)
        if (remark.suite == suite &&
            std::ranges::any_of(remark.groups, [&](const auto& one) { return fits(one, group); }))
            return &remark;
    return nullptr;
}

/// Sums over the cases of one quantity of a group.
struct Sums {
    GroupVerdict verdict;
    bool effects = false;
    double relative = 0;  ///< errors
    double wrong = 0;     ///< of effects
    double effect = 0;

    void add(const Case& c) {
        ++verdict.cases;
        if (c.fitted)
            verdict.standing = Standing::kFitted;
        if (!c.tells())
            return;
        ++verdict.judged;
        effects |= c.nothing != 0;
        const bool within = c.low && c.high && c.simulated >= *c.low && c.simulated <= *c.high;
        relative += within ? 0 : std::abs(c.error());
        wrong += within ? 0 : std::abs(c.simulated - c.measured);
        effect += std::abs(c.measured - c.nothing);
    }
    void finish() {
        if (verdict.judged == 0)
            return;
        verdict.error =
            effects && effect > 0 ? wrong / effect : relative / static_cast<double>(verdict.judged);
    }
};

using FirstComparisons = std::map<std::pair<std::string, std::string>, FirstComparison>;

FirstComparisons read_first(const std::filesystem::path& file) {
    FirstComparisons all;
    if (!std::filesystem::exists(file))
        return all;
    CsvNumbers numbers(file.string());
    for (const CsvRecord& record : read_csv(file).records)
        if (const auto error = numbers.needed<double>(record, "error", 0.0, "a share"))
            all[{record["suite"], record["group"]}] = {*error, record["date"], record["commit"]};
    numbers.throw_if_failed();
    return all;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos)
        return pattern == text;
    if (text.substr(0, star) != pattern.substr(0, star))
        return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t at = star; at <= text.size(); ++at)
        if (fits(rest, text.substr(at)))
            return true;
    return false;
}

std::vector<GroupVerdict> judge(const SuiteResult& result, const Judging& judging) {
    std::vector<Sums> sums;
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> index;
    for (const Case& c : result.cases) {
        const auto [at, fresh] = index.try_emplace({c.group, c.quantity}, sums.size());
        if (fresh) {
            sums.emplace_back();
            sums.back().verdict.group = c.group;
            sums.back().verdict.quantity = c.quantity;
        }
        sums[at->second].add(c);
    }
    std::vector<GroupVerdict> verdicts;
    for (Sums& one : sums) {
        one.finish();
        GroupVerdict& verdict = one.verdict;
        verdict.reason = "no limit is stated for this quantity";
        for (const Limit& limit : judging.limits)
            if (limit.suite == result.name && fits(limit.groups, verdict.group) &&
                fits(limit.quantity, verdict.quantity)) {
                verdict.limit = limit.at_most;
                verdict.reason = limit.why;
                break;
            }
        if (const auto* chosen = remark_on(judging.chosen, result.name, verdict.group)) {
            verdict.chosen = chosen->why;
            if (verdict.standing == Standing::kUnseen)
                verdict.standing = Standing::kChosen;
        }
        if (const auto* known = remark_on(judging.known, result.name, verdict.group))
            verdict.known = known->why;
        verdicts.push_back(std::move(verdict));
    }
    return verdicts;
}

void judge_all(std::span<SuiteResult> results, const std::filesystem::path& root) {
    if (std::ranges::none_of(results, &SuiteResult::judged))
        return;
    const auto judging = read_params_file<Judging>(root / kJudging);
    const FirstComparisons first = read_first(root / kFirst);
    for (SuiteResult& result : results) {
        if (!result.judged)
            continue;
        result.groups = judge(result, judging);
        for (GroupVerdict& verdict : result.groups)
            if (const auto found = first.find({result.name, verdict.group}); found != first.end())
                verdict.first = found->second;
    }
}

}  // namespace switchfold::validation
