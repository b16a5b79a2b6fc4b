// SPDX-License-Identifier: Apache-2.0
#include "validation/experiments/measured_experiments.h"

#include "core/error.h"
#include "core/text.h"
#include "core/named_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace switchfold::validation {

namespace {

class RowReader {
public:
    RowReader(const CsvTable& table, TableMap map, const TableContext& context) :
        table_(table), map_(std::move(map)), context_(context), places_(context.root, map_.places) {
        complete();
    }

    std::vector<MeasuredExperiment> run() {
        prepare();
        std::vector<MeasuredExperiment> rows;
        for (const CsvRecord& record : table_.records) {
            if (!fits_row(map_.only, record))
                continue;
            MeasuredExperiment row = named(record);
            try {
                fill(record, row);
            } catch (const RowProblem& problem) {
                row.why = fmt::format("line {}: {}", record.line, problem.why);
            }
            rows.push_back(std::move(row));
        }
        return rows;
    }

private:
    /// Adds the columns that the table may lack.
    void complete() {
        for (const auto& [column, cell] : map_.lacking) {
            if (table_.has(column))
                continue;
            table_.columns.push_back(column);
            for (CsvRecord& record : table_.records)
                record.fields[column] = cell;
        }
    }

    [[nodiscard]] std::string blamed_file() const {
        return (context_.map.empty() ? context_.table : context_.map).string();
    }

    /// Refuses maps and tables that do not fit each other.
    void prepare() {
        const std::string label = context_.table.string();
        add_named_columns(table_, label, map_);
        std::vector<Problem> problems;
        // A table without a row of the map is of other columns.
        const bool any =
            map_.only.empty() || std::ranges::any_of(table_.records, [&](const auto& r) {
                return fits_row(map_.only, r);
            });
        const auto needs = [&](const std::string& column) {
            if (!column.empty() && !table_.has(column) && any)
                problems.push_back(
                    {label, "line 1",
                     fmt::format("names no column {}; the map expects it", column)});
        };
        for (std::size_t i = 0; i < map_.columns.size(); ++i)
            needs(map_.columns[i].column);
        needs(map_.experiment_column);
        if (map_.machine)
            for (const std::string* column : {&map_.machine->gpu, &map_.machine->gpus})
                needs(*column);
        for (std::size_t i = 0; i < map_.measured.size(); ++i) {
            const MapMeasured& measured = map_.measured[i];
            needs(measured.column);
            try {
                figures_.push_back(measured_figure(measured.figure, measured.unit));
                shown_.push_back(
                    measured.shown.empty()
                        ? 1
                        : 1 / measured_figure(measured.figure, measured.shown).scale);
            } catch (const std::invalid_argument& wrong) {
                problems.push_back(
                    {blamed_file(), fmt::format("/measured/{}/figure", i), wrong.what()});
            }
        }
        if (map_.measured.empty())
            problems.push_back(
                {label, "line 1",
                 fmt::format(
                     "says of no column that it was measured; expected measured/time_us or the "
                     "like, or a map that says it (docs/validation.md){}",
                     table_.has("n_gpus") && table_.has("size_bytes")
                         ? "; tables of collectives are read by validate collectives"
                         : "")});
        if (!problems.empty())
            throw ConfigError(std::move(problems));
        if (map_.machine && context_.system.empty())
            machines_.emplace(context_.root);
        base_ = base_of_all();
    }

    /// What rows begin from. Without a map it is one collective, or what the columns say.
    Json base_of_all() {
        const Json& given = map_.experiment.json;
        base_file_ = blamed_file();
        if (given.is_string()) {
            base_file_ = places_.file(given.get<std::string>(), blamed_file());
            return load_json(base_file_);
        }
        if (given.is_object())
            return given;
        Json base{{"name", "measured"}, {"scenarios", Json::array({{{"name", "measured"}}})}};
        const auto sets = [&](std::string_view beginning) {
            return std::ranges::any_of(map_.columns, [&](const MapColumn& column) {
                return column.pointer.starts_with(beginning);
            });
        };
        if (sets("/workload") && !sets("/workload/type"))
            base["workload"]["type"] = sets("/workload/size") ? "collective" : "training";
        return base;
    }

    /// The cell of a column, or a text with cells in it; empty if one of them is.
    static std::string part_of(const CsvRecord& record, const std::string& part) {
        if (part.find('{') == std::string::npos)
            return record[part];
        bool lacks = false;
        const std::string text = filled(part, record, &lacks);
        return lacks ? std::string() : text;
    }

    static std::string
    joined(const CsvRecord& record, const std::vector<std::string>& parts, const char* mark) {
        std::string text;
        for (const std::string& part : parts)
            if (const std::string cell = part_of(record, part); !cell.empty())
                text += (text.empty() ? "" : mark) + cell;
        return text;
    }

    MeasuredExperiment named(const CsvRecord& record) {
        const std::string table = context_.table.stem().string();
        MeasuredExperiment row;
        row.record = record;
        std::string id = map_.id.empty() ? record["id"] : joined(record, map_.id, "/");
        if (id.empty() || !ids_.insert(id).second)
            id += fmt::format("{}line {}", id.empty() ? "" : ", ", record.line);
        row.id = map_.whole_id ? id : fmt::format("{}/{}", table, id);
        row.group = map_.group.empty() ? record["group"] : joined(record, map_.group, ", ");
        if (const std::string end = filled(map_.group_without, record); row.group.ends_with(end))
            row.group.resize(row.group.size() - end.size());
        if (row.group.empty())
            row.group = table;
        row.table = record["id"].empty() ? row.group : record["id"];
        return row;
    }

    void fill(const CsvRecord& record, MeasuredExperiment& row) {
        if (std::string why = why_left_out(map_, record); !why.empty())
            throw RowProblem{std::move(why)};
        row.file = base_file_;
        row.base = base_;
        if (!map_.experiment_column.empty())
            own_experiment(record, row);
        row.base = places_.placed(row.base);
        if (!context_.system.empty() && !map_.machine)
            row.values.set(
                "/system", std::filesystem::absolute(context_.system).string(), "--system");
        if (map_.machine)
            set_machine(record, row);
        set_mapped(map_, record, places_, context_.table, row.values);
        measured(record, row);
    }

    void own_experiment(const CsvRecord& record, MeasuredExperiment& row) const {
        const std::string& named = record[map_.experiment_column];
        if (named.empty())
            throw RowProblem{"names no experiment"};
        row.file = path_named_in(
            context_.table, std::filesystem::path(map_.experiment_folder) /
                                places_.placed(Json(named)).get<std::string>());
        try {
            row.base = load_json(row.file);
        } catch (const ConfigError& wrong) {
            throw RowProblem{wrong.what()};
        }
    }

    void set_machine(const CsvRecord& record, MeasuredExperiment& row) {
        const MapMachine& columns = *map_.machine;
        const auto count = [&](const std::string& column) -> std::optional<std::uint32_t> {
            if (column.empty() || record[column].empty())
                return std::nullopt;
            const auto number = plain_number(record[column]);
            constexpr double kMost = 1 << 20;
            if (!number || *number < 1 || *number > kMost)
                throw RowProblem{
                    fmt::format("{} is \"{}\"; expected a number from 1", column, record[column])};
            return static_cast<std::uint32_t>(*number);
        };
        WantedMachine wanted;
        wanted.gpu = columns.gpu.empty() ? "" : record[columns.gpu];
        if (const auto* const word = word_of(columns.words, wanted.gpu))
            wanted.gpu = word->second;
        wanted.interconnect = columns.interconnect.empty() ? "" : record[columns.interconnect];
        wanted.gpus = count(columns.gpus).value_or(0);
        wanted.nodes = count(columns.nodes);
        if (wanted.gpus == 0)
            throw RowProblem{fmt::format("{} is empty; expected a number from 1", columns.gpus)};
        row.gpus = wanted.gpus;
        row.nodes = wanted.nodes.value_or(1);
        const MachineMatch& match = match_of(wanted, system_of(record));
        if (!match.machine)
            throw RowProblem{match.why};
        row.values.set(
            "/system", std::filesystem::absolute(match.machine->file).string(), "the machine");
        for (const Override& change : match.machine->overrides)
            row.values.set("/system" + change.pointer, change.value, "the machine");
    }

    /// The system that is stated for a row; empty if its words tell.
    [[nodiscard]] std::filesystem::path system_of(const CsvRecord& record) const {
        if (!context_.system.empty())
            return context_.system;
        for (const MapSystem& known : map_.machine->systems)
            if (fits_row(known.when, record))
                return context_.root / known.system;
        return {};
    }

    /// Rows of a table are of few machines.
    const MachineMatch& match_of(const WantedMachine& wanted, const std::filesystem::path& system) {
        const std::string key = fmt::format(
            "{}\n{}\n{} {} {}", wanted.gpu, wanted.interconnect, wanted.gpus,
            wanted.nodes.value_or(0), system.string());
        const auto [at, fresh] = matches_.try_emplace(key);
        if (fresh)
            at->second = system.empty() ? machines_->find(wanted) : fit_machine(system, wanted);
        return at->second;
    }

    void measured(const CsvRecord& record, MeasuredExperiment& row) const {
        for (std::size_t i = 0; i < map_.measured.size(); ++i) {
            const MapMeasured& from = map_.measured[i];
            if (record[from.column].empty() || !fits_row(from.when, record))
                continue;
            const auto number = [&](const std::string& column) -> std::optional<double> {
                if (column.empty() || record[column].empty())
                    return std::nullopt;
                try {
                    return measured_number(figures_[i], record[column]);
                } catch (const std::invalid_argument& wrong) {
                    throw RowProblem{
                        fmt::format("{} is \"{}\"; {}", column, record[column], wrong.what())};
                }
            };
            double value = *number(from.column);
            if (!from.amount.empty() && !record[from.amount].empty())
                value = *number(from.amount) * figures_[i].scale / value;
            if (value <= 0 && is_of_one_scenario(figures_[i]))
                throw RowProblem{fmt::format(
                    "{} is {}; expected a number above 0", from.column, record[from.column])};
            const MeasuredFigure& figure = figures_[i];
            row.numbers.push_back(
                {figure, value, number(from.low), number(from.high), shown_[i],
                 from.shown.empty() ? figure.unit : from.shown,
                 from.name.empty() ? figure.name : from.name,
                 from.group.empty() ? row.group : joined(record, from.group, ", "), from.suffix,
                 from.like});
        }
        if (row.numbers.empty())
            throw RowProblem{"states nothing that was measured"};
    }

    CsvTable table_;
    TableMap map_;
    const TableContext& context_;
    NamedPlaces places_;
    std::optional<Machines> machines_;
    std::map<std::string, MachineMatch> matches_;  ///< by what rows say of their machines
    std::vector<MeasuredFigure> figures_;          ///< by measured column of the map
    std::vector<double> shown_;                    ///< likewise, of MeasuredNumber
    Json base_;  ///< what rows begin from, and the file that its paths are relative to
    std::filesystem::path base_file_;
    std::set<std::string> ids_;
};

}  // namespace

std::vector<MeasuredExperiment>
measured_experiments(const CsvTable& table, TableMap map, const TableContext& context) {
    return RowReader(table, std::move(map), context).run();
}

std::string why_without_line(const MeasuredExperiment& row) {
    const std::string line = fmt::format("line {}: ", row.record.line);
    return row.why.starts_with(line) ? row.why.substr(line.size()) : row.why;
}

LoadedExperiment load_row(const MeasuredExperiment& row) {
    Json base = row.base;
    // One scenario answers a figure of one scenario.
    const bool alone = std::ranges::all_of(row.numbers, [](const MeasuredNumber& number) {
        return is_of_one_scenario(number.figure);
    });
    if (alone && base.contains("scenarios") && base["scenarios"].is_array() &&
        base["scenarios"].size() > 1)
        base["scenarios"] = Json::array({base["scenarios"][0]});
    if (alone && base.is_object() && !base.contains("causes"))
        base["causes"] = false;
    const std::vector<Override> overrides = row.values.overrides();
    try {
        return load_experiment(base, row.file, overrides);
    } catch (const ConfigError& error) {
        std::vector<Problem> problems;
        for (Problem problem : error.problems()) {
            if (problem.file == "--set")
                problem.file = row.values.from_near(problem.pointer);
            if (problem.file == "column " + problem.pointer &&
                contains(problem.message, "a string with a unit"))
                problem.message +=
                    fmt::format(", or a column named \"{} (UNIT)\"", problem.pointer);
            problems.push_back(std::move(problem));
        }
        throw ConfigError(std::move(problems));
    }
}

}  // namespace switchfold::validation
