// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/any_value.h"
#include "core/csv.h"
#include "core/params.h"

#include <filesystem>
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
    std::map<std::string, AnyValue> words;
    static constexpr auto fields() {
        return list_of(
            field("column", &MapColumn::column, "Name of the column.").required(),
            field(
                "pointer", &MapColumn::pointer,
                "JSON pointer that its cells set; {NAME} in it stands for the cell of a column.")
                .required(),
            field("unit", &MapColumn::unit, "Put behind plain numbers: \"B\"."),
            field(
                "words", &MapColumn::words,
                "Values by cell, in which * stands for any text; the longest that fits counts. "
                "With words, any other cell refuses its row."));
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
                "Cells by column: a text in which * stands for any text; several with | between "
                "them; none of them after a !. All columns must fit."),
            field("set", &MapRule::set, "Values by JSON pointer; later rules win."),
            field(
                "leave_out", &MapRule::leave_out,
                "Reason why such rows are not compared; {NAME} stands for the cell of a column."));
    }
};

/// A measured number.
struct MapMeasured {
    std::string column;
    std::string figure;
    std::string unit;
    std::string low;
    std::string high;
    std::map<std::string, std::string> when;
    static constexpr auto fields() {
        return list_of(
            field("column", &MapMeasured::column, "Name of the column.").required(),
            field(
                "figure", &MapMeasured::figure,
                "What of a result it is: time, bus_bandwidth, iteration ...")
                .required(),
            field("unit", &MapMeasured::unit, "Of the column: us, ms, s, GB/s ..."),
            field("low", &MapMeasured::low, "Column with the lower end of its interval."),
            field("high", &MapMeasured::high, "Column with the upper end."),
            field("when", &MapMeasured::when, "Rows that it is of; as in rules."));
    }
};

/// Columns that say on which machine a row was measured, in the words of `measured_as`.
struct MapMachine {
    std::string gpu;
    std::string interconnect;
    std::string gpus;
    std::string nodes;
    std::map<std::string, std::string> words;
    static constexpr auto fields() {
        return list_of(
            field("gpu", &MapMachine::gpu, "Column with the GPU's name."),
            field("interconnect", &MapMachine::interconnect, "Column with the interconnect."),
            field("gpus", &MapMachine::gpus, "Column with the number of GPUs.").required(),
            field("nodes", &MapMachine::nodes, "Column with the number of machines."),
            field(
                "words", &MapMachine::words,
                "GPUs by cell, as in columns; any other cell is the GPU's name itself."));
    }
};

/// How rows of a table become experiments, and what of their results was measured.
struct TableMap {
    std::string name;
    std::map<std::string, std::string> only;
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
            field("group", &TableMap::group, "Columns whose cells name its group."),
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

}  // namespace switchfold::validation
