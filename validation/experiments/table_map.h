// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/any_value.h"
#include "core/csv.h"
#include "core/params.h"
#include "validation/experiments/map_measured.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

/// Where a column's cells go in the experiment.
struct MapColumn {
    std::string column;
    std::string pointer;
    std::string unit;
    std::string number_before;
    std::map<std::string, AnyValue> words;
    std::string otherwise;
    std::map<std::string, std::string> when;
    static constexpr auto fields() {
        return list_of(
            field("column", &MapColumn::column, "Name of the column.").required(),
            field(
                "pointer", &MapColumn::pointer,
                "JSON pointer that its cells set; {NAME} in it stands for the cell of a column.")
                .required(),
            field("unit", &MapColumn::unit, "Put behind plain numbers: \"B\"."),
            field(
                "number_before", &MapColumn::number_before,
                "Text in its cells: the number before it is set, and cells without set nothing."),
            field(
                "words", &MapColumn::words,
                "Values by cell, in which * stands for any text; the longest that fits counts. "
                "With words, any other cell refuses its row."),
            field(
                "otherwise", &MapColumn::otherwise,
                "Reason why rows whose cell none of the words fits are not compared, as in rules."),
            field("when", &MapColumn::when, "Rows that it is of; as in rules."));
    }
};

/// What rows of some kind set besides, or why they are left out.
struct MapRule {
    std::map<std::string, std::string> when;
    std::map<std::string, AnyValue> set;
    std::string leave_out;
    static constexpr auto fields() {
        return list_of(
            field(
                "when", &MapRule::when,
                "Cells by column: a text in which * stands for any text, or numbers below (<8) or "
                "above (>8) another; several with | between them; none of them after a !. All "
                "columns must fit."),
            field("set", &MapRule::set, "Values by JSON pointer; later rules win."),
            field(
                "leave_out", &MapRule::leave_out,
                "Reason why such rows are not compared; {NAME} stands for the cell of a column, "
                "{NAME,} for that up to its first comma."));
    }
};

/// Rows of a system that their own words do not tell.
struct MapSystem {
    std::map<std::string, std::string> when;
    std::string system;
    static constexpr auto fields() {
        return list_of(
            field("when", &MapSystem::when, "Rows; as in rules.").required(),
            field("system", &MapSystem::system, "Its path, from the repository.").required());
    }
};

/// Columns that say on which machine a row was measured, in the words of `measured_as`.
struct MapMachine {
    std::string gpu;
    std::string interconnect;
    std::string gpus;
    std::string nodes;
    std::map<std::string, std::string> words;
    std::vector<MapSystem> systems;
    static constexpr auto fields() {
        return list_of(
            field("gpu", &MapMachine::gpu, "Column with the GPU's name."),
            field("interconnect", &MapMachine::interconnect, "Column with the interconnect."),
            field("gpus", &MapMachine::gpus, "Column with the number of GPUs.").required(),
            field("nodes", &MapMachine::nodes, "Column with the number of machines."),
            field(
                "words", &MapMachine::words,
                "GPUs by cell, as in columns; any other cell is the GPU's name itself."),
            field(
                "systems", &MapMachine::systems,
                "Systems of rows that do not state theirs; the first that fits counts."));
    }
};

/// How rows of a table become experiments, and what of their results was measured.
struct TableMap {
    std::string name;
    std::map<std::string, std::string> only;
    std::map<std::string, std::string> lacking;
    AnyValue experiment;
    std::string experiment_column;
    std::string experiment_folder;
    std::map<std::string, std::string> places;
    std::optional<MapMachine> machine;
    std::vector<MapColumn> columns;
    std::vector<MapRule> rules;
    std::vector<MapMeasured> measured;
    std::vector<std::string> id;
    bool whole_id = false;
    std::vector<std::string> group;
    std::string group_without;
    static constexpr auto fields() {
        return list_of(
            field("name", &TableMap::name, "Of the tables that it reads."),
            field(
                "only", &TableMap::only,
                "Rows that the map is of, as in rules; what else a table holds is of no concern."),
            field(
                "lacking", &TableMap::lacking,
                "Columns that a table may lack, with the cell of all its rows then."),
            field(
                "experiment", &TableMap::experiment,
                "What all rows begin from: an experiment, or the path of one."),
            field(
                "experiment_column", &TableMap::experiment_column,
                "Column with the path of the row's own experiment, relative to the table."),
            field(
                "experiment_folder", &TableMap::experiment_folder,
                "Folder of those experiments, relative to the table."),
            field(
                "places", &TableMap::places,
                "Folders by the beginning of a text that stands for them in experiments."),
            field("machine", &TableMap::machine, "Columns that describe the machine."),
            field("columns", &TableMap::columns, "Columns that set parameters."),
            field("rules", &TableMap::rules, "What rows of some kind set besides."),
            field("measured", &TableMap::measured, "Measured numbers."),
            field(
                "id", &TableMap::id,
                "Columns whose cells name a row, or texts in which {NAME} stands for a cell; a "
                "part without its cell is left away."),
            field(
                "whole_id", &TableMap::whole_id,
                "They name it without the name of the table before them."),
            field("group", &TableMap::group, "What names its group; as in id."),
            field(
                "group_without", &TableMap::group_without,
                "Taken off the end of the group's name, {NAME} being the cell of a column."));
    }
};

/// Adds the columns that name their pointer or figure themselves: "/workload/size (B)",
/// "measured/time_us", "measured/time_us/low". Throws ConfigError (line 1) for a figure that is
/// unknown.
void add_named_columns(const CsvTable& table, const std::string& label, TableMap& map);

/// Whether a cell fits a condition of MapRule::when.
[[nodiscard]] bool meets(std::string_view condition, std::string_view cell);

/// A cell that is nothing but a number.
[[nodiscard]] std::optional<double> plain_number(std::string_view cell);

}  // namespace switchfold::validation
