// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/statistics.h"
#include "sim/output/scenario_figures.h"

#include <optional>
#include <string_view>
#include <variant>

namespace switchfold {

/// Runs over many steps, whose first table has figures of the whole run.
enum class RunOf {
    kNone,
    kMembers,   ///< in which members come and go
    kLearning,  ///< along which a small network is trained
    kEither
};

/// A figure of a scenario, declared once; result.json and its reader, the printed table, and a
/// sweep's records, database and pages are derived from this list.
struct Figure {
    std::string_view key;
    std::variant<double ScenarioFigures::*, std::optional<double> ScenarioFigures::*> member;
    Unit unit = Unit::kMicroseconds;  ///< or kBytes, kShare, kFactor, kCount
    std::string_view title;           ///< of its table column
    std::string_view meaning;
    unsigned table_place = 0;        ///< position among a table's columns; 0: not shown
    std::string_view chart_title{};  ///< in reports of sweeps; empty: not shown
    /// Key of the figure on which a table column depends: it is hidden if that figure is noticeable
    /// in no scenario or missing in all; empty: always shown.
    std::string_view shown_by{};
    int decimals = 3;  ///< of a count in files, because means over seeds or ranks are fractional
    bool more_is_better = false;  ///< factors are always better when larger
    bool of_gpus = false;         ///< not shown for other devices
    /// Position among the columns of a kernel beside a collective, each in a loop; 0: not shown.
    unsigned loop_place = 0;
    /// Lower end of the range that a scenario's figure is the upper end of, where it has one.
    std::optional<double> ScenarioFigures::*low = nullptr;
    /// Position among the columns of the first table of a run over many steps, where a scenario
    /// knows it; 0: not shown.
    unsigned run_place = 0;
    RunOf run_of = RunOf::kNone;    ///< the runs that show it there
    bool where_it_differs = false;  ///< left out there where all scenarios agree on it
    bool pace = false;              ///< of the whole run where there is one, not of a step
    bool has_interval = false;      ///< in ScenarioFigures::intervals

    [[nodiscard]] std::optional<double> of(const ScenarioFigures& figures) const {
        return std::visit(
            [&](auto where) { return std::optional<double>(figures.*where); }, member);
    }
    void set(ScenarioFigures& figures, std::optional<double> value) const {
        if (const auto* always = std::get_if<double ScenarioFigures::*>(&member))
            figures.** always = value.value_or(0);
        else
            figures.*std::get<std::optional<double> ScenarioFigures::*>(member) = value;
    }
    /// Whether a scenario may lack it.
    [[nodiscard]] bool is_optional() const { return member.index() == 1; }
};

}  // namespace switchfold
