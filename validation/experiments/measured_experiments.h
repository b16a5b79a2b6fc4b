// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/csv.h"
#include "core/json.h"
#include "sim/config/load.h"
#include "validation/experiments/measured_figure.h"
#include "validation/experiments/row_values.h"
#include "validation/experiments/table_map.h"
#include "validation/machines/machines.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace switchfold::validation {

struct MeasuredNumber {
    MeasuredFigure figure;
    double value = 0;  ///< in the figure's unit
    std::optional<double> low;
    std::optional<double> high;
    double shown = 1;  ///< cases show numbers of the figure's unit times this
    std::string unit;  ///< of cases
    std::string name;
    std::string group;
    std::optional<std::string> suffix;  ///< of its cases' ids; none: its name, if it is not alone
    std::optional<MapLikeness> like;
};

/// A row as an experiment, and what was measured of it.
struct MeasuredExperiment {
    std::string id;     ///< TABLE/ID, or TABLE/line N
    std::string table;  ///< that it is a row of: column id, or the group
    std::string group;
    CsvRecord record;
    std::uint32_t gpus = 0;  ///< that the row states; 0: none
    std::uint32_t nodes = 1;
    Json base;
    std::filesystem::path file;  ///< that relative paths of the experiment are relative to
    RowValues values;
    std::vector<MeasuredNumber> numbers;
    std::string why;  ///< reason why it is left out; empty if it is not
};

/// What tables of a run have in common.
struct TableContext {
    std::filesystem::path table;   ///< or the log
    std::filesystem::path map;     ///< file of the map; empty: the table names all itself
    std::filesystem::path root;    ///< the repository
    std::filesystem::path system;  ///< the machine of all rows; empty: rows say it
};

/// Turns rows into experiments. A row that cannot be read has its reason, with its line. Throws
/// ConfigError for a map or header that is wrong.
[[nodiscard]] std::vector<MeasuredExperiment>
measured_experiments(const CsvTable& table, TableMap map, const TableContext& context);

/// Why the row is left out, without the line that the reason begins with.
[[nodiscard]] std::string why_without_line(const MeasuredExperiment& row);

/// Reads a row's experiment; a problem names the column that its value comes from. Throws
/// ConfigError.
[[nodiscard]] LoadedExperiment load_row(const MeasuredExperiment& row);

}  // namespace switchfold::validation
