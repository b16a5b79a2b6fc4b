// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/params.h"
#include "validation/harness/suite.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace switchfold::validation {

/// How far answers of one kind may be off: the mean relative error of a group, or for effects
/// (slowdowns) the share of the effect that is wrong. Below 0.5, so that half, twice or none of
/// what was measured never passes.
struct Limit {
    std::string suite;
    std::string groups = "*";  ///< a star stands for any text
    std::string quantity = "*";
    double at_most = 0;
    std::string why;
    static constexpr auto fields() {
        using P = Limit;
        return list_of(
            field("suite", &P::suite, "Suite.").required(),
            field("groups", &P::groups, "Kinds of groups; a star stands for any text."),
            field("quantity", &P::quantity, "Quantity; a star stands for any text."),
            field("at_most", &P::at_most, "Largest error of a group.", 0.0, 0.49).required(),
            field("why", &P::why, "Reason.").required());
    }
};

/// Groups of which something is known beside their numbers.
struct GroupRemark {
    std::string suite;
    std::vector<std::string> groups;
    std::string why;
    static constexpr auto fields() {
        using P = GroupRemark;
        return list_of(
            field("suite", &P::suite, "Suite.").required(),
            field("groups", &P::groups, "Groups; a star stands for any text.").required(),
            field("why", &P::why, "One sentence.").required());
    }
};

/// validation/data/judging.json.
struct Judging {
    std::vector<Limit> limits;  ///< the first that fits counts
    std::vector<GroupRemark> chosen;
    std::vector<GroupRemark> known;
    static constexpr auto fields() {
        using P = Judging;
        return list_of(
            field("limits", &P::limits, "Limits; the first that fits counts.").required(),
            field("chosen", &P::chosen, "Groups that a mechanism was chosen on, and which."),
            field("known", &P::known, "Groups that are known to be off, and why."));
    }
};

/// Whether `text` is `pattern`, in which a star stands for any text.
[[nodiscard]] bool fits(std::string_view pattern, std::string_view text);

/// A verdict on each quantity of each group, in order of their first cases. A quantity without a
/// limit has limit 0: nothing passes unsaid.
[[nodiscard]] std::vector<GroupVerdict> judge(const SuiteResult& result, const Judging& judging);

/// Reads validation/data/judging.json and first_comparisons.csv below the root, and judges. Throws
/// ConfigError if either is wrong.
void judge_all(std::span<SuiteResult> results, const std::filesystem::path& root);

}  // namespace switchfold::validation
