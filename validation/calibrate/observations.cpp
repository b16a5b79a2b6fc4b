// SPDX-License-Identifier: Apache-2.0
#include "validation/calibrate/observations.h"

#include "core/csv.h"
#include "sim/config/load.h"
#include "validation/calibrate/observed.h"
#include "validation/collectives/nccl_logs.h"
#include "validation/harness/judging.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace switchfold::validation {

namespace {

/// Rows of one size that differ by more are no measurement of one machine.
constexpr double kContradiction = 2;

class Observer {
public:
    explicit Observer(const CalibrationData& data) :
        data_(data), system_(load_system(data.system, {})), machines_(data.root) {}

    Observations run() {
        for (const std::filesystem::path& file : data_.files)
            read(file);
        if (!rows_.empty())
            observe_collectives(rows_, data_, machines_, out_);
        observe_traces(data_.traces, system_, out_);
        for (const auto& trace : data_.traces)
            out_.sources.push_back(trace.filename().string());
        for (const CalibrationPoint& point : out_.points)
            if (point.spread > kContradiction)
                out_.notes.push_back(fmt::format(
                    "{} at {:.0f}: measured {} times, the slowest takes {:.1f} times the quickest",
                    point.group, point.size, point.measured, point.spread));
        divide(out_.points, data_.most);
        const auto fitted = std::count_if(
            out_.points.begin(), out_.points.end(), [](const auto& p) { return p.fitted; });
        if (fitted == 0 || fitted == std::ssize(out_.points))
            throw ConfigError(nothing_to_fit());
        return std::move(out_);
    }

private:
    void read(const std::filesystem::path& file) {
        if (std::filesystem::is_regular_file(file) && is_nccl_log(file)) {
            add(read_nccl_log_rows(file));
            out_.sources.push_back(file.filename().string());
            return;
        }
        const CsvTable table = read_csv(file);
        if (table.has("n_gpus")) {
            read_collectives(file);
            return;
        }
        if (table.has("copy"))
            observe_copies(file, out_);
        else if ((table.has("m") && table.has("k")) || table.has("sequence"))
            observe_kernels(file, system_, out_);
        else
            throw ConfigError(
                file.string(), "line 1",
                "is not a table that is known; expected a log of nccl-tests, or columns of "
                "collectives (n_gpus, size_bytes, time_us), kernels (dtype, m, n, k, time_us) or "
                "copies (copy, size_bytes, time_us)");
        out_.sources.push_back(file.filename().string());
    }

    void read_collectives(const std::filesystem::path& file) {
        std::vector<MeasuredRow> chosen;
        std::set<std::string> tables;
        for (MeasuredRow& row : read_collective_tables(file, &out_.left_out)) {
            all_tables_.insert(row.table);
            if (!is_of_machine(row))
                continue;
            tables.insert(row.table);
            chosen.push_back(std::move(row));
        }
        add(std::move(chosen));
        for (const std::string& table : tables)
            out_.sources.push_back(fmt::format("{} of {}", table, file.filename().string()));
    }

    void add(std::vector<MeasuredRow> rows) {
        for (MeasuredRow& row : rows)
            rows_.push_back(std::move(row));
    }

    /// By name if tables are named, else by the words of its columns.
    bool is_of_machine(const MeasuredRow& row) {
        if (!data_.tables.empty())
            return std::any_of(data_.tables.begin(), data_.tables.end(), [&](const auto& name) {
                return fits(name, row.table);
            });
        const std::string words =
            fmt::format("{}|{}|{}|{}", row.gpu, row.interconnect, row.gpus, row.nodes.value_or(0));
        const auto [at, fresh] = ours_.try_emplace(words, false);
        if (fresh)
            if (const auto found =
                    machines_.find({row.gpu, row.interconnect, row.gpus, row.nodes}).machine)
                at->second = std::filesystem::weakly_canonical(found->file) ==
                             std::filesystem::weakly_canonical(data_.system);
        return at->second;
    }

    [[nodiscard]] std::vector<Problem> nothing_to_fit() const {
        std::vector<Problem> problems;
        const std::string first =
            data_.files.empty() ? data_.traces.front().string() : data_.files.front().string();
        problems.push_back(
            {first, "",
             fmt::format(
                 "{} to calibrate {} with; expected two sizes of one operation at least{}",
                 out_.points.empty() ? "has nothing" : "has too little", system_.name,
                 rows_.empty() && !all_tables_.empty()
                     ? ", of this machine by the words of its columns or by --table NAME"
                     : "")});
        constexpr std::size_t kShown = 5;
        for (std::size_t i = 0; i < std::min(kShown, out_.left_out.size()); ++i)
            problems.push_back({first, out_.left_out[i].id, out_.left_out[i].why});
        return problems;
    }

    const CalibrationData& data_;
    SystemParams system_;
    Machines machines_;
    std::vector<MeasuredRow> rows_;
    std::set<std::string> all_tables_;
    std::map<std::string, bool> ours_;
    Observations out_;
};

}  // namespace

Observations observe(const CalibrationData& data) {
    return Observer(data).run();
}

}  // namespace switchfold::validation
